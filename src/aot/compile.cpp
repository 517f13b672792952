// The way of one kernel: an optimized candidate or, where it cannot be verified, the source itself; then each target by
// itself, each with its own verdict. Machine code of a level that this machine does not have cannot be run, so it cannot
// be judged, and is not embedded: such a machine then uses the level below.
#include "aot/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

#include "aot/judge.h"
#include "aot/measure.h"
#include "aot/native_judge.h"
#include "aot/other_targets.h"
#include "ir/digest.h"
#include "ir/element.h"
#include "ir/kernel.h"
#include "ir/text/text.h"
#include "optimize/optimize.h"
#include "targets/native/native.h"

namespace frazil::aot {
namespace {

using SteadyClock = std::chrono::steady_clock;

static_assert(static_cast<int>(embed::ParamRole::BlockZ) ==
              static_cast<int>(ir::ParamRole::BlockZ));
static_assert(static_cast<int>(embed::Access::InOut) == static_cast<int>(ir::Access::InOut));

constexpr size_t MostResults = 4;
// A kernel with more code than this has it once: the ranged form with all iterations is its plain form. Its
// launch then clamps two bounds more, which only the shortest kernels would notice.
constexpr size_t SmallCode = 2048;

std::string Grouped(uint64_t number) {
  std::string text = fmt::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

// Why a kernel has no C++ signature; empty if it has one.
std::string WhyNoSignature(const ir::Program& program) {
  const ir::Function& function = program.entry_function();
  std::vector<ir::Type> types = function.results;
  uint32_t words = 0;
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    types.push_back(function.param_type(i));
    words += types.back().is_buffer() ? 2 : 1;
  }
  for (const ir::Type type : types) {
    if (type.is_tensor()) return "tensors have no place in a C++ signature; give it buffers";
    if (!ir::KindOf(type.scalar))
      return fmt::format("{} has no place in a C++ signature", ir::ScalarOrBufferName(type));
  }
  if (function.results.size() > MostResults)
    return fmt::format("it has more than {} results", MostResults);
  if (words > embed::MostWords)
    return fmt::format("its arguments take more than {} words", embed::MostWords);
  for (const ir::Function& each : program.functions)
    for (const ir::Inst& inst : each.insts)
      if (ir::Info(inst.op).effect == ir::Effect::Io) return "it reads or writes streams";
  return {};
}

class Compilation {
 public:
  Compilation(const SourceKernel& source, const BuildOptions& options)
      : source_(source), options_(options) {}

  BuiltKernel Run() {
    const auto start = SteadyClock::now();
    built_.report.name = source_.name;
    built_.doc = source_.doc;
    built_.source = ir::PrintText(source_.program);
    built_.digest = ir::ExactDigest(source_.program);
    ChooseCandidate();
    Measure();
    const std::string why = WhyNoSignature(source_.program);
    if (why.empty()) Describe();
    for (const Target target : options_.targets) {
      if (target != Target::Native) {
        EmitOther(target, source_.name, *forms_, built_);
      } else if (!why.empty()) {
        Refuse("native", why);
      } else {
        EmitNative();
      }
    }
    built_.report.evidence = Evidence();
    built_.report.ms =
        std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
    return std::move(built_);
  }

 private:
  void Refuse(std::string target, std::string reason) {
    built_.report.refusals.push_back({std::move(target), std::move(reason)});
  }

  void ChooseCandidate() {
    Result<ir::Candidate> candidate = optimize::Optimize(source_.program, options_.limits);
    std::string why = candidate ? "" : candidate.error().message;
    if (candidate) {
      forms_.emplace(source_.program, std::move(*candidate), options_.limits);
      why = forms_->Meaning().reason;
    }
    if (!why.empty()) {
      Refuse("optimized", std::move(why));
      forms_.emplace(source_.program, ir::Candidate{source_.program, {}, {}, "source"},
                     options_.limits);
    }
    built_.candidate = forms_->candidate_text();
    built_.certificate = forms_->certificate();
    built_.report.meaning = forms_->meaning_evidence();
    native_.emplace(*forms_, options_.limits);
  }

