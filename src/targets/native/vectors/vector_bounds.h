// What is tested before a vector loop is entered. Internal to this folder.
#pragma once

#include <vector>

#include "targets/native/function_emitter.h"
#include "targets/native/vectors/loop_plan.h"
#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {

// Is every access that can be tested before the loop inside of its buffer, in all of its `count` iterations from `lo` on?
// Fills `hoisted`, by access, with what was computed for it.
llvm::Value* TestAccesses(FunctionEmitter& emitter, const ir::Inst& loop, const LoopPlan& plan,
                          llvm::Value* lo, llvm::Value* count, std::vector<HoistedAccess>& hoisted);

}  // namespace frazil::targets::native
