// Loops that run one iteration at a time and touch elements that can be tested before them. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "targets/native/function_emitter.h"

namespace frazil::targets::native {

struct LoopTests {
  llvm::Value* fits = nullptr;       // are they all inside of their buffers?
  std::vector<uint32_t> insts = {};  // of accesses; empty: there is nothing to test
  bool is_short = false;             // a few instructions without a branch
};

// At the builder's place, before the loop: only where nothing in it is a loop or a call, so that there is little code to
// emit twice.
LoopTests TestLoop(FunctionEmitter& emitter, const ir::Inst& loop);

}  // namespace frazil::targets::native
