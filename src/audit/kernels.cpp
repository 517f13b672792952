// A descriptor is what a launch reads, so it is held against the record: its entries must be the code that is judged here,
// and its conditions those under which the candidate may run in pieces.
#include "audit/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "aot/judge.h"
#include "aot/native_judge.h"
#include "base/sha256.h"
#include "ir/digest.h"
#include "ir/kernel.h"
#include "ir/lower.h"
#include "targets/wasm/wasm.h"
#include "verify/audit.h"

namespace frazil::audit {
namespace {

using aot::FormKind;
using aot::RecordedForm;
using embed::KernelData;

constexpr uint64_t MostForms = 64;
constexpr uint64_t MostRows = 4096;  // of a descriptor's list
// Of all records: one may lie within another, and each of very many could claim to go on until the end of the file.
constexpr uint64_t MostRecordBytes = uint64_t{1} << 30;

template <typename T>
std::optional<T> At(const MemoryImage& image, uint64_t address) {
  const auto bytes = image.BytesAt(address, sizeof(T));
  if (!bytes) return {};
  T value;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

// The place that a distance at `address` leads to.
uint64_t Follow(uint64_t address, int32_t distance) {
  return address + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

EmbeddedKernel ReadRecord(const MemoryImage& image, uint64_t address, std::string_view rest) {
  EmbeddedKernel kernel;
  const auto damaged = [&](std::string why) {
    kernel.damage = std::move(why);
    return std::move(kernel);
  };
  const auto number = [&](uint64_t at) { return At<uint32_t>(image, address + at).value_or(0); };
  const uint64_t forms = number(28);
  const uint64_t head = aot::RecordHeadBytes + 4 * forms;
  if (number(16) != aot::RecordVersion)
    return damaged(
        fmt::format("its record has version {}, not {}", number(16), aot::RecordVersion));
  if (forms > MostForms || number(20) < head || number(20) > rest.size())
    return damaged("its record does not fit its length");
  const uint64_t bytes = number(20);
  kernel.descriptor = Follow(address + 24, static_cast<int32_t>(number(24)));
  for (uint64_t i = 0; i < forms; ++i) {
    const uint64_t at = aot::RecordHeadBytes + 4 * i;
    kernel.codes.push_back(Follow(address + at, static_cast<int32_t>(number(at))));
  }
  std::optional<aot::KernelRecord> record = aot::UnpackRecord(rest.substr(head, bytes - head));
  if (!record || record->forms.size() != forms) return damaged("its record cannot be read");
  kernel.record = std::move(*record);
  return kernel;
}

class KernelAudit {
 public:
  KernelAudit(const MemoryImage& image, const EmbeddedKernel& kernel,
              std::span<const ir::Program> sources, const Limits& limits,
              std::optional<size_t> only)
      : image_(image),
        kernel_(kernel),
        record_(kernel.record),
        sources_(sources),
        limits_(limits),
        only_(only) {}

  std::vector<Entry> Run() {
    if (record_.candidate.empty())
      return Claims(Finding::NotChecked,
                    "it carries no candidate: it was built with --no-programs");
    std::optional<ir::Program> source;
    for (const ir::Program& each : sources_)
      if (ir::ExactDigest(each) == record_.source_digest) source = each;
    verify::AuditedMeaning meaning = verify::AuditMeaning(
        {record_.source_digest, record_.source, record_.candidate, record_.certificate, "true"},
        source, aot::MeaningOptions(limits_));
    if (!meaning.false_claim.empty()) return Claims(Finding::Disagrees, meaning.false_claim);
    candidate_ = std::make_shared<const ir::Program>(std::move(meaning.candidate.program));
    aot::NativeJudge judge(candidate_, limits_);
    const Result<void> in_pieces = judge.PreparePieces();
    if (std::string why = WrongDescriptor(judge, in_pieces); !why.empty())
      return Claims(Finding::Disagrees, why);
    std::vector<Entry> entries = Claims(Finding::NotChecked, "");
    for (size_t i = 0; i < record_.forms.size(); ++i) {
      // Pieces ask how many iterations there are.
      const bool asked = only_ && record_.forms[*only_].kind == FormKind::InPieces &&
                         record_.forms[i].kind == FormKind::Trips;
      if (only_ && *only_ != i && !asked) continue;
      const Stopwatch watch;
      Decide(entries[i], meaning.meaning, Judge(judge, in_pieces, i));
      entries[i].judged_us = watch.Microseconds();
    }
    if (record_.forms.empty()) {
      entries[0].claimed.lowering = {};
      Decide(entries[0], meaning.meaning, verify::Tested{});
      entries[0].note = "no native code";
    }
    const std::string others = OtherForms();
    for (Entry& entry : entries)
      entry.note += (entry.note.empty() || others.empty() ? "" : "; ") + others;
    if (std::optional<Entry> module = AuditModule(meaning.meaning); module && !only_)
      entries.push_back(std::move(*module));
    return entries;
  }

 private:
  std::vector<Entry> Claims(Finding finding, const std::string& reason) const {
    return ClaimsOf(kernel_, finding, reason);
  }

  verify::Verdict Judge(aot::NativeJudge& judge, const Result<void>& in_pieces, size_t i) const {
    const RecordedForm& form = record_.forms[i];
    const auto bytes = image_.BytesAt(kernel_.codes[i], form.bytes);
    if (!bytes) return verify::Unknown{"its bytes do not lie in the file"};
    if (form.image.level > exec::HostLevel())
      return verify::Unknown{fmt::format("it is code for {}, which this machine does not have",
                                         embed::CpuLevelName(form.image.level))};
    if (form.kind != FormKind::Plain && !in_pieces)
      return verify::Unknown{in_pieces.error().message};
    exec::NativeImage native = form.image;
    native.code = *bytes;
    switch (form.kind) {
      case FormKind::Plain: return judge.Plain(native).verdict;
      case FormKind::InPieces: return judge.Pieces(native).verdict;
      case FormKind::Whole: return judge.Whole(native).verdict;
      case FormKind::Trips: return judge.Trips(native).verdict;
    }
    return verify::Unknown{"it is of a kind that is not known"};
  }

  // The WASM module, if there is one: judged as it was before it was embedded. The record claims nothing about it.
  std::optional<Entry> AuditModule(const verify::Verdict& meaning) const {
    const auto data = At<KernelData>(image_, kernel_.descriptor);
    if (!data || data->wasm.size == 0) return {};
    Entry entry{record_.name,        "wasm", {record_.meaning, {}}, {},
                Finding::NotChecked, "",     "not recorded"};
    const auto bytes = image_.BytesAt(
        Follow(kernel_.descriptor + offsetof(KernelData, wasm), data->wasm.data.offset),
        data->wasm.size);
    Result<ir::Program> lowered = ir::LowerForTarget(*candidate_);
    if (!bytes || !lowered) {
      entry.reason = bytes ? lowered.error().message : "its bytes do not lie in the file";
      return entry;
    }
    exec::Artifact artifact{"wasm", std::string(*bytes),
                            std::make_shared<const ir::Program>(std::move(*lowered)), candidate_,
                            record_.name};
    verify::SampleNotes notes;
    Decide(entry, meaning,
           aot::JudgeModule(*candidate_, *targets::wasm::MakeWasmTarget(), artifact, limits_, notes)
               .verdict);
    return entry;
  }

  // What else the kernel carries, and nobody here judges.
  std::string OtherForms() const {
    const auto data = At<KernelData>(image_, kernel_.descriptor);
    std::string names;
    const auto add = [&](const embed::Blob& blob, std::string_view name) {
      if (blob.size != 0) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    };
    if (!data) return {};
    add(data->isa, "isa");
    add(data->ptx, "ptx");
    return names.empty() ? "" : names + " not judged";
  }

  // What a launch on this level calls: the code of the level, or of the nearest below. 0: nothing.
  uint64_t Expected(FormKind kind, int level) const {
    uint64_t entry = 0;
    int best = -1;
    for (size_t i = 0; i < record_.forms.size(); ++i) {
      const RecordedForm& form = record_.forms[i];
      const int its = static_cast<int>(form.image.level);
      if (form.kind != kind || its > level || its <= best) continue;
      best = its;
      entry = kernel_.codes[i] + form.image.entry_offset;
    }
    return entry;
  }

  bool UsesRun(FormKind kind) const {
    return std::ranges::any_of(record_.forms, [&](const RecordedForm& form) {
      return form.kind == kind && form.image.uses_run;
    });
  }
  bool Has(FormKind kind) const {
    return std::ranges::any_of(record_.forms,
                               [&](const RecordedForm& form) { return form.kind == kind; });
  }

  template <typename T>
  std::optional<std::vector<T>> Rows(uint64_t at, const embed::List<T>& list) const {
    std::vector<T> rows;
    if (list.size > MostRows) return {};
    for (uint64_t i = 0; i < list.size; ++i) {
      const auto row = At<T>(image_, Follow(at, list.data.offset) + i * sizeof(T));
      if (!row) return {};
      rows.push_back(*row);
    }
    return rows;
  }

  bool SamePairs(size_t at, const embed::List<embed::PairData>& list,
                 const std::vector<std::pair<uint32_t, uint32_t>>& expected) const {
    const auto rows = Rows(kernel_.descriptor + at, list);
    return rows && std::ranges::equal(*rows, expected, [](const auto& row, const auto& pair) {
             return row.first == pair.first && row.second == pair.second;
           });
  }

  bool SameParams(const KernelData& data) const {
    const auto rows = Rows(kernel_.descriptor + offsetof(KernelData, params), data.params);
    const ir::KernelSignature signature = ir::SignatureOf(*candidate_);
    if (!rows || rows->size() != signature.params.size()) return false;
    uint32_t word = 0;
    for (size_t i = 0; i < rows->size(); ++i) {
      const embed::ParamData& row = (*rows)[i];
      const ir::KernelParam& param = signature.params[i];
      if (static_cast<int>(row.scalar) != static_cast<int>(param.type.scalar) ||
          static_cast<int>(row.role) != static_cast<int>(param.role) || row.word != word)
        return false;
      if (param.type.is_buffer() &&
          (static_cast<int>(row.access) != static_cast<int>(param.type.access) ||
           row.element_bytes != aot::ElementBytes(row.scalar)))
        return false;
      word += param.type.is_buffer() ? 2 : 1;
    }
    return data.word_count == word && word <= embed::MostWords;
  }

  // Empty, or a sentence.
  std::string WrongDescriptor(const aot::NativeJudge& judge, const Result<void>& in_pieces) const {
    const auto data = At<KernelData>(image_, kernel_.descriptor);
    if (!data) return "its descriptor does not lie in the file";
    if (data->version != embed::KernelDataVersion) return "its descriptor is of another version";
    if (Hex(std::string_view(data->digest, sizeof data->digest)) != record_.source_digest)
      return "its descriptor names another program than its record";
    const std::string name = record_.name + '\0';
    if (image_.BytesAt(Follow(kernel_.descriptor + offsetof(KernelData, name), data->name.offset),
                       name.size()) != name)
      return "its descriptor has another name than its record";
    const bool whole = Has(FormKind::Whole);
    for (int level = 0; level < embed::CpuLevelCount; ++level) {
      const auto differs = [&](size_t at, const embed::Rel<char>& form, uint64_t expected) {
        const uint64_t place = kernel_.descriptor + at + sizeof(form) * static_cast<size_t>(level);
        return (form.offset == 0 ? 0 : Follow(place, form.offset)) != expected;
      };
      if (differs(offsetof(KernelData, plain), data->plain[level],
                  Expected(whole ? FormKind::Whole : FormKind::Plain, level)) ||
          differs(offsetof(KernelData, ranged), data->ranged[level],
                  Expected(FormKind::InPieces, level)))
        return fmt::format("a launch on {} calls other code than its record names",
                           embed::CpuLevelName(static_cast<embed::CpuLevel>(level)));
    }
    const uint64_t trips =
        data->trips.offset == 0
            ? 0
            : Follow(kernel_.descriptor + offsetof(KernelData, trips), data->trips.offset);
    if (trips != Expected(FormKind::Trips, 0)) return "its launch counts iterations by other code";
    const auto flag = [&](uint32_t bit) { return (data->flags & bit) != 0; };
    if (flag(embed::PlainIsRanged) != whole ||
        (UsesRun(whole ? FormKind::Whole : FormKind::Plain) && !flag(embed::PlainUsesRun)) ||
        (UsesRun(FormKind::InPieces) && !flag(embed::RangedUsesRun)))
      return "its descriptor calls its code in another way than its record says";
    if (!record_.forms.empty() && !SameParams(*data))
      return "its descriptor has other parameters than its candidate";
    if (!Has(FormKind::InPieces)) return {};
    if (!in_pieces) return "it may not run in pieces: " + in_pieces.error().message;
    const bool told = data->trips_word != embed::NoWord;
    if (data->trips_word != judge.trips_word() || told == Has(FormKind::Trips) ||
        !SamePairs(offsetof(KernelData, disjoint), data->disjoint,
                   judge.ranged().conditions.disjoint) ||
        !SamePairs(offsetof(KernelData, at_most), data->at_most, judge.ranged().conditions.at_most))
      return "its descriptor lets it run in pieces under other conditions than its candidate";
    return {};
  }

  const MemoryImage& image_;
  const EmbeddedKernel& kernel_;
  const aot::KernelRecord& record_;
  std::span<const ir::Program> sources_;
  const Limits& limits_;
  std::optional<size_t> only_;
  std::shared_ptr<const ir::Program> candidate_;
};

}  // namespace

// Everything that is loaded is looked through, whatever the sections say: a record that no section names is a record.
std::vector<EmbeddedKernel> FindKernels(const MemoryImage& image) {
  const std::vector<MemoryImage::Area> named = image.Sections(aot::RecordSection);
  const auto is_named = [&](uint64_t address) {
    return std::ranges::any_of(named, [&](const MemoryImage::Area& area) {
      return area.address <= address && address - area.address < area.bytes.size();
    });
  };
  std::vector<EmbeddedKernel> kernels;
  uint64_t left = MostRecordBytes;
  for (const MemoryImage::Area& area : image.Everything()) {
    // Records begin at multiples of 8 of the address. One within another is one, too.
    for (uint64_t at = (8 - area.address % 8) % 8; at + aot::RecordHeadBytes <= area.bytes.size();
         at += 8) {
      if (!area.bytes.substr(at).starts_with(aot::RecordMagic)) continue;
      const std::string_view rest = area.bytes.substr(at);
      EmbeddedKernel kernel;
      uint32_t bytes = 0;
      std::memcpy(&bytes, rest.data() + 20, sizeof bytes);
      if (std::min<uint64_t>(bytes, rest.size()) > left) {
        kernel.damage = "there are more records than an audit reads";
        kernels.push_back(std::move(kernel));
        return kernels;
      }
      left -= std::min<uint64_t>(bytes, rest.size());
      kernel = ReadRecord(image, area.address + at, rest);
      // Programs that read records, as this one, hold the magic and no record.
      if (kernel.damage.empty() || is_named(area.address + at))
        kernels.push_back(std::move(kernel));
    }
  }
  return kernels;
}

std::vector<Entry> ClaimsOf(const EmbeddedKernel& kernel, Finding finding,
                            const std::string& reason) {
  std::vector<Entry> entries;
  for (const RecordedForm& form : kernel.record.forms)
    entries.push_back(
        {kernel.record.name,
         fmt::format("{} {}", embed::CpuLevelName(form.image.level), aot::FormKindName(form.kind)),
         {kernel.record.meaning, form.evidence},
         {},
         finding,
         reason,
         ""});
  if (entries.empty())
    entries.push_back({kernel.record.name.empty() ? "?" : kernel.record.name,
                       "",
                       {kernel.record.meaning, {}},
                       {},
                       finding,
                       reason,
                       ""});
  return entries;
}

std::vector<Entry> AuditKernel(const MemoryImage& image, const EmbeddedKernel& kernel,
                               std::span<const ir::Program> sources, const Limits& limits,
                               std::optional<size_t> only) {
  if (!kernel.damage.empty()) return ClaimsOf(kernel, Finding::NotChecked, kernel.damage);
  return KernelAudit(image, kernel, sources, limits, only).Run();
}

}  // namespace frazil::audit
