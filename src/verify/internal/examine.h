// The chain of admission (verify::Examine), for those who bring the judge of the lowering.
#pragma once

#include <functional>

#include "verify/verify.h"

namespace frazil::verify {

using LoweringJudge = std::function<Result<Verdict>(const exec::CompiledForm& form)>;
Result<Examined> ExamineBy(const LoweringJudge& judge, const ir::Program& source,
                           const ir::Candidate& candidate, exec::CompiledForm form,
                           const Policy& policy, const VerifyOptions& options);

}  // namespace frazil::verify
