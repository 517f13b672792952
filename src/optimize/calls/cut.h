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
  ir::Program program;  // what the plan is of, canonical
  exec::Plan plan;
};

// In the order in which they are worth trying.
enum class CutWay : uint8_t {
  OfSource,  // fused; each step makes values of the source, so that no proof is longer than a step
  OfFused,  // fused; each step makes values of what fusion made of the source, which is to be proved as a whole
  Unfused,
};
inline constexpr CutWay CutWays[] = {CutWay::OfSource, CutWay::OfFused, CutWay::Unfused};

// Fails with Unsupported where the program is no sequence of tensor ops of known sizes, or has no such plan.
Result<Cut> CutIntoCalls(const ir::Program& source, CutWay way = CutWay::OfSource);

}  // namespace frazil::optimize
