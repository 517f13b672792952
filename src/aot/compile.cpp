// The way of one kernel: an optimized candidate or, where it cannot be verified, the source itself; then each target by
// itself, each with its own verdict. Machine code of a level that this machine does not have cannot be run, so it cannot
// be judged, and is not embedded: such a machine then uses the level below.
#include "aot/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>

#include "aot/guarded.h"
#include "aot/measure.h"
#include "aot/native_judge.h"
#include "aot/other_targets.h"
#include "aot/places.h"
#include "aot/targets.h"
#include "base/grouped.h"
#include "ir/digest.h"
#include "ir/element.h"
#include "ir/kernel.h"
#include "ir/text/text.h"
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

engine::LoopOptions LoopOptionsOf(const SourceKernel& source, const BuildOptions& options,
                                  store::Store& store, const std::vector<std::string>& banned) {
  engine::LoopOptions asked{verify::Policy::Default(source.program)};
  asked.is_banned = [&store, &banned](const std::string& exact) {
    return std::ranges::find(banned, exact) != banned.end() || store.IsBanned(exact);
  };
  asked.limits = asked.gate.limits = options.limits;
  return asked;
}

class Compilation {
 public:
  Compilation(const SourceKernel& source, const BuildOptions& options, store::Store& store,
              const std::vector<std::string>& banned)
      : source_(source),
        options_(options),
        store_(store),
        banned_(banned),
        loop_(source.program, LoopOptionsOf(source, options, store, banned)) {
    RegisterJudges();
  }

  // The form under a guard: native code of this candidate, or nothing but reasons.
  BuiltKernel RunGuarded(std::string_view proposer, ir::Candidate candidate) {
    built_.report.name = source_.name;
    built_.source = ir::PrintText(source_.program);
    built_.digest = ir::ExactDigest(source_.program);
    built_.guard = ir::PrintGuard(candidate.guard);
    LaunchGuard tests = LaunchGuardOf(candidate.guard).value_or(LaunchGuard());
    built_.guard_apart = std::move(tests.apart);
    built_.guard_cover = std::move(tests.cover);
    built_.guard_least = std::move(tests.least);
    engine::Proposal* proposal = loop_.Propose(proposer, std::move(candidate));
    if (proposal == nullptr) return std::move(built_);
    if (std::string why = proposal->gate.Meaning().reason; !why.empty())
      return Refuse("under a guard", std::move(why)), std::move(built_);
    Choose(/*has_native=*/true);
    if (gate_ == nullptr) return std::move(built_);
    Measure();
    Describe();
    EmitNative();
    built_.refuted = loop_.refuted();
    return std::move(built_);
  }

  BuiltKernel Run() {
    const auto start = SteadyClock::now();
    built_.report.name = source_.name;
    built_.doc = source_.doc;
    built_.source = ir::PrintText(source_.program);
    built_.digest = ir::ExactDigest(source_.program);
    const std::string why = WhyNoSignature(source_.program);
    const bool has_native = why.empty() && std::ranges::find(options_.targets, Target::Native) !=
                                               options_.targets.end();
    ProposeAll();
    Choose(has_native);
    if (gate_ == nullptr || !loop_.refuted().empty()) {
      built_.refuted = loop_.refuted();
      return std::move(built_);
    }
    Measure();
    if (why.empty()) Describe();
    for (const Target target : options_.targets) {
      if (!loop_.refuted().empty() || !built_.refuted.empty()) break;
      if (target != Target::Native) {
        EmitOther(target, source_.name, loop_, *gate_, built_);
      } else if (!why.empty()) {
        Refuse("native", why);
      } else {
        EmitNative();
        AddGuarded();
      }
    }
    std::ranges::copy(loop_.refuted(), std::back_inserter(built_.refuted));
    built_.report.evidence = Evidence();
    built_.report.ms =
        std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
    return std::move(built_);
  }

 private:
  void Refuse(std::string target, std::string reason) {
    built_.report.refusals.push_back({std::move(target), std::move(reason)});
  }

