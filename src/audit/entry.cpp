#include "audit/entry.h"

#include <fmt/format.h>

#include "aot/archive.h"

namespace frazil::aot {

template <typename Archive>
static void Members(Archive& archive, verify::EvidencePair& pair) {
  Fields(archive, pair.meaning, pair.lowering);
}
template <typename Archive>
static void Members(Archive& archive, audit::Entry& entry) {
  Fields(archive, entry.name, entry.form, entry.claimed, entry.found, entry.finding, entry.reason,
         entry.note, entry.judged_us);
}

}  // namespace frazil::aot

namespace frazil::audit {
namespace {

// Takes what one half found.
void Take(Entry& entry, std::string_view half, const verify::Verdict& verdict,
          const verify::Evidence& claimed, verify::Evidence& found) {
  // What was found wrong stays, whatever else could not be looked at.
  const auto say = [&](Finding finding, std::string reason) {
    if (entry.finding == Finding::Agrees || finding != Finding::NotChecked) {
      entry.finding = finding;
      entry.reason = std::move(reason);
    }
  };
  const verify::Evidence* evidence = verify::EvidenceOf(verdict);
  if (evidence == nullptr) {
    const bool refuted = std::holds_alternative<verify::Refuted>(verdict);
    return say(refuted ? Finding::Refuted : Finding::NotChecked,
               fmt::format("{}: {}", half, verify::WhyNot(verdict)));
  }
  found = *evidence;
  if (verify::Worth(found.grade) >= verify::Worth(claimed.grade)) return;
  return say(Finding::Disagrees, fmt::format("{} is recorded as {} by {}, and only {} was found",
                                             half, verify::GradeName(claimed.grade), claimed.judge,
                                             verify::GradeName(found.grade)));
}

}  // namespace

std::string_view FindingName(Finding finding) {
  constexpr std::string_view Names[FindingCount] = {"agrees", "refuted", "disagrees",
                                                    "not checked"};
  return Names[static_cast<size_t>(finding)];
}

void Decide(Entry& entry, const verify::Verdict& meaning, const verify::Verdict& code) {
  entry.finding = Finding::Agrees;
  entry.reason.clear();
  Take(entry, "meaning", meaning, entry.claimed.meaning, entry.found.meaning);
  if (entry.finding == Finding::Refuted) return;
  Take(entry, "code", code, entry.claimed.lowering, entry.found.lowering);
}

void MakePrintable(Entry& entry) {
  for (std::string* text : {&entry.name, &entry.form, &entry.reason, &entry.note})
    for (char& c : *text)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
}

std::string PackEntries(std::vector<Entry> entries) {
  aot::ArchiveWriter writer;
  aot::Field(writer, entries);
  return writer.Take();
}

bool UnpackEntries(std::string_view bytes, std::vector<Entry>& entries) {
  aot::ArchiveReader reader(bytes);
  std::vector<Entry> read;
  aot::Field(reader, read);
  if (!reader.AtEnd()) return false;
  for (Entry& entry : read) entries.push_back(std::move(entry));
  return true;
}

}  // namespace frazil::audit
