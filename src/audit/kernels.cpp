// A descriptor is what a launch reads, so it is held against the record: its entries must be the code that is judged here,
// and its conditions those under which the candidate may run in pieces.
#include "audit/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "aot/guarded.h"
#include "aot/measure.h"
#include "aot/native_judge.h"
#include "aot/targets.h"
#include "base/sha256.h"
#include "engine/gate.h"
#include "ir/digest.h"
#include "ir/element.h"
#include "ir/kernel.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"
#include "targets/isa/isa.h"
#include "targets/wasm/wasm.h"
#include "verify/audit.h"

namespace frazil::audit {
namespace {

using aot::FormKind;
using aot::RecordedForm;
using embed::KernelData;

constexpr uint64_t MostRows = 4096;          // of a descriptor's list
constexpr uint64_t RecordToDescriptor = 24;  // where a record says it (aot/record.h)

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

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
    verify::AuditedMeaning meaning =
        verify::AuditMeaning({record_.source_digest, record_.source, record_.candidate,
                              record_.certificate, record_.guard},
                             source, engine::MeaningOptions({.limits = limits_}));
    if (!meaning.false_claim.empty()) return Claims(Finding::Disagrees, meaning.false_claim);
    candidate_ = std::make_shared<const ir::Program>(std::move(meaning.candidate.program));
    FindSource(source);
    aot::RegisterJudges();
    engine::Gate forms(*candidate_, {*candidate_, {}, {}, "audit"}, {.limits = limits_});
    aot::NativeJudge judge(forms, limits_);
    const Result<void> in_pieces = judge.PreparePieces();
    if (std::string why = WrongDescriptor(judge, in_pieces); !why.empty())
      return Claims(Finding::Disagrees, why);
    std::vector<Entry> entries = Claims(Finding::NotChecked, "");
    for (size_t i = 0; i < entries.size(); ++i) {
      if (only_ && *only_ != i && !IsAsked(i)) continue;
      const Stopwatch watch;
      if (i < record_.forms.size())
        Decide(entries[i], meaning.meaning, Judge(judge, in_pieces, i));
      else
        AuditModule(entries[i], meaning.meaning);
      entries[i].judged_us = watch.Microseconds();
      if (kernel_.has_ptx && entries[i].form != PtxName)
        entries[i].note += entries[i].note.empty() ? "ptx not judged" : "; ptx not judged";
    }
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

  // Pieces ask how many iterations there are.
  bool IsAsked(size_t i) const {
    const std::vector<RecordedForm>& forms = record_.forms;
    return *only_ < forms.size() && i < forms.size() && forms[*only_].kind == FormKind::InPieces &&
           forms[i].kind == FormKind::Trips;
  }

  // What a kernel carries beside its forms. The record claims nothing about it.
  void AuditModule(Entry& entry, const verify::Verdict& meaning) const {
    if (entry.form == IsaName) return AuditIsa(entry, meaning);
    if (entry.form == WasmName) return Decide(entry, meaning, JudgeWasm());
    // Where nothing of the code was looked at, that its program is well is no answer.
    Decide(entry, meaning,
           verify::Unknown{kernel_.has_ptx ? "it has only PTX, which is not judged here"
                                           : "it carries none"});
  }

  std::optional<std::string_view> BytesOf(const embed::Blob& blob, size_t at) const {
    return image_.BytesAt(Follow(kernel_.descriptor + at, blob.data.offset), blob.size);
  }

  // engine::Judged as it was before it was embedded.
  verify::Verdict JudgeWasm() const {
    const auto data = image_.At<KernelData>(kernel_.descriptor);
    const auto bytes = BytesOf(data->wasm, offsetof(KernelData, wasm));
    if (!bytes) return verify::Unknown{"its bytes do not lie in the file"};
    aot::RegisterJudges();
    engine::Gate forms(*candidate_, {*candidate_, {}, {}, "audit"}, {.limits = limits_});
    exec::CompiledForm form = forms.Form("wasm");
    form.symbol = record_.name;
    form.payload = *bytes;
    return forms.Admit(std::move(form)).verdict;
  }

