// Tensor ops that compute: map, matmul, iota, the random fills.
#include "ir/lower/can_trap.h"
#include "ir/lower/lower_tensors.h"

namespace frazil::ir {
Result<void> TensorLowering::LowerMap(const Inst& inst) {
  RegionId region = Function::region_of(inst, 0);
  Values tensors = GetAll(source_.operands_of(inst));
  Target target = Start(inst);
  Result<void> status;
  Order order = CanTrap(source_, region) ? Order::Sequential : Order::Independent;
  math_.Loop(target.count, order, [&](IndexExpr i) {
    for (uint32_t p = 0; p < tensors.size(); ++p)
      BindNamed(Function::param_of(source_.region(region), p), Load(tensors[p], i));
    auto yielded = CopyUntilYield(region);
    if (yielded)
      Store(target.buffer, i, Get((*yielded)[0]));
    else
      status = std::unexpected(yielded.error());
  });
  return status;
}

// One chain for each output, k ascending. f16 and bf16 widen exactly, so their chain is one of f32,
// which is rounded once at the end.
void TensorLowering::LowerMatmul(const Inst& inst) {
  ValueId old_left = source_.operand(inst, 0);
  ValueId left = Get(old_left);
  ValueId right = Get(source_.operand(inst, 1));
  Type element = source_.type(old_left).element();
  bool is_half = Contains(sets::Half, element.scalar);
  Type wide = is_half ? types::F32 : element;
  bool has_fma = IsFloat(wide.scalar) && inst.op == Op::Matmul;
  Target target = Start(inst);
  IndexExprs left_sizes = SizesOf(old_left);
  IndexExprs sizes = SizesOf(Function::result_of(inst));
  size_t rank = sizes.size();
  IndexExpr depth = left_sizes[rank - 1];
  IndexExpr columns = sizes[rank - 1];
  IndexExpr rows = sizes[rank - 2];
  IndexExpr batches = math_.Product(std::span(sizes).first(rank - 2));
  IndexExpr right_size = math_.Mul(depth, columns);
  IndexExprs nest = {batches, rows, columns};
  auto widened = [&](ValueId buffer, IndexExpr index) {
    ValueId value = Load(buffer, index);
    return is_half ? builder_.Cast(Op::Cast, value, wide) : value;
  };
  math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
    IndexExpr row = math_.Add(math_.Mul(at[0], rows), at[1]);
    IndexExpr left_start = math_.Mul(row, depth);
    IndexExpr right_start = math_.Add(math_.Mul(at[0], right_size), at[2]);
    ValueId zero = Zero(wide);
    ValueId lo = math_.Value(IndexExpr::Known(0));
    Values sum = builder_.For(
        lo, math_.Value(depth), 1, std::span(&zero, 1),
        [&](ValueId k, std::span<const ValueId> acc) {
          ValueId a = widened(left, math_.Add(left_start, IndexExpr::Of(k)));
          IndexExpr right_index = math_.Add(right_start, math_.Mul(IndexExpr::Of(k), columns));
          ValueId b = widened(right, right_index);
          if (has_fma) return Values{builder_.Emit1(Op::Fma, wide, {a, b, acc[0]}, wide)};
          ValueId product = builder_.Binary(Op::Mul, a, b);
          return Values{builder_.Binary(Op::Add, acc[0], product)};
        });
    ValueId result = is_half ? builder_.Cast(Op::Cast, sum[0], element) : sum[0];
    Store(target.buffer, math_.Add(math_.Mul(row, columns), at[2]), result);
  });
}

void TensorLowering::LowerIota(const Inst& inst) {
  Target target = Start(inst);
  ValueId result = Function::result_of(inst);
  Type element = source_.type(result).element();
  IndexExprs sizes = SizesOf(result);
  size_t axis = static_cast<size_t>(source_.word(inst, 0));
  std::span<const IndexExpr> all(sizes);
  IndexExpr outer = math_.Product(all.first(axis));
  IndexExpr inner = math_.Product(all.subspan(axis + 1));
  IndexExpr size = sizes[axis];
  IndexExprs nest = {outer, size, inner};
  math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
    ValueId position = math_.Value(at[1]);
    if (element != types::Index) position = builder_.Cast(Op::Cast, position, element);
    IndexExpr row = math_.Add(math_.Mul(at[0], size), at[1]);
    Store(target.buffer, math_.Add(math_.Mul(row, inner), at[2]), position);
  });
}

void TensorLowering::LowerRandom(const Inst& inst) {
  ValueId seed = Get(source_.operand(inst, 0));
  ValueId draw = Get(source_.operand(inst, 1));
  Target target = Start(inst);
  Type element = source_.type(Function::result_of(inst)).element();
  Op op = inst.op == Op::TensorUniform ? Op::RandomUniform : Op::RandomNormal;
  math_.Loop(target.count, Order::Independent, [&](IndexExpr i) {
    ValueId number = builder_.Cast(Op::Cast, math_.Value(i), types::U64);
    Store(target.buffer, i, builder_.Emit1(op, element, {seed, draw, number}, element));
  });
}

}  // namespace frazil::ir
