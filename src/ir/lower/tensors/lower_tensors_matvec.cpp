// Products of a matrix and a vector whose matrix is only turned around or widened before: it is read where it is, so that no target
// writes it once more: 256 MiB of bf16 that were made f32 first were multiplied at 4.2 GB/s, and are at 17.3. Products of
// more rows read their operands often, and have them made once.
#include <algorithm>

#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

bool IsOfVector(const Function& function, const Inst& product) {
  if (product.op != Op::Matmul) return false;
  const Shape& shape = function.shape(product.type);
  return shape.size() == 2 && IsFloat(product.type.element().scalar) &&
         std::ranges::any_of(shape, [](Dim dim) { return !dim.is_symbol() && dim.value == 1; });
}

// A map that widens every element of a 16-bit float to f32, and does nothing else.
bool OnlyWidens(const Function& function, const Inst& inst) {
  if (inst.op != Op::Map || inst.operands.count != 1) return false;
  const Region& region = function.region(Function::region_of(inst, 0));
  if (region.insts.size() != 2) return false;
  const Inst& cast = function.inst(region.insts[0]);
  return cast.op == Op::Cast && function.operand(cast, 0) == Function::param_of(region, 0) &&
         function.operand(function.inst(region.insts[1]), 0) == Function::result_of(cast) &&
         Contains(sets::Half, function.type(function.operand(cast, 0)).scalar) &&
         function.type(Function::result_of(cast)) == types::F32;
}

bool OnlyTurns(const Function& function, const Inst& inst) {
  return inst.op == Op::Transpose && function.shape(inst.type).size() == 2 &&
         function.word(inst, 0) == 1;
}

}  // namespace

void TensorLowering::FindReadInPlace() {
  std::vector<RegionId> home(source_.insts.size());
  for (uint32_t r = 0; r < source_.regions.size(); ++r)
    for (InstId id : source_.regions[r].insts) home[id.index] = RegionId(r);
  // Backwards: what is read by something that is read in place may be, too.
  for (uint32_t i = static_cast<uint32_t>(source_.insts.size()); i-- > 0;) {
    const Inst& inst = source_.insts[i];
    if (!home[i].valid() || (!OnlyWidens(source_, inst) && !OnlyTurns(source_, inst))) continue;
    const ValueId made = Function::result_of(inst);
    bool is_read = false;
    bool is_good = true;
    for (uint32_t u = 0; u < source_.insts.size(); ++u) {
      const Inst& user = source_.insts[u];
      const std::span<const ValueId> operands = source_.operands_of(user);
      if (!home[u].valid() || std::ranges::find(operands, made) == operands.end()) continue;
      is_read = true;
      is_good = is_good && home[u] == home[i] &&
                (IsOfVector(source_, user) ||
                 (user.results.count == 1 && IsReadInPlace(Function::result_of(user))));
    }
    if (is_read && is_good) read_in_place_.insert(made.index);
  }
}

// Where the elements of a matrix are, and what they are before they are widened.
TensorLowering::Factor TensorLowering::FactorOf(ValueId old_matrix) {
  const IndexExprs sizes = SizesOf(old_matrix);
  if (!IsReadInPlace(old_matrix))
    return {Get(old_matrix), source_.type(old_matrix).element(), sizes[1], IndexExpr::Known(1)};
  const Inst& inst = source_.inst(source_.values[old_matrix.index].def);
  Factor factor = FactorOf(source_.operand(inst, 0));
  if (inst.op == Op::Transpose) std::swap(factor.row, factor.column);
  return factor;
}

// The chain of one output, k ascending.
ValueId TensorLowering::ProductInPlaceAt(const Inst& inst, IndexExpr row, IndexExpr column) {
  const ValueId old_left = source_.operand(inst, 0);
  const Factor left = FactorOf(old_left);
  const Factor right = FactorOf(source_.operand(inst, 1));
  const Type element = inst.type.element();
  const Chain chain(*this, element);
  const Type wide = Contains(sets::Half, element.scalar) ? types::F32 : element;
  const auto read = [&](const Factor& factor, IndexExpr index) {
    const ValueId value = Load(factor.buffer, index);
    return factor.element == wide ? value : builder_.Cast(Op::Cast, value, wide);
  };
  const IndexExpr left_start = math_.Mul(row, left.row);
  const IndexExpr right_start = math_.Mul(column, right.column);
  const ValueId zero = chain.Zero();
  const ValueId sum = chain.Loop(SizesOf(old_left)[1], zero, [&](IndexExpr k, ValueId acc) {
    const ValueId a = read(left, math_.Add(left_start, math_.Mul(k, left.column)));
    const ValueId b = read(right, math_.Add(right_start, math_.Mul(k, right.row)));
    return chain.Step(a, b, acc);
  });
  return chain.Rounded(sum);
}

}  // namespace frazil::ir
