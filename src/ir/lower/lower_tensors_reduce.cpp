// Reduce, in exactly the tree of [tensor.reduce] (fold_loops.h).
#include <bit>

#include "base/check.h"
#include "ir/lower/fold_loops.h"
#include "ir/lower/lower_tensors.h"

namespace frazil::ir {

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
  FoldLoops fold(builder_, static_cast<ReduceKind>(source_.word(inst, 0)), wide,
                 ChainsOf(chains, length), source_.word(inst, 3), inst.op);
  // Lines that share scratch come one after the other.
  Order order = fold.Prepare(length, target.count) ? Order::Sequential : Order::Independent;
  IndexExprs nest = {outer, inner};
  math_.Nest(nest, order, [&](std::span<const IndexExpr> at) {
    IndexExpr start = math_.Add(math_.Mul(math_.Mul(at[0], length), inner), at[1]);
    ValueId result = fold.Line(length, [&](IndexExpr e) {
      ValueId value = Load(from, math_.Add(start, math_.Mul(e, inner)));
      return is_half ? builder_.Cast(Op::Cast, value, wide) : value;
    });
    if (is_half) result = builder_.Cast(Op::Cast, result, element);
    Store(target.buffer, math_.Add(math_.Mul(at[0], inner), at[1]), result);
  });
}

}  // namespace frazil::ir