  void Measure() {
    KernelReport& report = built_.report;
    report.ops_before = CountOps(source_.program);
    report.ops_after = CountOps(forms_->program());
    report.traffic_before = TrafficOf(source_.program);
    report.traffic_after = TrafficOf(forms_->program());
  }

  void Describe() {
    const ir::KernelSignature signature = ir::SignatureOf(source_.program);
    for (size_t i = 0; i < signature.params.size(); ++i) {
      const ir::KernelParam& param = signature.params[i];
      built_.params.push_back({param.name, *ir::KindOf(param.type.scalar),
                               static_cast<embed::ParamRole>(param.role),
                               static_cast<embed::Access>(param.type.access)});
      for (const uint32_t buffer : param.buffers)
        built_.lengths.push_back({static_cast<uint16_t>(i), static_cast<uint16_t>(buffer)});
    }
    for (const ir::Type type : source_.program.entry_function().results)
      built_.results.push_back(*ir::KindOf(type.scalar));
    built_.covers = CoveredBuffers(source_.program);
    built_.work = EstimateWork(forms_->program());
  }

  Result<exec::NativeImage> Emit(const ir::Program& program, exec::CpuLevel level) const {
    targets::native::NativeOptions options;
    options.level = level;
    return targets::native::EmitImage(program, options);
  }

  // The fastest form of which all code ran under the judge's inputs.
  struct JudgedImage {
    exec::NativeImage image;
    Judged judged;
  };
  Result<JudgedImage> EmitJudged(const ir::Program& program, exec::CpuLevel level,
                                 const std::string& what,
                                 const std::function<Judged(const exec::NativeImage&)>& judge) {
    struct Form {
      std::string_view name;
      bool tuned, vectorize;
    };
    constexpr Form Forms[] = {
        {"tuned", true, true}, {"simple", false, true}, {"scalar", false, false}};
    JudgedImage made;
    for (const Form& form : Forms) {
      targets::native::NativeOptions options;
      options.level = level;
      options.tuned = form.tuned;
      options.vectorize = form.vectorize;
      made.image = TRY(targets::native::EmitImage(program, options));
      // It would run on its caller's stack, of which nothing is known: the depth must not depend on that.
      if (made.image.stack.recursive) return Fail(Diag::Unsupported, "it is recursive");
      if (!made.image.stack.is_small())
        return Fail(Diag::Unsupported,
                    fmt::format("it takes {} bytes of stack", made.image.stack.frame_bytes));
      made.judged = judge(made.image);
      if (made.judged.admitted || !made.judged.has_unrun) break;
      if (form.vectorize) Refuse(fmt::format("{}, {}", what, form.name), made.judged.reason);
    }
    return made;
  }

  void EmitNative() {
    const bool in_pieces = PreparePieces();
    for (int i = 0; i < exec::CpuLevelCount; ++i) {
      const auto level = static_cast<exec::CpuLevel>(i);
      if (level > exec::HostLevel()) {
        Refuse(fmt::format("native {}", exec::CpuLevelName(level)),
               "this machine cannot run it, so it cannot be judged");
        continue;
      }
      const bool made = EmitPlain(level);
      if (made && in_pieces) EmitRanged(level);
      // What the simplest code cannot be judged for, no other can.
      if (!made && level == exec::CpuLevel::Baseline) break;
    }
    DropLargePlain();
    built_.report.in_pieces =
        std::ranges::any_of(built_.ranged, [](const Code& code) { return !code.empty(); });
    if (!built_.report.in_pieces) built_.trips = {};
    if (built_.has_native()) built_.report.targets.emplace_back("native");
    ReportForms();
  }

  void DropLargePlain() {
    size_t most = 0;
    for (int i = 0; i < exec::CpuLevelCount; ++i) {
      if (built_.plain[i].empty() != built_.ranged[i].empty()) return;
      if (built_.ranged[i].empty() != built_.whole[i].empty()) return;
      most = std::max(most, built_.plain[i].image().code.size());
    }
    if (most <= SmallCode) return;
    for (Code& code : built_.plain) code = {};
    built_.plain_is_ranged = true;
  }