  // One place through the loop; what was refused on the way is in the report.
  std::optional<engine::Loop::Won> Take(engine::Workshop& place, const std::string& what) {
    const size_t before = loop_.events().size();
    Result<std::optional<engine::Loop::Won>> won = loop_.Run(place);
    if (!won) return Refuse(what, won.error().message), std::nullopt;
    std::vector<Refusal> refusals;
    std::string kind;
    for (size_t i = before; i < loop_.events().size(); ++i) {
      const engine::Event& event = loop_.events()[i];
      if (event.verb == engine::Verb::Lower) kind = event.detail;
      if (event.verb != engine::Verb::Refuse) continue;
      refusals.push_back(
          {kind.empty() ? "optimized" : fmt::format("{}, {}", what, kind), event.detail});
    }
    if (!*won && !refusals.empty()) refusals.back().target = what;
    for (Refusal& refusal : refusals) built_.report.refusals.push_back(std::move(refusal));
    return std::move(*won);
  }

  // Nothing has been observed: what speaks of observed arguments proposes nothing. The cheapest candidate under a guard that
  // launches can test is put aside, if it is cheaper than all those for all arguments.
  void ProposeAll() {
    loop_.ProposeAll();
    const auto is_open = [](const engine::Proposal& proposal) {
      return proposal.gate.candidate().guard.atoms.empty();
    };
    double least = std::numeric_limits<double>::max();
    for (const engine::Proposal& proposal : loop_.proposals())
      if (is_open(proposal)) least = std::min(least, proposal.static_cost);
    for (const engine::Proposal& proposal : loop_.proposals()) {
      const ir::Candidate& candidate = proposal.gate.candidate();
      if (is_open(proposal) || proposal.static_cost >= least || !LaunchGuardOf(candidate.guard))
        continue;
      least = proposal.static_cost;
      guarded_ = {proposal.proposer, candidate};
    }
    std::erase_if(loop_.proposals(), std::not_fn(is_open));
  }

  // The first place decides which proposal the kernel is made of: the cheapest that is verified, its code too.
  void Choose(bool has_native) {
    engine::Proposal* chosen = nullptr;
    if (has_native) {
      NativePlace place(*native_target_, exec::CpuLevel::Baseline);
      if (auto won = Take(place, NameOf(exec::CpuLevel::Baseline))) {
        built_.plain[0] = Code(won->admitted);
        chosen = won->proposal;
      }
      built_.attempts = loop_.attempts();
    }
    if (chosen == nullptr) chosen = loop_.BestOnPaper();
    if (chosen == nullptr) return Refuse("anything", "all that it could be made of is banned");
    loop_.KeepOnly(*chosen);
    gate_ = &chosen->gate;
    built_.candidate = gate_->candidate_text();
    built_.candidate_exact = gate_->candidate_exact();
    built_.certificate = gate_->certificate();
    built_.report.meaning = gate_->meaning_evidence();
    native_.emplace(*gate_, options_.limits);
  }

  // Beside the code for all arguments, that for launches under the guard of a cheaper candidate.
  void AddGuarded() {
    if (!guarded_ || !built_.has_native() || !loop_.refuted().empty()) return;
    BuiltKernel guarded = Compilation(source_, options_, store_, banned_)
                              .RunGuarded(guarded_->first, std::move(guarded_->second));
    std::ranges::move(guarded.attempts, std::back_inserter(built_.attempts));
    std::ranges::move(guarded.refuted, std::back_inserter(built_.refuted));
    KernelReport& report = built_.report;
    for (Refusal& refusal : guarded.report.refusals) {
      const bool known = std::ranges::any_of(report.refusals, [&](const Refusal& each) {
        return each.target == refusal.target && each.reason == refusal.reason;
      });
      if (!known) report.refusals.push_back(std::move(refusal));
    }
    if (!guarded.has_native()) return;
    if (guarded.report.in_pieces) {
      report.in_pieces = true;
      for (Refusal& refusal : report.refusals)
        if (refusal.target == "in pieces") refusal.target = "in pieces where its guard fails";
    }
    report.guard = guarded.guard;
    report.guarded_meaning = guarded.report.meaning;
    report.ops_after = guarded.report.ops_after;
    report.traffic_after = guarded.report.traffic_after;
    for (FormReport form : guarded.report.forms) {
      form.form += ", guarded";
      if (form.evidence.cases < lowering_.cases) lowering_ = form.evidence;
      report.forms.push_back(std::move(form));
    }
    for (int i = 0; i < embed::CpuLevelCount; ++i)
      report.native_bytes[i] += guarded.report.native_bytes[i];
    built_.guarded.push_back(std::move(guarded));
  }

