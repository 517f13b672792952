// A program of tensors becomes a plan of calls (exec/plan/plan.h): each tensor op, or what fusion has made one of, is a step; what
// it computes is a form of its own with symbols for sizes. Reshapes are names of the same bytes. Scalars that cost
// nothing are computed again where they are needed.
//
// It proposes and proves nothing: verify/plans judges the plan.
#pragma once

#include "base/result.h"
#include "exec/plan/plan.h"
#include "ir/program.h"

namespace frazil::optimize {

struct Cut {
  // What the plan is of, canonical: the source; where fusion makes tensors that the source does not have, what it made of it.
  ir::Program program;
  exec::Plan plan;
};

// `fuse`: what can be computed together becomes one step. Fails with Unsupported where the program is no sequence of tensor
// ops of known sizes.
Result<Cut> CutIntoCalls(const ir::Program& source, bool fuse = true);

}  // namespace frazil::optimize
