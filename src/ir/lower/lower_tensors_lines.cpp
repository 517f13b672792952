// Ops along one axis: scan and scatter.
#include "ir/lower/lower_tensors.h"

namespace frazil::ir {

// A line is one chain; where the elements of lines lie side by side (another axis than the last) all lines advance together,
// from the line of sums before.
void TensorLowering::LowerScan(const Inst& inst) {
  const ValueId operand = source_.operand(inst, 0);
  const ValueId from = Get(operand);
  const Type element = inst.type.element();
  const bool is_half = Contains(sets::Half, element.scalar);
  const Type wide = is_half ? types::F32 : element;
  const Op combiner = CombinerOf(static_cast<ReduceKind>(source_.word(inst, 0)));
  const size_t axis = static_cast<size_t>(source_.word(inst, 1));
  const IndexExprs sizes = SizesOf(operand);
  const std::span<const IndexExpr> all(sizes);
  const IndexExpr length = sizes[axis];
  const Target target = Start(inst);
  if (target.count.is(0)) return;
  const IndexExpr outer = math_.Product(all.first(axis));
  const IndexExpr inner = math_.Product(all.subspan(axis + 1));
  const IndexExprs nest = {outer, inner};
  const auto line = [&](std::span<const IndexExpr> at) {
    const IndexExpr start = math_.Add(math_.Mul(math_.Mul(at[0], length), inner), at[1]);
    const auto place = [&](IndexExpr e) { return math_.Add(start, math_.Mul(e, inner)); };
    const auto load = [&](IndexExpr e) {
      const ValueId value = Load(from, place(e));
      return is_half ? builder_.Cast(Op::Cast, value, wide) : value;
    };
    const auto store = [&](IndexExpr e, ValueId value) {
      const ValueId rounded = is_half ? builder_.Cast(Op::Cast, value, element) : value;
      Store(target.buffer, place(e), rounded);
    };
    const ValueId first = load(IndexExpr::Known(0));
    store(IndexExpr::Known(0), first);
    if (length.is(1)) return;
    builder_.For(math_.Value(IndexExpr::Known(1)), math_.Value(length), 1, std::span(&first, 1),
                 [&](ValueId e, std::span<const ValueId> sum) {
                   const ValueId next = builder_.Binary(combiner, sum[0], load(IndexExpr::Of(e)));
                   store(IndexExpr::Of(e), next);
                   return Values{next};
                 });
  };
  WhereAny(target.count, [&] { math_.Nest(nest, Order::Independent, line); });
}

// Of no lines there may be any number.
void TensorLowering::WhereAny(IndexExpr count, const std::function<void()>& lines) {
  if (count.known()) return lines();
  builder_.If(
      math_.Compare(Op::Gt, count, IndexExpr::Known(0)), {}, [&] { return lines(), Values(); },
      [] { return Values(); });
}

void TensorLowering::LowerScatter(const Inst& inst) {
  const ValueId base = Get(source_.operand(inst, 0));
  const ValueId old_indices = source_.operand(inst, 1);
  const ValueId indices = Get(old_indices);
  const ValueId updates = Get(source_.operand(inst, 2));
  const auto combiner = CombinerOf(static_cast<ScatterKind>(source_.word(inst, 0)));
  const size_t axis = static_cast<size_t>(source_.word(inst, 1));
  const Target target = Start(inst);
  const IndexExprs sizes = SizesOf(inst.type);
  const std::span<const IndexExpr> all(sizes);
  const IndexExpr outer = math_.Product(all.first(axis));
  const IndexExpr inner = math_.Product(all.subspan(axis + 1));
  const IndexExpr picks = math_.Product(SizesOf(old_indices));
  CopyElements(base, target.buffer, target.count);
  const IndexExprs nest = {outer, picks, inner};
  math_.Nest(nest, Order::Sequential, [&](std::span<const IndexExpr> at) {
    const IndexExpr pick = IndexExpr::Of(Load(indices, at[1]));
    const ValueId within = AllWithin(std::span(&pick, 1), std::span(&sizes[axis], 1));
    const IndexExpr row = math_.Add(math_.Mul(at[0], sizes[axis]), pick);
    ValueId index = math_.Value(math_.Add(math_.Mul(row, inner), at[2]));
    index = builder_.Select(within, index, math_.Value(IndexExpr::Known(-1)));
    // It traps where the pick is outside, whatever is made of the old element.
    const ValueId old = CheckedLoad(target.buffer, index);
    const IndexExpr from = math_.Add(math_.Mul(at[0], picks), at[1]);
    const ValueId update = Load(updates, math_.Add(math_.Mul(from, inner), at[2]));
    builder_.Store(target.buffer, index,
                   combiner ? builder_.Binary(*combiner, old, update) : update);
  });
}

}  // namespace frazil::ir
