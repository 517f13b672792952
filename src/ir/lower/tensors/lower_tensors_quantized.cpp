// Products of quantized weights: the exact dot of each group of 32 as a chain of i32, then one step of the chain of f32.
#include "ir/conv.h"
#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {

void TensorLowering::LowerMatmulQ(const Inst& inst) {
  const bool has_nibbles = source_.word(inst, 0) == 4;
  const IndexExprs sizes = SizesOf(inst.type);
  const IndexExpr depth = SizesOf(source_.operand(inst, 0))[1];
  const IndexExpr groups = SizesOf(source_.operand(inst, 1))[1];
  const IndexExpr bytes = SizesOf(source_.operand(inst, 2))[1];
  const IndexExpr group_size = IndexExpr::Known(QuantizedGroup);
  // Whatever the symbols are: groups of 32, and as many bytes as there are weights, or half as many.
  AssertEqual(math_.FloorDiv(depth, QuantizedGroup), groups);
  AssertEqual(math_.Mul(math_.FloorDiv(depth, QuantizedGroup), group_size), depth);
  if (has_nibbles) AssertEqual(math_.FloorDiv(depth, 2), bytes);
  const ValueId a = Get(source_.operand(inst, 0)), a_scales = Get(source_.operand(inst, 1));
  const ValueId w = Get(source_.operand(inst, 2)), w_scales = Get(source_.operand(inst, 3));
  const Target target = Start(inst);
  const auto product = [&](IndexExpr a_index, ValueId weight, ValueId dot) {
    const ValueId number = builder_.Cast(Op::Cast, Load(a, a_index), types::I32);
    return builder_.Binary(Op::Add, dot, builder_.Binary(Op::Mul, number, weight));
  };
  // Two's complement of four bits: flipping the sign bit and taking it off again extends it.
  const auto nibble = [&](ValueId bits) {
    const ValueId sign = builder_.ConstInt(types::I32, 8);
    return builder_.Binary(Op::Sub, builder_.Binary(Op::Xor, bits, sign), sign);
  };
  const IndexExprs nest = {sizes[0], sizes[1]};
  math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
    const IndexExpr a_row = math_.Mul(at[0], depth), w_row = math_.Mul(at[1], bytes);
    const IndexExpr a_group = math_.Mul(at[0], groups), w_group = math_.Mul(at[1], groups);
    const ValueId lo = math_.Value(IndexExpr::Known(0));
    const ValueId zero = Zero(types::F32);
    const ValueId none = Zero(types::I32);
    const int64_t steps = has_nibbles ? QuantizedGroup / 2 : QuantizedGroup;
    const ValueId step_count = math_.Value(IndexExpr::Known(steps));
    const Values sum = builder_.For(
        lo, math_.Value(groups), 1, std::span(&zero, 1),
        [&](ValueId g, std::span<const ValueId> acc) {
          const IndexExpr group = IndexExpr::Of(g);
          const IndexExpr a_start = math_.Add(a_row, math_.Mul(group, group_size));
          const IndexExpr w_start = math_.Add(w_row, math_.Mul(group, IndexExpr::Known(steps)));
          const Values dot =
              builder_.For(lo, step_count, 1, std::span(&none, 1),
                           [&](ValueId e, std::span<const ValueId> carried) {
                             const IndexExpr step = IndexExpr::Of(e);
                             const ValueId byte = builder_.Cast(
                                 Op::Cast, Load(w, math_.Add(w_start, step)), types::I32);
                             if (!has_nibbles)
                               return Values{product(math_.Add(a_start, step), byte, carried[0])};
                             const IndexExpr even = math_.Add(a_start, math_.Add(step, step));
                             const IndexExpr odd = math_.Add(even, IndexExpr::Known(1));
                             const ValueId low =
                                 builder_.Binary(Op::And, byte, builder_.ConstInt(types::I32, 15));
                             const ValueId high =
                                 builder_.Binary(Op::Shr, byte, builder_.ConstInt(types::I32, 4));
                             const ValueId first = product(even, nibble(low), carried[0]);
                             return Values{product(odd, nibble(high), first)};
                           });
          const ValueId a_scale = Load(a_scales, math_.Add(a_group, group));
          const ValueId w_scale = Load(w_scales, math_.Add(w_group, group));
          const ValueId scale = builder_.Binary(Op::Mul, a_scale, w_scale);
          const ValueId number = builder_.Cast(Op::Cast, dot[0], types::F32);
          return Values{builder_.Emit1(Op::Fma, types::F32, {scale, number, acc[0]}, types::F32)};
        });
    Store(target.buffer, math_.Add(math_.Mul(at[0], sizes[1]), at[1]), sum[0]);
  });
}

}  // namespace frazil::ir
