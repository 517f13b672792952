// Recognizes what ir::LowerTensors makes of a `reduce` over one axis: code for one thread that a GPU can run by many,
// because the tree of the reduction is defined. Recognized by comparison with a reduction that is lowered here, so that
// nothing has to be proved about the loops.
#pragma once

#include <optional>

#include "ir/program.h"
#include "targets/llvm/facts.h"

namespace frazil::targets::cuda {

struct FoldMatch {
  ir::Op op;                      // that joins two elements
  ir::Type type;                  // of elements and result
  ir::ValueId buffer;             // elements 0 .. count - 1 are reduced
  ir::ValueId count;
  ir::ValueId blocks;             // scratch buffer: a result for each block of elements
  ir::ValueId result;
  std::vector<uint64_t> identity; // the result if there are none
};

constexpr int64_t FoldBlock = 4096;
constexpr int64_t FoldChains = 64;

std::optional<FoldMatch> MatchFold(const ir::Function& function, const FunctionFacts& facts, const ir::Inst& inst);

}  // namespace frazil::targets::cuda
