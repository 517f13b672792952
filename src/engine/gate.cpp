// What is asked of the verifier, and what its answer means for a form.
#include "engine/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exec/native/native_toolchain.h"
#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::engine {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Effort {
  uint64_t fuel;
  uint64_t memory_bytes;
  double most_ms;  // of a rung that is not the first: there one has time
};
constexpr std::array<Effort, Rungs> Ladder = {{{1 << 12, 1 << 20, 1'500},
                                               {1 << 16, 16 << 20, 1'500},
                                               {1 << 22, 64 << 20, 2'000},
                                               {1 << 26, 256 << 20, 1e9}}};
constexpr uint64_t SmtMs = 1'000;

double MillisecondsUntil(SteadyClock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - SteadyClock::now()).count();
}

// Why a verdict is not enough; empty: it is one of trust.
std::string Reason(const verify::Verdict& verdict) {
  if (const auto* unknown = std::get_if<verify::Unknown>(&verdict))
    return "no verdict: " + unknown->reason;
  return verify::EvidenceOf(verdict) != nullptr ? "" : verify::Describe(verdict);
}

bool HasUnrun(const verify::Verdict& lowering) {
  const auto* unknown = std::get_if<verify::Unknown>(&lowering);
  return unknown != nullptr && unknown->has_unrun;
}

// More effort helps only where runs were too short, of either half: not against a counterexample, nor for code that no input
// reaches.
bool IsDecided(const verify::Examined& examined) {
  if (examined.form) return true;
  if (!examined.has_meaning) return !verify::IsLimited(examined.meaning);
  return !std::holds_alternative<verify::Unknown>(examined.lowering) || HasUnrun(examined.lowering);
}

}  // namespace

verify::VerifyOptions MeaningOptions(const GateOptions& options) {
  verify::VerifyOptions asked;
  asked.limits = options.limits;
  asked.limits.smt_ms = std::min(options.limits.smt_ms, SmtMs);
  asked.exhaustive_cases = options.exhaustive_cases;
  return asked;
}

Gate::Gate(std::shared_ptr<const ir::Program> source, ir::Candidate candidate,
           verify::Policy policy, GateOptions options)
    : source_(std::move(source)),
      candidate_(std::move(candidate)),
      program_(std::make_shared<const ir::Program>(candidate_.program)),
      source_exact_(ir::ExactDigest(*source_)),
      candidate_exact_(ir::ExactDigest(candidate_.program)),
      candidate_text_(ir::PrintText(candidate_.program)),
      guard_(ir::PrintGuard(candidate_.guard)),
      policy_(policy),
      options_(options) {
  const ir::Certificate& proof = candidate_.certificate;
  if (!proof.equalities.empty() || !proof.closed_forms.empty())
    certificate_ = ir::PrintCertificate(proof);
}

Gate::Gate(const ir::Program& source, ir::Candidate candidate, GateOptions options)
    : Gate(std::make_shared<const ir::Program>(source), std::move(candidate),
           verify::Policy::Default(source), options) {}

Judged Gate::Meaning() {
  Judged judged;
  verify::VerifyOptions options = MeaningOptions(options_);
  options.meaning = &meaning_;
  Result<verify::Verdict> verdict = verify::VerifyMeaning(*source_, candidate_, options);
  judged.verdict = verdict ? std::move(*verdict) : verify::Unknown{verdict.error().message};
  judged.reason = verdict ? Reason(judged.verdict) : verdict.error().message;
  const verify::Evidence* evidence = verify::EvidenceOf(judged.verdict);
  if (evidence != nullptr && verify::Worth(evidence->grade) < verify::Worth(policy_.meaning))
    judged.reason =
        fmt::format("it is only {}, and {} is asked for", verify::GradeName(evidence->grade),
                    verify::GradeName(policy_.meaning));
  return judged;
}

verify::Evidence Gate::meaning_evidence() {
  const Judged judged = Meaning();
  const verify::Evidence* evidence = verify::EvidenceOf(judged.verdict);
  return judged.reason.empty() && evidence != nullptr ? *evidence : verify::Evidence();
}

exec::CompiledForm Gate::Form(std::string target) const {
  exec::CompiledForm form;
  form.source_exact = source_exact_;
  form.guard = guard_;
  form.candidate = candidate_text_;
  form.candidate_exact = candidate_exact_;
  form.certificate = certificate_;
  if (candidate_exact_ != source_exact_) form.source = ir::PrintText(*source_);
  form.target = std::move(target);
  form.toolchain = exec::NativeToolchain();
  return form;
}

Result<verify::Examined> Gate::Examine(exec::CompiledForm form,
                                       const verify::CallableMaker& make_callable) {
  verify::VerifyOptions options = MeaningOptions(options_);
  options.meaning = &meaning_;
  options.search_ms = options_.search_ms;
  const auto until = std::min(
      options_.until, SteadyClock::now() + std::chrono::microseconds(
                                               static_cast<int64_t>(1'000 * options_.form_ms)));
  Result<verify::Examined> examined = verify::Examined();
  examined->refusal = "no time was left to judge it";
  for (size_t rung = options_.first_rung; rung < Rungs; ++rung) {
    const double left_ms = MillisecondsUntil(until);
    if (left_ms <= 0) break;
    const Effort& effort = Ladder[rung];
    const bool has_time = rung == options_.first_rung && rung != QuickRung;
    options.limits.fuel = effort.fuel;
    options.limits.memory_bytes = effort.memory_bytes;
    options.limits.verify_ms =
        static_cast<uint64_t>(std::ceil(has_time ? left_ms : std::min(left_ms, effort.most_ms)));
    options.notes = &notes_[rung];
    examined = verify::Examine(*source_, candidate_, form, policy_, options, make_callable);
    if (!examined || IsDecided(*examined)) break;
  }
  return examined;
}

Judged Gate::Admit(exec::CompiledForm form, const verify::CallableMaker& make_callable,
                   const verify::Verified<exec::CompiledForm>* in_use) {
  Judged judged;
  Result<verify::Examined> examined = Examine(std::move(form), make_callable);
  if (!examined) {
    judged.reason = examined.error().message;
    judged.verdict = verify::Unknown{judged.reason};
    return judged;
  }
  judged.verdict = examined->lowering;
  judged.has_unrun = HasUnrun(judged.verdict);
  if (!examined->form) {
    if (examined->has_meaning) judged.reason = Reason(judged.verdict);
    if (judged.reason.empty()) judged.reason = examined->refusal;
    return judged;
  }
  auto admitted = engine::Admit(*examined->form, in_use, policy_);
  if (admitted)
    judged.admitted = std::move(*admitted);
  else
    judged.reason = std::move(admitted.error());
  return judged;
}

}  // namespace frazil::engine
