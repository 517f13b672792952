// How many neighboring iterations one thread takes, so that its accesses are 16 bytes wide.
#pragma once

#include "ir/program.h"
#include "targets/llvm/facts.h"

namespace frazil::targets::cuda {

// 1 unless every access of the loop's body is at the iteration itself, loads before stores, stores in the body's own
// region.
uint32_t VectorItems(const ir::Program& program, const ir::Function& function,
                     const FunctionFacts& facts, const ir::Inst& parallel);

}  // namespace frazil::targets::cuda