  // Lifted back, as it was before it was embedded. One that is another program may mean the same, but is not what the
  // kernel was made from.
  void AuditIsa(Entry& entry, const verify::Verdict& meaning) const {
    const auto data = image_.At<KernelData>(kernel_.descriptor);
    const auto bytes = BytesOf(data->isa, offsetof(KernelData, isa));
    if (!bytes) return Decide(entry, meaning, verify::Unknown{"its bytes do not lie in the file"});
    const Result<void> proved = ProveIsa(*bytes);
    if (proved)
      return Decide(entry, meaning,
                    verify::Proved{{verify::Grade::Proved, "digest",
                                    "lifted back, the same exact digest", 0}});
    Decide(entry, meaning, verify::Unknown{proved.error().message});
    if (entry.finding == Finding::Refuted || ClassOf(proved.error().diag) == ErrorClass::Limit)
      return;
    entry.finding = Finding::Disagrees;
    entry.reason = "code: " + proved.error().message;
  }

  Result<void> ProveIsa(std::string_view bytes) const {
    const auto proved =
        TRY(targets::isa::ProvedModule::Prove(*candidate_, TRY(machines::simt::LoadModule(bytes))));
    // What a launch makes of its arguments stands beside the code, and was read off what was lowered.
    const ir::KernelSignature said = proved.module().Signature();
    const ir::KernelSignature real =
        ir::SignatureOf(TRY(targets::isa::PrepareProgram(*candidate_)));
    const auto same = [](const ir::KernelParam& a, const ir::KernelParam& b) {
      return a.role == b.role && a.buffers == b.buffers;
    };
    if (std::ranges::equal(said.params, real.params, same)) return {};
    return Fail(Diag::NotProved, "the module has other parameters than the program");
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
      const auto row = image_.At<T>(Follow(at, list.data.offset) + i * sizeof(T));
      if (!row) return {};
      rows.push_back(*row);
    }
    return rows;
  }

  bool SamePairs(size_t at, const embed::List<embed::PairData>& list, const Pairs& expected) const {
    const auto rows = Rows(kernel_.descriptor + at, list);
    return rows && std::ranges::equal(*rows, expected, [](const auto& row, const auto& pair) {
             return row.first == pair.first && row.second == pair.second;
           });
  }

  // The program that was described: aot describes the source, whose loops may say more than the candidate's.
  void FindSource(const std::optional<ir::Program>& given) {
    if (!record_.source.empty()) {
      if (Result<ir::Program> source = ir::ParseText(record_.source)) source_ = std::move(*source);
    } else if (ir::ExactDigest(*candidate_) == record_.source_digest) {
      source_ = *candidate_;
    } else {
      source_ = given;
    }
  }

  bool SameResults(const KernelData& data) const {
    const auto rows = Rows(kernel_.descriptor + offsetof(KernelData, results), data.results);
    const std::vector<ir::Type>& types = candidate_->entry_function().results;
    return rows && std::ranges::equal(*rows, types, [](Kind row, ir::Type type) {
             return ir::KindOf(type.scalar) == row;
           });
  }

  // By which a launch derives extents and refuses buffers that are too short. Without the source there is nothing to hold
  // it against, and no entry agrees.
  bool SameExtents(const KernelData& data) const {
    if (!source_) return true;
    Pairs covers, lengths;
    for (const embed::PairData& pair : aot::CoveredBuffers(*source_))
      covers.emplace_back(pair.first, pair.second);
    const ir::KernelSignature signature = ir::SignatureOf(*source_);
    for (uint32_t i = 0; i < signature.params.size(); ++i)
      for (const uint32_t buffer : signature.params[i].buffers) lengths.emplace_back(i, buffer);
    return SamePairs(offsetof(KernelData, covers), data.covers, covers) &&
           SamePairs(offsetof(KernelData, lengths), data.lengths, lengths);
  }

  // A program without a C++ signature has no native code, and its descriptor no parameters.
  bool HasSignature(const KernelData& data) const {
    return !record_.forms.empty() || data.params.size != 0 || data.results.size != 0 ||
           data.word_count != 0 || data.covers.size != 0 || data.lengths.size != 0;
  }

  bool SameParams(const KernelData& data) const {
    const auto rows = Rows(kernel_.descriptor + offsetof(KernelData, params), data.params);
    const ir::KernelSignature signature = ir::SignatureOf(source_ ? *source_ : *candidate_);
    if (!rows || rows->size() != signature.params.size()) return false;
    uint32_t word = 0;
    for (size_t i = 0; i < rows->size(); ++i) {
      const embed::ParamData& row = (*rows)[i];
      const ir::KernelParam& param = signature.params[i];
      if (ir::KindOf(param.type.scalar) != row.scalar ||
          static_cast<int>(row.role) != static_cast<int>(param.role) || row.word != word)
        return false;
      if (param.type.is_buffer() &&
          (static_cast<int>(row.access) != static_cast<int>(param.type.access) ||
           row.element_bytes != frazil::BytesOf(row.scalar)))
        return false;
      word += param.type.is_buffer() ? 2 : 1;
    }
    return data.word_count == word && word <= embed::MostWords;
  }

