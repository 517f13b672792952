// Builds the loops of a fold of one line of elements: its length, a way to make one, and scratch. Internal to this folder.
#pragma once

#include <functional>
#include <optional>

#include "ir/lanes/index_math.h"

namespace frazil::ir {

class FoldLoops {
 public:
  using Element = std::function<ValueId(IndexExpr)>;
  FoldLoops(FunctionBuilder& builder, ReduceKind kind, Type type, int64_t chains, int64_t block,
            std::optional<Op> source_op, IndexMath::Order elements = IndexMath::Order::Independent)
      : builder_(builder),
        math_(builder),
        kind_(kind),
        type_(type),
        chains_(chains),
        block_(block),
        source_op_(source_op),
        elements_(elements) {}

  // Scratch, to be made before the loops over `lines` lines. False if none is needed.
  bool Prepare(IndexExpr length, IndexExpr lines);
  ValueId Line(IndexExpr length, const Element& element);

 private:
  using Order = IndexMath::Order;

  IndexExpr BlocksOf(IndexExpr length, IndexExpr lines);
  ValueId Alloc(IndexExpr count);
  ValueId Combine(ValueId a, ValueId b);
  ValueId LoadAt(ValueId array, IndexExpr i);
  void StoreAt(ValueId array, IndexExpr i, ValueId value);
  ValueId NonEmpty(IndexExpr length, const Element& element);
  void LastBlock(IndexExpr whole, IndexExpr length, const Element& element);
  ValueId Block(IndexExpr start, IndexExpr count, const Element& element);
  void Rows(IndexExpr start, IndexExpr count, const Element& element);
  ValueId Chain(IndexExpr start, IndexExpr count, const Element& element);
  void CombineBlocks(IndexExpr blocks);

  FunctionBuilder& builder_;
  IndexMath math_;
  ReduceKind kind_;
  Type type_;
  int64_t chains_;
  int64_t block_;
  std::optional<Op> source_op_;
  Order elements_;  // Sequential: making one may trap
  bool one_block_ = false;
  ValueId chain_array_;
  ValueId block_array_;
};

// Block results by adjacent pairs, level by level, in place: pair(to, left, right) reads before anything is written at or
// after it, move(to, from) moves the last of an odd number up.
void CombinePairs(FunctionBuilder& builder, IndexExpr blocks,
                  const std::function<void(IndexExpr to, IndexExpr left, IndexExpr right)>& pair,
                  const std::function<void(IndexExpr to, IndexExpr from)>& move);

// As many chains as there can be elements: those that are never there change nothing.
int64_t ChainsOf(int64_t chains, IndexExpr length);

}  // namespace frazil::ir
