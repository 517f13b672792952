// Plans of calls (exec/plan/plan.h): do the steps, each form doing what its program says, compute what the program computes?
//
// No step is run. Memory is followed byte by byte as to which value of the program stands where; what a step makes of the values
// that it reads is its form's program at these sizes, and must have the normal form (verify/tensors) of that part of the
// planned program which leads from these values to what it is said to make. So every step is a proof of its own, and a
// long program takes as long as its steps do.
#pragma once

#include <span>

#include "exec/plan/plan.h"
#include "verify/verify.h"

namespace frazil::verify {

// Target of forms whose payload is a plan.
inline constexpr std::string_view CallsTarget = "calls";

// Proved, or Unknown with the step and what is wrong with it or cannot be shown.
Verdict VerifyPlan(const ir::Program& program, const exec::Plan& plan);

// As Examine, of a form whose payload is a plan: what it is worth is what the weakest of the forms that it calls is worth, and each
// of them must be there. `parts`: judged code of these forms, in any order; more of them do no harm.
Result<Examined> ExaminePlan(const ir::Program& source, const ir::Candidate& candidate,
                             exec::CompiledForm form,
                             std::span<const Verified<exec::CompiledForm>> parts,
                             const Policy& policy, const VerifyOptions& options = {});

}  // namespace frazil::verify
