// Tensor ops that compute: map, iota, the random fills.
#include <algorithm>

#include "ir/lower/can_trap.h"
#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
Result<void> TensorLowering::LowerMap(const Inst& inst) {
  if (std::ranges::any_of(source_.operands_of(inst),
                          [&](ValueId operand) { return deferred_.contains(operand.index); }))
    return LowerMapOfProduct(inst);
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

// --- chains of products -------------------------------------------------------------------------------------------
// f16 and bf16 widen exactly, so their chain is one of f32, which is rounded once at the end.
TensorLowering::Chain::Chain(TensorLowering& lowering, Type element, bool is_fused)
    : lowering_(lowering), element_(element) {
  is_half_ = Contains(sets::Half, element.scalar);
  wide_ = is_half_ ? types::F32 : element;
  has_fma_ = IsFloat(wide_.scalar) && is_fused;
}

ValueId TensorLowering::Chain::Zero() const { return lowering_.Zero(wide_); }

ValueId TensorLowering::Chain::Loop(IndexExpr count, ValueId acc,
                                    const std::function<ValueId(IndexExpr, ValueId)>& body) const {
  const ValueId lo = lowering_.math_.Value(IndexExpr::Known(0));
  return lowering_.builder_.For(lo, lowering_.math_.Value(count), 1, std::span(&acc, 1),
                                [&](ValueId k, std::span<const ValueId> carried) {
                                  return Values{body(IndexExpr::Of(k), carried[0])};
                                })[0];
}

ValueId TensorLowering::Chain::Load(ValueId buffer, IndexExpr index) const {
  const ValueId value = lowering_.Load(buffer, index);
  return is_half_ ? lowering_.builder_.Cast(Op::Cast, value, wide_) : value;
}

ValueId TensorLowering::Chain::Step(ValueId a, ValueId b, ValueId acc) const {
  FunctionBuilder& builder = lowering_.builder_;
  if (has_fma_) return builder.Emit1(Op::Fma, wide_, {a, b, acc}, wide_);
  const ValueId product = builder.Binary(Op::Mul, a, b);
  return builder.Binary(Op::Add, acc, product);
}

ValueId TensorLowering::Chain::Rounded(ValueId sum) const {
  return is_half_ ? lowering_.builder_.Cast(Op::Cast, sum, element_) : sum;
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
