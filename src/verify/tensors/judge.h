// Programs from tensors and scalars to tensors and scalars, as one term for each result.
#pragma once

#include "ir/guard.h"
#include "ir/program.h"
#include "verify/verdict.h"

namespace frazil::verify {

// Equal terms of an element of each result, at any indices, and equal lists of what may trap: Proved, or Unknown with what is
// missing. Parameters that the guard fixes are constants; the rest of the guard is not used.
Verdict TensorFormJudge(const ir::Program& source, const ir::Program& candidate,
                        const ir::Guard& guard);

}  // namespace frazil::verify
