// Recognizes the loops of a reduction (ir/lower/fold.h, and what LowerTensors makes of a `reduce` over one axis): whoever finds
// them may reduce in another way, because the tree is defined. Recognized by comparison with a reduction that is built
// here, so that nothing has to be proved about the loops; where the model loads an element, any computation of it may
// stand.
#pragma once

#include <optional>
#include <vector>

#include "ir/lanes/plain_fold.h"

namespace frazil::ir {

struct FoldMatch {
  ReduceKind kind;
  Op op;      // that joins two elements
  Type type;  // of elements and result
  // What gives element `index`: loads at `index` and computing. Elements 0 .. count - 1 are reduced.
  std::vector<InstId> element;
  ValueId index;
  ValueId value;
  std::vector<ValueId> buffers;  // that are read at `index`
  std::vector<ValueId> outside;  // scalars that the element needs besides
  ValueId count;
  ValueId chains;  // scratch buffer of the block in hand
  ValueId blocks;  // scratch buffer: a result for each block of elements
  ValueId result;
  std::vector<uint64_t> identity;  // the result if there are none
};

// The `if` that gives the result of a fold in the entry function. What it keeps in scratch is nobody else's business: an
// `if` whose scratch somebody else touches is no match. Anything that is no fold is told apart at once.
std::optional<FoldMatch> MatchFold(const Program& program, InstId id);

}  // namespace frazil::ir
