// Calls replaced by what they call, for targets without calls. Values, traps and effects are the same; a call's unit of
// fuel and of depth is not taken.
//
// Stays a call: one of a prelude function (it is the meaning of a math op), one that can come back to itself, one whose
// callee has tensors (run LowerTensors before). Functions that nobody calls any more are gone; the entry stays.
#pragma once

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::ir {

// Takes a checked program, gives a checked program. Fails only at the limit on instructions.
Result<Program> InlineCalls(const Program& program, const Limits& limits = {});

}  // namespace frazil::ir
