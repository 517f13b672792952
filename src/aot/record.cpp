#include "aot/record.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/archive.h"

namespace frazil::aot {

template <typename Archive>
static void Members(Archive& archive, RecordedForm& form) {
  Fields(archive, form.kind, form.image, form.bytes, form.evidence);
}
template <typename Archive>
static void Members(Archive& archive, KernelRecord& record) {
  Fields(archive, record.name, record.source_digest, record.meaning, record.source,
         record.candidate, record.certificate, record.forms);
}

std::string_view FormKindName(FormKind kind) {
  constexpr std::string_view Names[] = {"plain", "in pieces", "whole", "trips"};
  return Names[static_cast<size_t>(kind)];
}

std::vector<FormOfKernel> FormsOf(const BuiltKernel& kernel) {
  std::vector<FormOfKernel> forms;
  const auto add = [&](FormKind kind, const Code& code, std::string label,
                       const verify::Evidence& evidence) {
    if (code.empty()) return;
    RecordedForm form{kind, code.image, code.image.code.size(), evidence};
    form.image.code.clear();
    forms.push_back({std::move(form), std::move(label)});
  };
  // First, because pieces ask it.
  add(FormKind::Trips, kernel.trips, "trips", kernel.trips.evidence);
  for (int i = 0; i < embed::CpuLevelCount; ++i) {
    const Code& plain = kernel.plain[i];
    const Code& ranged = kernel.ranged[i];
    const std::string ranged_label = fmt::format("ranged{}", i);
    add(FormKind::Plain, plain, fmt::format("plain{}", i), plain.evidence);
    add(FormKind::InPieces, ranged, ranged_label, ranged.evidence);
    if (kernel.plain_is_ranged) add(FormKind::Whole, ranged, ranged_label, ranged.whole);
  }
  return forms;
}

std::string PackRecord(const BuiltKernel& kernel, bool programs) {
  KernelRecord record;
  record.name = kernel.report.name;
  record.source_digest = kernel.digest;
  record.meaning = kernel.report.meaning;
  if (programs) {
    if (kernel.candidate != kernel.source) record.source = kernel.source;
    record.candidate = kernel.candidate;
    record.certificate = kernel.certificate;
  }
  for (FormOfKernel& each : FormsOf(kernel)) record.forms.push_back(std::move(each.form));
  ArchiveWriter writer;
  Field(writer, record);
  return std::move(writer.bytes);
}

std::optional<KernelRecord> UnpackRecord(std::string_view body) {
  ArchiveReader reader(body);
  KernelRecord record;
  Field(reader, record);
  const auto is_evidence = [](const verify::Evidence& evidence) {
    return evidence.grade <= verify::Grade::Proved;
  };
  const auto is_form = [&](const RecordedForm& form) {
    return form.kind <= FormKind::Trips &&
           form.image.level < embed::CpuLevel{embed::CpuLevelCount} &&
           form.image.entry_offset < form.bytes && form.image.code.empty() &&
           form.image.stack.is_small() && is_evidence(form.evidence);
  };
  if (!reader.ok() || !is_evidence(record.meaning) || !std::ranges::all_of(record.forms, is_form))
    return {};
  return record;
}

}  // namespace frazil::aot
