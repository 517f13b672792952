// A `fold` whose elements are loads at its own index and computing: whoever knows that may read it as a reduction of whole
// buffers, and make its elements in any order.
#pragma once

#include <optional>
#include <vector>

#include "ir/program.h"

namespace frazil::ir {

// The tree of sums in source languages and circuits, and of `reduce` along the innermost axis ([tensor.reduce]).
constexpr int64_t FoldBlock = 4096;
constexpr int64_t FoldChains = 64;

struct PlainFold {
  ReduceKind kind;
  Type type;  // of elements and result
  // What gives element `index`: loads at `index` and computing. Elements 0 .. count - 1 are reduced.
  std::vector<InstId> element;
  ValueId index;
  ValueId value;
  std::vector<ValueId> buffers;  // that are read at `index`
  std::vector<ValueId> outside;  // scalars that the element needs besides
  ValueId count;
  ValueId result;
};

// It computes a value of its operands, and always gives one.
bool IsPlainComputing(const Program& program, const Function& function, const Inst& inst);

// A fold of the entry function, in the tree above. None if its elements may trap otherwise than by being outside of a buffer.
std::optional<PlainFold> ReadPlainFold(const Program& program, InstId id);

}  // namespace frazil::ir
