// Artifacts for other machines than this one's.
#pragma once

#include "aot/unit.h"
#include "ir/program.h"

namespace frazil::aot {

// Puts the artifact into `built`, or the reason why there is none into its report.
void EmitOther(Target target, const std::string& name, const ir::Program& program,
               const BuildOptions& options, BuiltKernel& built);

}  // namespace frazil::aot
