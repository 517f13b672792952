// How many iterations of a loop a block of vector code takes. Internal to this folder.
#pragma once

#include <cstdint>

#include "exec/native/native_code.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {

class FunctionEmitter;

struct BlockSizes {
  unsigned main = 0;    // 0: blocks under masks take all iterations
  unsigned tail = 0;    // 0: the scalar loop takes the rest
  unsigned blocks = 1;  // of `main` iterations each, in one turn
  friend bool operator==(const BlockSizes&, const BlockSizes&) = default;
};

// Are elements read one by one, because no instruction gathers them?
bool GathersOneByOne(const LoopPlan& plan, exec::CpuLevel level);
bool HasGather(const LoopPlan& plan);

// `most_trips`: no run has more iterations. A tuned form takes longer to compile.
BlockSizes ChooseSizes(const LoopPlan& plan, bool is_row, exec::CpuLevel level, bool tuned,
                       uint64_t most_trips);

// Does it go along a row? A `for` mostly does, and a `parallel` inside of another loop.
bool IsRow(const FunctionEmitter& emitter, const ir::Inst& loop);

// Iterations that the loop has at most, by what is known of its bounds.
uint64_t MostTrips(const FunctionEmitter& emitter, const ir::Inst& loop);

}  // namespace frazil::targets::native
