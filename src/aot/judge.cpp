// What is asked of the verifier, and what its answer means for a kernel.
#include "aot/judge.h"

#include <fmt/format.h>

#include "aot/targets.h"
#include "exec/native/native_toolchain.h"
#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::aot {
namespace {

// Of one verdict: made-up inputs may ask for more memory or time than is sensible.
constexpr uint64_t CodeFuel = 1 << 22;
constexpr uint64_t CodeMemoryBytes = 64 << 20;
constexpr uint64_t SearchMs = 2'000;
constexpr uint64_t CodeMs = 20'000;
constexpr uint64_t QuickExhaustiveCases = 1 << 16;
constexpr uint64_t SmtMs = 1'000;

// Why a verdict is not enough; empty: it is one of trust.
std::string Reason(const verify::Verdict& verdict) {
  if (const auto* unknown = std::get_if<verify::Unknown>(&verdict))
    return "no verdict: " + unknown->reason;
  return verify::EvidenceOf(verdict) != nullptr ? "" : verify::Describe(verdict);
}

}  // namespace

verify::VerifyOptions MeaningOptions(const Limits& limits) {
  verify::VerifyOptions options;
  options.limits = limits;
  options.limits.smt_ms = std::min(limits.smt_ms, SmtMs);
  options.exhaustive_cases = QuickExhaustiveCases;
  return options;
}

FormJudge::FormJudge(const ir::Program& source, ir::Candidate candidate, const Limits& limits)
    : source_(source),
      candidate_(std::move(candidate)),
      program_(std::make_shared<const ir::Program>(candidate_.program)),
      source_exact_(ir::ExactDigest(source)),
      candidate_exact_(ir::ExactDigest(candidate_.program)),
      candidate_text_(ir::PrintText(candidate_.program)),
      limits_(limits),
      policy_(verify::Policy::Default(source)) {
  const ir::Certificate& proof = candidate_.certificate;
  if (!proof.equalities.empty() || !proof.closed_forms.empty())
    certificate_ = ir::PrintCertificate(proof);
  RegisterJudges();
}

Judged FormJudge::Meaning() {
  Judged judged;
  verify::VerifyOptions options = MeaningOptions(limits_);
  options.meaning = &meaning_;
  Result<verify::Verdict> verdict = verify::VerifyMeaning(source_, candidate_, options);
  judged.verdict = verdict ? std::move(*verdict) : verify::Unknown{verdict.error().message};
  judged.reason = verdict ? Reason(judged.verdict) : verdict.error().message;
  const verify::Evidence* evidence = verify::EvidenceOf(judged.verdict);
  if (evidence != nullptr && verify::Worth(evidence->grade) < verify::Worth(policy_.meaning))
    judged.reason =
        fmt::format("it is only {}, and {} is asked for", verify::GradeName(evidence->grade),
                    verify::GradeName(policy_.meaning));
  return judged;
}

verify::Evidence FormJudge::meaning_evidence() {
  const Judged judged = Meaning();
  const verify::Evidence* evidence = verify::EvidenceOf(judged.verdict);
  return judged.reason.empty() && evidence != nullptr ? *evidence : verify::Evidence();
}

exec::CompiledForm FormJudge::Form(std::string target) const {
  exec::CompiledForm form;
  form.source_exact = source_exact_;
  form.guard = ir::PrintGuard(candidate_.guard);
  form.candidate = candidate_text_;
  form.candidate_exact = candidate_exact_;
  form.certificate = certificate_;
  if (candidate_exact_ != source_exact_) form.source = ir::PrintText(source_);
  form.target = std::move(target);
  form.toolchain = exec::NativeToolchain();
  return form;
}

Judged FormJudge::Admit(exec::CompiledForm form, const verify::CallableMaker& make_callable) {
  verify::VerifyOptions options = MeaningOptions(limits_);
  options.limits.fuel = CodeFuel;
  options.limits.memory_bytes = CodeMemoryBytes;
  options.limits.verify_ms = CodeMs;
  options.notes = &notes_;
  options.meaning = &meaning_;
  options.search_ms = SearchMs;
  form.cost = exec::Bytes{form.payload.size()};
  Judged judged;
  Result<verify::Examined> examined =
      verify::Examine(source_, candidate_, std::move(form), policy_, options, make_callable);
  if (!examined) {
    judged.reason = examined.error().message;
    judged.verdict = verify::Unknown{judged.reason};
    return judged;
  }
  judged.verdict = examined->lowering;
  if (const auto* unknown = std::get_if<verify::Unknown>(&judged.verdict))
    judged.has_unrun = unknown->has_unrun;
  if (!examined->form) {
    judged.reason = Reason(judged.verdict);
    if (judged.reason.empty()) judged.reason = examined->refusal;
    return judged;
  }
  auto admitted = engine::Admit(*examined->form, nullptr, policy_);
  if (admitted)
    judged.admitted = std::move(*admitted);
  else
    judged.reason = std::move(admitted.error());
  return judged;
}

}  // namespace frazil::aot
