// A fold in vectors: its 64 chains stand side by side in registers, rows of 64 elements are joined to them, and at the end halves are
// folded onto halves, in exactly the tree of docs/semantics.md [tensor.reduce]. Internal to this folder's target.
#pragma once

#include "targets/native/function_emitter.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {

constexpr int64_t TreeChains = 64;
constexpr int64_t TreeBlock = 4096;

// Can a row be cut off by a mask?
bool HasTreeMasks(const LoopPlan& plan, exec::CpuLevel level);

// Sets the loop's result. False: the plan says no, nothing was emitted, and the module is of no use (lost_fold).
bool EmitTree(FunctionEmitter& emitter, const ir::Inst& loop, const LoopPlan& plan);

}  // namespace frazil::targets::native
