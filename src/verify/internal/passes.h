// Programs of passes over memory, each as one term for each buffer.
#pragma once

#include "ir/guard.h"
#include "ir/program.h"
#include "verify/verdict.h"

namespace frazil::verify {

// Equal terms of all buffers of both programs, under what the guard says of the buffers and the extent: Proved, or Unknown
// with what is missing.
Verdict PassesJudge(const ir::Program& source, const ir::Program& candidate,
                    const ir::Guard& guard);

}  // namespace frazil::verify
