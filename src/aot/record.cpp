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
         record.candidate, record.certificate, record.guard, record.forms);
}

std::string_view FormKindName(FormKind kind) {
  constexpr std::string_view Names[] = {"plain", "in pieces", "whole", "trips"};
  return Names[static_cast<size_t>(kind)];
}

std::vector<FormOfKernel> FormsOf(const BuiltKernel& kernel) {
  std::vector<FormOfKernel> forms;
  const auto add = [&](FormKind kind, const Code& code, std::string label) {
    if (code.empty()) return;
    RecordedForm form{kind, code.image(), code.image().code.size(), code.evidence()};
    form.image.code.clear();
    forms.push_back({std::move(form), std::move(label)});
  };
  // First, because pieces ask it.
  add(FormKind::Trips, kernel.trips, "trips");
  for (int i = 0; i < embed::CpuLevelCount; ++i) {
    const std::string ranged_label = fmt::format("ranged{}", i);
    add(FormKind::Plain, kernel.plain[i], fmt::format("plain{}", i));
    add(FormKind::InPieces, kernel.ranged[i], ranged_label);
    if (kernel.plain_is_ranged) add(FormKind::Whole, kernel.whole[i], ranged_label);
  }
  return forms;
}

std::string PackRecord(const BuiltKernel& kernel, bool programs) {
  KernelRecord record;
  record.name = kernel.report.name;
  record.source_digest = kernel.digest;
  record.meaning = kernel.report.meaning;
  record.guard = kernel.guard;
  if (programs) {
    if (kernel.candidate != kernel.source) record.source = kernel.source;
    record.candidate = kernel.candidate;
    record.certificate = kernel.certificate;
  }
  for (FormOfKernel& each : FormsOf(kernel)) record.forms.push_back(std::move(each.form));
  ArchiveWriter writer;
  Field(writer, record);
  return writer.Take();
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
  if (!reader.AtEnd() || !is_evidence(record.meaning) ||
      !std::ranges::all_of(record.forms, is_form))
    return {};
  return record;
}

}  // namespace frazil::aot
