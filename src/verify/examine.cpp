// Admission: the form says what it is for, both halves are judged, and only then is there something callable. What is
// judged are the very bytes that will be stored, loaded as they will be loaded (target_judges.h).
#include <fmt/format.h>

#include "ir/digest.h"
#include "ir/text/text.h"
#include "verify/internal/examine.h"
#include "verify/judge.h"
#include "verify/target_judges.h"
#include "verify/verify.h"

namespace frazil::verify {
namespace {

// What the form claims about itself; one sentence where that is not so.
std::string FalseClaim(const ir::Program& source, const ir::Candidate& candidate,
                       const exec::CompiledForm& form) {
  if (form.source_exact != ir::ExactDigest(source)) return "the form is for another program";
  const std::string exact = ir::ExactDigest(candidate.program);
  if (form.candidate_exact != exact) return "the form was made from another candidate";
  const Result<ir::Program> carried = ir::ParseText(form.candidate);
  if (!carried) return "the form's candidate cannot be read: " + carried.error().message;
  if (ir::ExactDigest(*carried) != exact) return "the form carries another candidate than it names";
  const Result<ir::Guard> guard = ir::ParseGuard(form.guard, source);
  if (!guard) return "the form's guard cannot be read: " + guard.error().message;
  if (ir::GuardBytes(*guard) != ir::GuardBytes(candidate.guard))
    return "the form's guard is not the candidate's";
  return {};
}

// "meaning refuted: result 1: 7 against 8"; empty where there is evidence.
std::string Refusal(std::string_view what, const Verdict& verdict) {
  return EvidenceOf(verdict) != nullptr ? "" : fmt::format("{} {}", what, Describe(verdict));
}

}  // namespace

Result<Verdict> VerifyMeaning(const ir::Program& source, const ir::Candidate& candidate,
                              const VerifyOptions& options) {
  MeaningNotes* notes = options.meaning;
  if (notes == nullptr) return Verify(source, candidate, options);
  const std::string source_exact = ir::ExactDigest(source);
  const std::string candidate_exact = ir::ExactDigest(candidate.program);
  const std::string guard = ir::PrintGuard(candidate.guard);
  const bool is_final =
      notes->verdict_ && (!IsLimited(*notes->verdict_) || options.limits.fuel <= notes->fuel_);
  if (is_final && notes->source_exact_ == source_exact &&
      notes->candidate_exact_ == candidate_exact && notes->guard_ == guard)
    return *notes->verdict_;
  notes->verdict_ = TRY(Verify(source, candidate, options));
  notes->source_exact_ = source_exact;
  notes->candidate_exact_ = candidate_exact;
  notes->guard_ = guard;
  notes->fuel_ = options.limits.fuel;
  return *notes->verdict_;
}

Result<Examined> ExamineBy(const LoweringJudge& judge, const ir::Program& source,
                           const ir::Candidate& candidate, exec::CompiledForm form,
                           const Policy& policy, const VerifyOptions& options) {
  Examined examined;
  examined.refusal = FalseClaim(source, candidate, form);
  if (!examined.refusal.empty()) return examined;
  examined.meaning = TRY(VerifyMeaning(source, candidate, options));
  examined.refusal = Refusal("meaning", examined.meaning);
  // Code is run only of what may be used.
  if (const Evidence* meaning = EvidenceOf(examined.meaning))
    examined.refusal = WhyNotEnough({*meaning, {policy.lowering, "", "", 0}}, policy);
  examined.has_meaning = examined.refusal.empty();
  if (!examined.has_meaning) return examined;
  examined.lowering = TRY(judge(form));
  examined.refusal = Refusal("lowering", examined.lowering);
  if (!examined.refusal.empty()) return examined;
  EvidencePair evidence{*EvidenceOf(examined.meaning), *EvidenceOf(examined.lowering)};
  examined.refusal = WhyNotEnough(evidence, policy);
  if (!examined.refusal.empty()) return examined;
  examined.form = Judge::Vouch(std::move(form), std::move(evidence));
  return examined;
}

Result<Examined> Examine(const ir::Program& source, const ir::Candidate& candidate,
                         exec::CompiledForm form, const Policy& policy,
                         const VerifyOptions& options, const CallableMaker& make_callable) {
  const LoweringJudge of_target = [&](const exec::CompiledForm& examined) {
    return VerifyForm(candidate.program, examined, candidate.guard, options, make_callable);
  };
  return ExamineBy(of_target, source, candidate, std::move(form), policy, options);
}

}  // namespace frazil::verify
