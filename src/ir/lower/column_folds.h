// Builds the loops of folds in one chain whose lines are neighbors in memory: sums down columns. Rows come one after the other,
// so that memory is read once and in its order; a row of partial results is kept, and is in the cache. Internal to this
// folder.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "ir/lanes/index_math.h"

namespace frazil::ir {

class ColumnFolds {
 public:
  struct Line {
    ReduceKind kind;
    Type type;  // of partial results
  };
  // The elements of all lines in a row and a column.
  using Elements = std::function<Values(IndexExpr row, IndexExpr column)>;

  ColumnFolds(FunctionBuilder& builder, std::vector<Line> lines, IndexExpr length, int64_t block,
              Op source_op)
      : builder_(builder),
        math_(builder),
        lines_(std::move(lines)),
        length_(length),
        block_(block),
        source_op_(source_op) {}

  // Scratch, to be made before all loops: of `matrices` with columns of this number.
  void Prepare(IndexExpr matrices, IndexExpr width);
  // Columns start .. start + count - 1, of which there are some.
  void Fold(IndexExpr matrix, IndexExpr start, IndexExpr count, const Elements& elements);
  ValueId Result(size_t line, IndexExpr matrix, IndexExpr column);

  // Columns that are folded together.
  void ForTiles(const std::function<void(IndexExpr start, IndexExpr count)>& body);

  // Otherwise a loop for each column keeps its chain in a register, and needs no scratch.
  static bool IsWanted(IndexExpr length, int64_t block, IndexExpr width);

 private:
  using Order = IndexMath::Order;

  IndexExpr Place(IndexExpr matrix, IndexExpr block, IndexExpr column);
  Values LoadAll(IndexExpr place);
  void StoreAll(IndexExpr place, std::span<const ValueId> values);
  Values Combine(std::span<const ValueId> a, std::span<const ValueId> b);
  // Where a column's partial result is, and its number.
  using At = std::function<std::pair<IndexExpr, IndexExpr>(IndexExpr)>;
  void Block(IndexExpr first, IndexExpr rows, IndexExpr count, const Elements& elements,
             const At& at);

  FunctionBuilder& builder_;
  IndexMath math_;
  std::vector<Line> lines_;
  IndexExpr length_;
  int64_t block_;
  Op source_op_;
  IndexExpr blocks_, width_;
  IndexExpr partial_rows_;        // of a matrix: at least one
  std::vector<ValueId> partial_;  // by line: a row for each block of each matrix
};

}  // namespace frazil::ir
