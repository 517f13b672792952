// Recognizes what the lowering of a `reduce` over one axis looks like: code for one thread that a GPU can run by many,
// because the tree of the reduction is defined. Recognized by comparison with a reduction that is lowered here, so that
// nothing has to be proved about the loops; where the model loads an element, any computation of it may stand.
#pragma once

#include <optional>
#include <vector>

#include "ir/program.h"
#include "targets/llvm/facts.h"

namespace frazil::targets::cuda {

struct FoldMatch {
  ir::Op op;                      // that joins two elements
  ir::Type type;                  // of elements and result
  // What gives element `index`: loads at `index` and computing. Elements 0 .. count - 1 are reduced.
  std::vector<ir::InstId> element;
  ir::ValueId index;
  ir::ValueId value;
  std::vector<ir::ValueId> buffers;   // that are read at `index`
  std::vector<ir::ValueId> outside;   // scalars that the element needs besides
  ir::ValueId count;
  ir::ValueId blocks;             // scratch buffer: a result for each block of elements
  ir::ValueId result;
  std::vector<uint64_t> identity; // the result if there are none
};

constexpr int64_t FoldBlock = 4096;
constexpr int64_t FoldChains = 64;

std::optional<FoldMatch> MatchFold(const ir::Program& program, const ProgramFacts& facts, ir::InstId id);

}  // namespace frazil::targets::cuda