  // A launch tests what the record says, and takes no other form under a guard than one that is audited as well: one whose
  // record refers back to it. Empty, or a sentence.
  std::string WrongGuard(const KernelData& data) const {
    const Result<ir::Guard> guard = ir::ParseGuard(record_.guard, *candidate_);
    if (!guard) return "its guard cannot be read: " + guard.error().message;
    const std::optional<aot::LaunchGuard> tests = aot::LaunchGuardOf(*guard);
    const auto same = [&](size_t at, const auto& list, const std::vector<embed::PairData>& rows) {
      Pairs pairs;
      for (const embed::PairData& row : rows) pairs.emplace_back(row.first, row.second);
      return SamePairs(at, list, pairs);
    };
    if (!tests || !same(offsetof(KernelData, guard_apart), data.guard_apart, tests->apart) ||
        !same(offsetof(KernelData, guard_cover), data.guard_cover, tests->cover) ||
        !same(offsetof(KernelData, guard_least), data.guard_least, tests->least))
      return "its descriptor tests another guard than its record says";
    if (data.guarded.offset == 0) return {};
    const uint64_t other =
        Follow(kernel_.descriptor + offsetof(KernelData, guarded), data.guarded.offset);
    const auto form = image_.At<KernelData>(other);
    const auto magic = [&](uint64_t at) {
      return image_.BytesAt(at, aot::RecordMagic.size()) == aot::RecordMagic;
    };
    const uint64_t record =
        form ? Follow(other + offsetof(KernelData, record), form->record.offset) : 0;
    // Where nobody looks for a record, none is: what it holds would not be judged.
    if (!form || record % alignof(uint64_t) != 0 || other % alignof(uint64_t) != 0 ||
        form->reserved != 0 || !magic(record) ||
        Follow(record + RecordToDescriptor,
               image_.At<int32_t>(record + RecordToDescriptor).value_or(0)) != other)
      return "its form under a guard has no record";
    if (form->version != data.version || form->word_count != data.word_count ||
        std::string_view(form->digest, sizeof form->digest) !=
            std::string_view(data.digest, sizeof data.digest))
      return "its form under a guard is of another program";
    if (form->guarded.offset != 0) return "its form under a guard has one under a guard itself";
    if (form->guard_apart.size + form->guard_cover.size + form->guard_least.size == 0)
      return "its form under a guard tests none";
    return {};
  }

  // Empty, or a sentence.
  std::string WrongDescriptor(const aot::NativeJudge& judge, const Result<void>& in_pieces) const {
    const auto data = image_.At<KernelData>(kernel_.descriptor);
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
    const uint32_t flags =
        (UsesRun(whole ? FormKind::Whole : FormKind::Plain) ? embed::PlainUsesRun : 0) |
        (UsesRun(FormKind::InPieces) ? embed::RangedUsesRun : 0) |
        (whole ? embed::PlainIsRanged : 0);
    if (data->flags != flags)
      return "its descriptor calls its code in another way than its record says";
    if (std::string why = WrongGuard(*data); !why.empty()) return why;
    if (HasSignature(*data)) {
      if (!SameParams(*data) || !SameResults(*data))
        return "its descriptor has other parameters than its candidate";
      if (!SameExtents(*data))
        return "its descriptor checks the lengths of buffers in another way than its source";
    }
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
  std::optional<ir::Program> source_;  // nothing: it is not known
};

}  // namespace

std::vector<Entry> ClaimsOf(const EmbeddedKernel& kernel, Finding finding,
                            const std::string& reason) {
  std::vector<Entry> entries;
  for (const RecordedForm& form : kernel.record.forms)
    entries.push_back(
        {kernel.record.name,
         fmt::format("{} {}{}", embed::CpuLevelName(form.image.level), aot::FormKindName(form.kind),
                     kernel.record.guard == "true" ? "" : ", guarded"),
         {kernel.record.meaning, form.evidence},
         {},
         finding,
         reason,
         ""});
  for (const std::string& module : kernel.modules)
    entries.push_back({kernel.record.name,
                       module,
                       {kernel.record.meaning, {}},
                       {},
                       finding,
                       reason,
                       "not recorded"});
  if (entries.empty())
    entries.push_back({kernel.record.name.empty() ? "?" : kernel.record.name,
                       kernel.has_ptx ? std::string(PtxName) : "",
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
