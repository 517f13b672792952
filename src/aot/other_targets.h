// Artifacts for other machines than this one's.
#pragma once

#include "aot/judge.h"
#include "aot/unit.h"

namespace frazil::aot {

// Puts the artifact into `built`, or the reason why there is none into its report.
void EmitOther(Target target, const std::string& name, FormJudge& forms, BuiltKernel& built);

}  // namespace frazil::aot
