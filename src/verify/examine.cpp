// Admission: the form says what it is for, both halves are judged, and only then is there something callable. What is
// judged is the image that will be stored, mapped as it will be mapped.
#include <fmt/format.h>

#include "ir/digest.h"
#include "ir/text.h"
#include "verify/judge.h"
#include "verify/verify.h"

namespace frazil::verify {
namespace {

// What the form claims about itself; one sentence where that is not so.
std::string FalseClaim(const ir::Program& source, const ir::Candidate& candidate,
                       const exec::CompiledForm& form) {
  if (form.target != "native")
    return fmt::format("forms of target '{}' cannot be judged", form.target);
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

const Evidence* EvidenceOf(const Verdict& verdict) {
  if (const Proved* proved = std::get_if<Proved>(&verdict)) return &proved->evidence;
  if (const Tested* tested = std::get_if<Tested>(&verdict)) return &tested->evidence;
  return nullptr;
}

std::string WhyNot(std::string_view what, const Verdict& verdict) {
  if (const Refuted* refuted = std::get_if<Refuted>(&verdict))
    return fmt::format("{} refuted: {}", what, refuted->difference);
  if (const Unknown* unknown = std::get_if<Unknown>(&verdict))
    return fmt::format("{} unknown: {}", what, unknown->reason);
  return {};
}

}  // namespace

Result<Examined> Examine(const ir::Program& source, const ir::Candidate& candidate,
                         exec::CompiledForm form, const Policy& policy,
                         const VerifyOptions& options) {
  Examined examined;
  examined.refusal = FalseClaim(source, candidate, form);
  if (!examined.refusal.empty()) return examined;
  examined.meaning = TRY(Verify(source, candidate, options));
  examined.refusal = WhyNot("meaning", examined.meaning);
  if (!examined.refusal.empty()) return examined;
  examined.lowering = TRY(VerifyCode(candidate.program, form.image, candidate.guard, options));
  examined.refusal = WhyNot("lowering", examined.lowering);
  if (!examined.refusal.empty()) return examined;
  EvidencePair evidence{*EvidenceOf(examined.meaning), *EvidenceOf(examined.lowering)};
  if (!Satisfies(evidence, policy)) {
    examined.refusal =
        fmt::format("the evidence ({}, {}) is less than the policy asks for ({}, {})",
                    GradeName(evidence.meaning.grade), GradeName(evidence.lowering.grade),
                    GradeName(policy.meaning), GradeName(policy.lowering));
    return examined;
  }
  examined.form = Judge::Vouch(std::move(form), std::move(evidence));
  return examined;
}

}  // namespace frazil::verify
