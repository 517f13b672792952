// A plan is as good as the weakest of the forms that it calls.
#include <fmt/format.h>

#include <algorithm>

#include "verify/internal/examine.h"
#include "verify/plans/plans.h"

namespace frazil::verify {
namespace {

using Part = Verified<exec::CompiledForm>;

bool Serves(const Part& part, const exec::PlanForm& form) {
  return part->source_exact == form.exact && part->guard == "true" && part->calling.empty() &&
         part->target == "native";
}

// Proved of the plan, and of its forms what their own judges found: not more.
Result<Verdict> JudgeCalls(const ir::Program& program, const exec::CompiledForm& form,
                           std::span<const Part> parts, const Policy& policy) {
  const Result<exec::Plan> plan = exec::ParsePlan(form.payload);
  if (!plan) return Unknown{"the plan cannot be read: " + plan.error().message};
  Verdict verdict = VerifyPlan(program, *plan);
  if (!std::holds_alternative<Proved>(verdict)) return verdict;
  Evidence evidence = std::get<Proved>(verdict).evidence;
  const Evidence* weakest = nullptr;
  for (const exec::PlanForm& called : plan->forms) {
    const auto part = std::ranges::find_if(parts, [&](const Part& it) {
      return Serves(it, called) && Satisfies(it.evidence(), policy);
    });
    if (part == parts.end()) return Unknown{"a form that it calls has no judged code"};
    const Evidence& own = part->evidence().lowering;
    if (weakest == nullptr || Worth(own.grade) < Worth(weakest->grade) ||
        (own.grade == weakest->grade && own.cases < weakest->cases))
      weakest = &own;
  }
  if (weakest == nullptr || Worth(weakest->grade) >= Worth(Grade::Exhaustive)) return verdict;
  evidence.detail += fmt::format("; the weakest form: {}", Describe(*weakest));
  evidence.grade = weakest->grade;
  evidence.cases = weakest->cases;
  return Tested{std::move(evidence)};
}

}  // namespace

Result<Examined> ExaminePlan(const ir::Program& source, const ir::Candidate& candidate,
                             exec::CompiledForm form, std::span<const Part> parts,
                             const Policy& policy, const VerifyOptions& options) {
  const LoweringJudge judge = [&](const exec::CompiledForm& examined) -> Result<Verdict> {
    if (examined.target != CallsTarget) return Unknown{"the form is no plan of calls"};
    return JudgeCalls(candidate.program, examined, parts, policy);
  };
  return ExamineBy(judge, source, candidate, std::move(form), policy, options);
}

}  // namespace frazil::verify
