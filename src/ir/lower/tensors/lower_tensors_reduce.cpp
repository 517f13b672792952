// Reduce, in exactly the tree of [tensor.reduce] (fold_loops.h).
#include <bit>

#include "base/check.h"
#include "ir/lower/column_folds.h"
#include "ir/lower/fold_loops.h"
#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

constexpr int64_t FewestFolded = 16;

}  // namespace

void TensorLowering::LowerReduce(const Inst& inst) {
  ValueId operand = source_.operand(inst, 0);
  ValueId from = Get(operand);
  Type element = source_.type(operand).element();
  bool is_half = Contains(sets::Half, element.scalar);
  Type wide = is_half ? types::F32 : element;
  size_t axis = static_cast<size_t>(source_.word(inst, 1));
  int64_t chains = source_.word(inst, 2);
  CHECK(std::has_single_bit(static_cast<uint64_t>(chains)));
  IndexExprs sizes = SizesOf(operand);
  std::span<const IndexExpr> all(sizes);
  IndexExpr length = sizes[axis];
  Target target = Start(inst);
  if (target.count.is(0)) return;
  IndexExpr outer = math_.Product(all.first(axis));
  IndexExpr inner = math_.Product(all.subspan(axis + 1));
  const auto kind = static_cast<ReduceKind>(source_.word(inst, 0));
  if (folds_ == Folds::KeepRows && chains == 1 &&
      ColumnFolds::IsWanted(length, source_.word(inst, 3), inner))
    return ReduceColumns(inst, target);
  FoldLoops fold(builder_, kind, wide, ChainsOf(chains, length), source_.word(inst, 3), inst.op);
  // Whoever has a form of its own for folds is given one; a few elements are no work for it.
  const bool is_fold = folds_ != Folds::Expand && chains > 1 && IsFloat(wide.scalar) &&
                       !(length.known() && length.constant < FewestFolded);
  // Lines that share scratch come one after the other.
  const bool has_scratch = !is_fold && fold.Prepare(length, target.count);
  const Order order = has_scratch ? Order::Sequential : Order::Independent;
  IndexExprs nest = {outer, inner};
  math_.Nest(nest, order, [&](std::span<const IndexExpr> at) {
    IndexExpr start = math_.Add(math_.Mul(math_.Mul(at[0], length), inner), at[1]);
    const auto load = [&](IndexExpr e) {
      return Load(from, math_.Add(start, math_.Mul(e, inner)));
    };
    ValueId result;
    if (is_fold) {
      result = builder_.Fold(kind, element, math_.Value(length), static_cast<uint64_t>(chains),
                             static_cast<uint64_t>(source_.word(inst, 3)),
                             [&](ValueId e) { return load(IndexExpr::Of(e)); });
    } else {
      result = fold.Line(length, [&](IndexExpr e) {
        return is_half ? builder_.Cast(Op::Cast, load(e), wide) : load(e);
      });
      if (is_half) result = builder_.Cast(Op::Cast, result, element);
    }
    Store(target.buffer, math_.Add(math_.Mul(at[0], inner), at[1]), result);
  });
}

void TensorLowering::ReduceColumns(const Inst& inst, const Target& target) {
  const ValueId operand = source_.operand(inst, 0);
  const ValueId from = Get(operand);
  const Type element = source_.type(operand).element();
  const bool is_half = Contains(sets::Half, element.scalar);
  const Type wide = is_half ? types::F32 : element;
  const auto axis = static_cast<size_t>(source_.word(inst, 1));
  const IndexExprs sizes = SizesOf(operand);
  const IndexExpr length = sizes[axis], width = math_.Product(std::span(sizes).subspan(axis + 1)),
                  matrices = math_.Product(std::span(sizes).first(axis));
  ColumnFolds fold(builder_, {{static_cast<ReduceKind>(source_.word(inst, 0)), wide}}, length,
                   source_.word(inst, 3), inst.op);
  fold.Prepare(matrices, width);
  math_.Loop(matrices, Order::Independent, [&](IndexExpr matrix) {
    fold.ForTiles([&](IndexExpr start, IndexExpr count) {
      fold.Fold(matrix, start, count, [&](IndexExpr row, IndexExpr column) {
        const IndexExpr line = math_.Add(math_.Mul(matrix, length), row);
        const ValueId value = Load(from, math_.Add(math_.Mul(line, width), column));
        return Values{is_half ? builder_.Cast(Op::Cast, value, wide) : value};
      });
      math_.Loop(count, Order::Independent, [&](IndexExpr c) {
        const IndexExpr column = math_.Add(start, c);
        const ValueId result = fold.Result(0, matrix, column);
        Store(target.buffer, math_.Add(math_.Mul(matrix, width), column),
              is_half ? builder_.Cast(Op::Cast, result, element) : result);
      });
    });
  });
}

}  // namespace frazil::ir