  bool EmitPlain(exec::CpuLevel level) {
    const std::string what = fmt::format("native {}", exec::CpuLevelName(level));
    Result<JudgedImage> made =
        EmitJudged(forms_->program(), level, what,
                   [&](const exec::NativeImage& image) { return native_->Plain(image); });
    if (!made) return Refuse(what, made.error().message), false;
    if (!made->judged.admitted) return Refuse(what, made->judged.reason), false;
    built_.plain[static_cast<size_t>(level)] = Code(*made->judged.admitted);
    return true;
  }

  // What pieces have in common on every level.
  bool PreparePieces() {
    const auto refuse = [&](std::string reason) {
      return Refuse("in pieces", std::move(reason)), false;
    };
    if (Result<void> ready = native_->PreparePieces(); !ready) return refuse(ready.error().message);
    built_.trips_word = native_->trips_word();
    if (built_.trips_word == embed::NoWord) {
      Result<exec::NativeImage> trips = Emit(native_->ranged().trips, exec::CpuLevel::Baseline);
      if (!trips) return refuse(trips.error().message);
      const Judged judged = native_->Trips(*trips);
      if (!judged.admitted) return refuse("the number of its iterations: " + judged.reason);
      built_.trips = Code(*judged.admitted);
      built_.trips_digest = built_.trips.form().source_exact;
    }
    const auto pairs = [](const auto& from, std::vector<embed::PairData>& to) {
      for (const auto& [first, second] : from)
        to.push_back({static_cast<uint16_t>(first), static_cast<uint16_t>(second)});
    };
    pairs(native_->ranged().conditions.disjoint, built_.disjoint);
    pairs(native_->ranged().conditions.at_most, built_.at_most);
    return true;
  }

  void EmitRanged(exec::CpuLevel level) {
    const std::string what = fmt::format("in pieces, {}", exec::CpuLevelName(level));
    Result<JudgedImage> made =
        EmitJudged(native_->ranged().program, level, what,
                   [&](const exec::NativeImage& image) { return native_->Pieces(image); });
    if (!made) return Refuse(what, made.error().message);
    if (!made->judged.admitted) return Refuse(what, made->judged.reason);
    built_.ranged[static_cast<size_t>(level)] = Code(*made->judged.admitted);
    const Judged whole = native_->Whole(made->image);
    if (whole.admitted) built_.whole[static_cast<size_t>(level)] = Code(*whole.admitted);
  }

  void ReportForms() {
    KernelReport& report = built_.report;
    const auto add = [&](std::string form, std::string level, const Code& code) {
      if (code.empty()) return;
      const verify::Evidence& evidence = code.evidence();
      report.forms.push_back(
          {std::move(form), std::move(level), code.image().code.size(), evidence});
      if (lowering_.grade == verify::Grade::None || evidence.cases < lowering_.cases)
        lowering_ = evidence;
    };
    for (int i = 0; i < exec::CpuLevelCount; ++i) {
      const std::string level(exec::CpuLevelName(static_cast<exec::CpuLevel>(i)));
      add("plain", level, built_.plain[i]);
      add("in pieces", level, built_.ranged[i]);
      if (built_.plain_is_ranged) add("whole", level, built_.whole[i]);
      report.native_bytes[i] =
          built_.plain[i].image().code.size() + built_.ranged[i].image().code.size();
    }
    add("trips", std::string(exec::CpuLevelName(exec::CpuLevel::Baseline)), built_.trips);
  }

  std::string Evidence() const {
    const verify::Evidence& meaning = built_.report.meaning;
    std::string text = fmt::format("{} ({})", verify::GradeName(meaning.grade), meaning.judge);
    if (built_.has_native())
      text +=
          fmt::format(", code {} {}", verify::GradeName(lowering_.grade), Grouped(lowering_.cases));
    if (!built_.isa.empty()) text += ", isa proved";
    return text;
  }

  const SourceKernel& source_;
  const BuildOptions& options_;
  BuiltKernel built_;
  verify::Evidence lowering_;
  std::optional<FormJudge> forms_;     // of the candidate that is compiled
  std::optional<NativeJudge> native_;  // of its native code
};

}  // namespace

BuiltKernel CompileKernel(const SourceKernel& source, const BuildOptions& options) {
  return Compilation(source, options).Run();
}

}  // namespace frazil::aot