  void Measure() {
    KernelReport& report = built_.report;
    report.ops_before = CountOps(source_.program);
    report.ops_after = CountOps(gate_->program());
    report.traffic_before = TrafficOf(source_.program);
    report.traffic_after = TrafficOf(gate_->program());
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
    built_.work = EstimateWork(gate_->program());
  }

  static std::string NameOf(exec::CpuLevel level) {
    return fmt::format("native {}", exec::CpuLevelName(level));
  }

  void EmitNative() {
    const bool in_pieces = PreparePieces();
    for (int i = 0; i < exec::CpuLevelCount; ++i) {
      const auto level = static_cast<exec::CpuLevel>(i);
      if (level > exec::HostLevel()) {
        Refuse(NameOf(level), "this machine cannot run it, so it cannot be judged");
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
    Code& code = built_.plain[static_cast<size_t>(level)];
    if (level == exec::CpuLevel::Baseline) return !code.empty();  // the first place
    NativePlace place(*native_target_, level);
    if (const auto won = Take(place, NameOf(level))) code = Code(won->admitted);
    return !code.empty();
  }

  // What pieces have in common on every level.
  bool PreparePieces() {
    const auto refuse = [&](std::string reason) {
      return Refuse("in pieces", std::move(reason)), false;
    };
    if (Result<void> ready = native_->PreparePieces(); !ready) return refuse(ready.error().message);
    built_.trips_word = native_->trips_word();
    if (built_.trips_word == embed::NoWord) {
      Result<exec::NativeImage> trips =
          targets::native::EmitImage(native_->ranged().trips, {.level = exec::CpuLevel::Baseline});
      if (!trips) return refuse(trips.error().message);
      const engine::Judged judged = native_->Trips(*trips);
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
    NativePlace place(*native_target_, level, *native_);
    const auto won = Take(place, what);
    if (!won) return;
    Code& code = built_.ranged[static_cast<size_t>(level)];
    code = Code(won->admitted);
    const engine::Judged whole = native_->Whole(code.image());
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
    const std::string judges =
        built_.guarded.empty()
            ? meaning.judge
            : fmt::format("{}, else {}", built_.report.guarded_meaning.judge, meaning.judge);
    std::string text = fmt::format("{} ({})", verify::GradeName(meaning.grade), judges);
    if (built_.has_native())
      text += fmt::format(", code {} {}", verify::GradeName(lowering_.grade),
                          PrintGrouped(lowering_.cases));
    if (!built_.isa.empty()) text += ", isa proved";
    return text;
  }

  const SourceKernel& source_;
  const BuildOptions& options_;
  store::Store& store_;
  const std::vector<std::string>& banned_;
  std::optional<std::pair<std::string, ir::Candidate>> guarded_;  // who proposed it, and what
  BuiltKernel built_;
  verify::Evidence lowering_;
  std::unique_ptr<exec::Target> native_target_ = targets::native::MakeNativeTarget();
  engine::Loop loop_;
  engine::Gate* gate_ = nullptr;       // of the candidate that is compiled
  std::optional<NativeJudge> native_;  // of its native code
};

}  // namespace

BuiltKernel CompileKernel(const SourceKernel& source, const BuildOptions& options,
                          store::Store& store, const std::vector<std::string>& banned) {
  return Compilation(source, options, store, banned).Run();
}

}  // namespace frazil::aot
