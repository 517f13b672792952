// The driver: judges in order of what they cost, until one of them knows. Only a proof or a counterexample ends it;
// what is left after all of them is what the samples are worth.
#include "verify/verify.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "ir/check/check.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "verify/internal/certificate_checker.h"
#include "verify/internal/observe.h"
#include "verify/internal/pair.h"
#include "verify/internal/passes.h"
#include "verify/tensors/judge.h"

namespace frazil::verify {
namespace {

struct Registry {
  std::mutex mutex;
  std::shared_ptr<const Prover> prover;
  Observer observer;
};

// Set once at start by whoever links a prover.
Registry& TheRegistry() {
  static Registry registry;
  return registry;
}

bool SameType(const ir::Function& f, ir::Type a, const ir::Function& g, ir::Type b) {
  if (a.form != b.form || a.element() != b.element()) return false;
  if (a.is_buffer()) return a.access == b.access;
  return !a.is_tensor() || f.shape(a) == g.shape(b);
}

Result<void> CheckComparable(const ir::Program& source, const ir::Program& candidate) {
  const ir::Function& f = source.entry_function();
  const ir::Function& g = candidate.entry_function();
  if (f.param_count() != g.param_count())
    return Fail(
        Diag::NotComparable,
        fmt::format("the programs cannot be compared: the first takes {} parameters, the second {}",
                    f.param_count(), g.param_count()));
  for (uint32_t i = 0; i < f.param_count(); ++i) {
    if (!SameType(f, f.param_type(i), g, g.param_type(i)))
      return Fail(
          Diag::NotComparable,
          fmt::format(
              "the programs cannot be compared: parameter {} is {} in the first, {} in the second",
              i + 1, ir::PrintType(f, f.param_type(i)), ir::PrintType(g, g.param_type(i))));
  }
  if (f.results.size() != g.results.size())
    return Fail(
        Diag::NotComparable,
        fmt::format("the programs cannot be compared: the first gives {} results, the second {}",
                    f.results.size(), g.results.size()));
  for (size_t i = 0; i < f.results.size(); ++i) {
    if (!SameType(f, f.results[i], g, g.results[i]))
      return Fail(
          Diag::NotComparable,
          fmt::format(
              "the programs cannot be compared: result {} is {} in the first, {} in the second",
              i + 1, ir::PrintType(f, f.results[i]), ir::PrintType(g, g.results[i])));
  }
  return {};
}

bool IsUnknown(const Verdict& verdict) { return std::holds_alternative<Unknown>(verdict); }
bool IsFinal(const Verdict& verdict) {
  return std::holds_alternative<Proved>(verdict) || std::holds_alternative<Refuted>(verdict);
}

// A prover's counterexample counts only if the interpreter sees it too.
Verdict SmtJudge(const Pair& pair, const ir::Guard& guard, const VerifyOptions& options,
                 const Deadline& deadline) {
  const std::shared_ptr<const Prover> prover = RegisteredProver();
  if (prover == nullptr) return Unknown{"no prover is there"};
  Limits limits = options.limits;
  limits.smt_ms = std::min(limits.smt_ms, std::max<uint64_t>(deadline.LeftMs(), 1));
  Verdict verdict = prover->Prove(pair.source, pair.candidate, guard, limits);
  if (const Refuted* refuted = std::get_if<Refuted>(&verdict)) {
    const ProgramCall& call = refuted->call();
    const Input input{call.arguments, call.context.input, call.context.hints};
    if (!Allows(pair.space, input.arguments))
      return Unknown{
          fmt::format("{} reports a counterexample outside of the guard", prover->name())};
    return RefutedOr(pair, options.limits, input, deadline.LeftMs(), prover->name());
  }
  if (std::holds_alternative<Tested>(verdict)) return Unknown{"a prover proves or refutes"};
  return verdict;
}

Result<Verdict> Judges(const ir::Program& source, const ir::Candidate& candidate,
                       const VerifyOptions& options) {
  const Deadline deadline = Deadline::After(options.limits.verify_ms);
  if (ir::ExactDigest(source) == ir::ExactDigest(candidate.program))
    return Proved{{Grade::Proved, "digest", "equal canonical form", 0}};
  // Also without a line: moving, sharing and dropping pure values needs none.
  if (Verdict checked = CertificateChecker(source, candidate).Check();
      std::holds_alternative<Proved>(checked))
    return checked;
  const InputSpace space = MakeInputSpace(source, candidate.program, candidate.guard);
  if (!space.empty.empty()) return Unknown{space.empty};
  if (Verdict equal = NormalFormJudge(source, candidate.program, candidate.guard); IsFinal(equal))
    return equal;
  if (Verdict equal = PassesJudge(source, candidate.program, candidate.guard); IsFinal(equal))
    return equal;
  if (Verdict equal = TensorFormJudge(source, candidate.program, candidate.guard); IsFinal(equal))
    return equal;

  const Pair pair = TRY(MakePair(source, candidate.program, candidate.guard));
  // Few inputs are not worth sampling.
  constexpr uint64_t Few = 4096;
  const std::optional<uint64_t> cases = pair.space.Count();
  Verdict exhausted = Unknown{};
  bool tried = false;
  if (options.exhaustive && cases && *cases <= std::min(Few, options.exhaustive_cases)) {
    exhausted = ExhaustiveJudge(pair, options, deadline);
    if (IsFinal(exhausted)) return exhausted;
    tried = true;
  }
  // What samples take of the time leaves room for those who prove.
  Verdict sampled = SampleJudge(pair, options, deadline.Within(deadline.LeftMs() / 3 + 1));
  if (IsFinal(sampled)) return sampled;
  const bool has_prover = options.smt && RegisteredProver() != nullptr;
  const uint64_t smt_ms = has_prover ? std::min(options.limits.smt_ms, deadline.LeftMs() / 2) : 0;
  if (options.exhaustive && !tried) {
    exhausted = ExhaustiveJudge(pair, options, deadline.Within(deadline.LeftMs() - smt_ms));
    if (IsFinal(exhausted)) return exhausted;
  }
  const Verdict algebraic = AlgebraicJudge(pair, options, deadline);
  if (IsFinal(algebraic)) return algebraic;
  if (has_prover) {
    Verdict proved = SmtJudge(pair, candidate.guard, options, deadline);
    if (IsFinal(proved)) return proved;
    // A prover that gave up is said, so that a user knows which limit to raise.
    if (Tested* tested = std::get_if<Tested>(&sampled); tested != nullptr && IsUnknown(proved))
      tested->evidence.detail += fmt::format("; not proved: {}", std::get<Unknown>(proved).reason);
  }
  Verdict best = std::holds_alternative<Tested>(algebraic) ? algebraic : sampled;
  if (Tested* tested = std::get_if<Tested>(&best))
    tested->is_limited = IsLimited(exhausted) || IsLimited(algebraic);
  return best;
}

}  // namespace

void RegisterProver(std::shared_ptr<const Prover> prover) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.prover = std::move(prover);
}

std::shared_ptr<const Prover> RegisteredProver() {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  return registry.prover;
}

Observer RegisterObserver(Observer observer) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  return std::exchange(registry.observer, std::move(observer));
}

void Observe(const Question& question, const Verdict& verdict) {
  Observer observer;
  {
    Registry& registry = TheRegistry();
    const std::lock_guard lock(registry.mutex);
    observer = registry.observer;
  }
  if (observer) observer(question, verdict);
}

Result<Verdict> Verify(const ir::Program& source, const ir::Candidate& candidate,
                       const VerifyOptions& options) {
  TRY_VOID(ir::Check(source));
  TRY_VOID(ir::Check(candidate.program));
  TRY_VOID(CheckComparable(source, candidate.program));
  TRY_VOID(ir::CheckGuard(candidate.guard, source));
  Result<Verdict> verdict = Judges(source, candidate, options);
  if (verdict) Observe(ProgramQuestion{source, candidate}, *verdict);
  return verdict;
}

Verdict CheckCertificate(const ir::Program& source, const ir::Candidate& candidate) {
  Verdict verdict = CertificateChecker(source, candidate).Check();
  Observe(ProgramQuestion{source, candidate}, verdict);
  return verdict;
}

}  // namespace frazil::verify
