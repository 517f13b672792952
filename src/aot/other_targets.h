// Artifacts for other machines than this one's.
#pragma once

#include "aot/unit.h"
#include "engine/loop.h"

namespace frazil::aot {

// Puts the artifact into `built`, or the reason why there is none into its report. The loop has one proposal left, the gate's.
void EmitOther(Target target, const std::string& name, engine::Loop& loop, const engine::Gate& gate,
               BuiltKernel& built);

}  // namespace frazil::aot
