// An iteration that works along a row: folds and parallels over the same elements 0 .. count, one behind the other. Pure
// analysis of the IR. Some lanes of a warp take the row; an element is always the same lane's business, so that nothing
// between them needs a barrier, and what one pass leaves for the next stays in shared memory.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "targets/llvm/facts.h"
#include "targets/llvm/index_forms.h"

namespace frazil::targets::cuda {

// Elements of a buffer at row * (iteration) + offset + (element), and at nothing else where it is written.
struct RowArray {
  ir::ValueId buffer;
  ir::Type element;
  IndexForm row, offset;  // known before the loop over rows
  // By group: is it read there before it is written, is it written?
  std::vector<bool> reads, writes;
  int first_use = -1, last_write = -1;
  bool is_kept = false;  // read in a group after the first that touches it
  int last_read = -1;
  uint32_t place = 0;  // among those that are kept: bytes before it, for each element
  bool is_computed =
      true;  // whoever reads it only computes: in shared memory it need not be the one NaN
};

// Passes that can be made in one: none needs a fold of the same group.
struct RowGroup {
  std::vector<ir::InstId> scalars;  // before the passes
  std::vector<ir::InstId> passes;   // a `parallel`, or a `for` that stands for a fold
};

struct RowPlan {
  ir::ValueId count;
  std::vector<RowGroup> groups;
  std::vector<RowArray> arrays;
  std::map<uint32_t, size_t> accesses;  // array of a load or store, by instruction
  uint32_t kept_bytes = 0;              // for each element
  // Buffers that must not be the same: one that is written, another that is touched.
  std::vector<std::pair<ir::ValueId, ir::ValueId>> disjoint;

  bool IsReadAfter(size_t array, size_t group) const;
};

inline bool IsFoldLoop(const ir::Inst& inst) {
  return inst.op == ir::Op::For && inst.source_op == ir::Op::Fold;
}

// `parallel` is independent.
std::optional<RowPlan> PlanRows(const ir::Program& program, const ir::Function& function,
                                const ProgramFacts& all, const FunctionFacts& facts,
                                const ir::Inst& parallel);

}  // namespace frazil::targets::cuda
