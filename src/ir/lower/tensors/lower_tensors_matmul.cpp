// Products of matrices. One that is only read element by element, each where an element of the same place is made of it, is
// never stored: its chains stand in the loops of what is made of them, so that no target writes it and reads it again.
#include <algorithm>

#include "ir/lower/can_trap.h"
#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

// Scalars only, and nothing that runs more than once: a loop beside the chain would keep it from being a product.
bool IsPlain(const Function& function, RegionId region) {
  return std::ranges::all_of(function.region(region).insts, [&](InstId id) {
    const Inst& inst = function.inst(id);
    if (inst.regions.count != 0 && inst.op != Op::If) return false;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (!IsPlain(function, Function::region_of(inst, r))) return false;
    return true;
  });
}

bool Mentions(const Function& function, ValueId index, ValueId param, int depth = 0) {
  constexpr int MostDepth = 16;
  if (index == param || depth > MostDepth) return true;
  const InstId def = function.values[index.index].def;
  return def.valid() &&
         std::ranges::any_of(function.operands_of(function.inst(def)), [&](ValueId operand) {
           return Mentions(function, operand, param, depth + 1);
         });
}

// Neighboring columns read neighbors, or the same element.
bool ReadsSideBySide(const Function& function, const Inst& extract, ValueId column) {
  for (uint32_t i = 1; i < extract.operands.count; ++i) {
    const ValueId index = function.operand(extract, i);
    if (i + 1 == extract.operands.count && index == column) continue;
    if (Mentions(function, index, column)) return false;
  }
  return true;
}

bool AllSideBySide(const Function& function, RegionId region, ValueId column) {
  return std::ranges::all_of(function.region(region).insts, [&](InstId id) {
    const Inst& inst = function.inst(id);
    if (inst.op == Op::Extract && !ReadsSideBySide(function, inst, column)) return false;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (!AllSideBySide(function, Function::region_of(inst, r), column)) return false;
    return true;
  });
}

}  // namespace

// Finds the products whose chains stand elsewhere. One to a `generate` or `map`: a second one is an operand as any other.
void TensorLowering::DeferProducts() {
  std::vector<RegionId> home(source_.insts.size());
  std::vector<InstId> owner(source_.regions.size());
  for (uint32_t r = 0; r < source_.regions.size(); ++r)
    for (InstId id : source_.regions[r].insts) home[id.index] = RegionId(r);
  for (uint32_t i = 0; i < source_.insts.size(); ++i)
    for (uint32_t r = 0; r < source_.insts[i].regions.count; ++r)
      owner[Function::region_of(source_.insts[i], r).index] = InstId(i);
  std::vector<bool> has_product(source_.insts.size(), false);
  for (uint32_t p = 0; p < source_.insts.size(); ++p) {
    const Inst& product = source_.insts[p];
    if (product.op != Op::Matmul || !home[p].valid()) continue;
    // Whoever makes something of all of its elements: the only one that reads it.
    InstId maker;
    bool is_good = true;
    for (uint32_t u = 0; u < source_.insts.size() && is_good; ++u) {
      const Inst& user = source_.insts[u];
      if (!home[u].valid() ||
          std::ranges::find(source_.operands_of(user), Function::result_of(product)) ==
              source_.operands_of(user).end())
        continue;
      const InstId made_by = user.op == Op::Extract ? owner[home[u].index] : InstId(u);
      is_good = made_by.valid() && (!maker.valid() || maker == made_by) &&
                home[made_by.index] == home[p] &&
                TakesElements(source_.inst(made_by), user, product);
      maker = made_by;
    }
    if (!is_good || !maker.valid() || has_product[maker.index]) continue;
    if (!IsMadeOfColumns(source_.inst(maker))) continue;
    has_product[maker.index] = true;
    deferred_.insert(Function::result_of(product).index);
  }
}

// Does the maker take the product's element where it makes its own?
bool TensorLowering::TakesElements(const Inst& maker, const Inst& user, const Inst& product) const {
  const Shape& shape = source_.shape(product.type);
  if (maker.op == Op::Map) return &maker == &user && source_.shape(maker.type) == shape;
  if (maker.op != Op::Generate) return false;
  const Region& region = source_.region(Function::region_of(maker, 0));
  if (!TakesIndices(user, region)) return false;
  for (uint32_t k = 0; k < maker.results.count; ++k)
    if (source_.shape(source_.type(Function::result_of(maker, k))) != shape) return false;
  return true;
}

bool TensorLowering::IsMadeOfColumns(const Inst& maker) {
  const RegionId id = Function::region_of(maker, 0);
  if (!IsPlain(source_, id)) return false;
  if (maker.op == Op::Map) return !CanTrap(source_, id);
  NoteBounds(maker);
  const Region& region = source_.region(id);
  return CannotTrap(id) &&
         AllSideBySide(source_, id, Function::param_of(region, region.params.count - 1));
}

// A product with everything that is made of its elements.
Result<void> TensorLowering::LowerMapOfProduct(const Inst& inst) {
  const RegionId region = Function::region_of(inst, 0);
  const std::span<const ValueId> operands = source_.operands_of(inst);
  const Target target = Start(inst);
  const IndexExprs sizes = SizesOf(Function::result_of(inst));
  const IndexExprs strides = math_.Strides(sizes);
  Result<void> status;
  math_.Nest(sizes, Order::Independent, [&](std::span<const IndexExpr> at) {
    const IndexExpr element = math_.Dot(at, strides);
    for (uint32_t p = 0; p < operands.size(); ++p) {
      const InstId def = source_.values[operands[p].index].def;
      BindNamed(Function::param_of(source_.region(region), p),
                deferred_.contains(operands[p].index) ? ProductAt(source_.inst(def), at)
                                                      : Load(Get(operands[p]), element));
    }
    auto yielded = CopyUntilYield(region);
    if (yielded)
      Store(target.buffer, element, Get((*yielded)[0]));
    else
      status = std::unexpected(yielded.error());
  });
  return status;
}

void TensorLowering::LowerMatmul(const Inst& inst) {
  if (deferred_.contains(Function::result_of(inst).index)) return;
  const Target target = Start(inst);
  const IndexExprs sizes = SizesOf(Function::result_of(inst));
  const size_t rank = sizes.size();
  const IndexExpr batches = math_.Product(std::span(sizes).first(rank - 2));
  const IndexExprs nest = {batches, sizes[rank - 2], sizes[rank - 1]};
  math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
    const IndexExpr row = math_.Add(math_.Mul(at[0], nest[1]), at[1]);
    const ValueId sum = ProductAt(inst, at);
    Store(target.buffer, math_.Add(math_.Mul(row, nest[2]), at[2]), sum);
  });
}

// One chain for an output, k ascending; `at` is its place, batches as many as there are or as one.
ValueId TensorLowering::ProductAt(const Inst& inst, std::span<const IndexExpr> at) {
  const ValueId old_left = source_.operand(inst, 0);
  const ValueId old_right = source_.operand(inst, 1);
  if (IsReadInPlace(old_left) || IsReadInPlace(old_right))
    return ProductInPlaceAt(inst, at[at.size() - 2], at[at.size() - 1]);
  const ValueId left = Get(old_left);
  const ValueId right = Get(old_right);
  const Chain chain(*this, source_.type(old_left).element(), inst.op == Op::Matmul);
  const IndexExprs sizes = SizesOf(Function::result_of(inst));
  const size_t rank = sizes.size();
  const IndexExpr depth = SizesOf(old_left)[rank - 1];
  const IndexExpr columns = sizes[rank - 1];
  IndexExpr batch = at[0];
  if (at.size() == rank) {
    const std::span leading = std::span(sizes).first(rank - 2);
    batch = math_.Dot(at.first(rank - 2), math_.Strides(leading));
  }
  const IndexExpr row = math_.Add(math_.Mul(batch, sizes[rank - 2]), at[at.size() - 2]);
  const IndexExpr left_start = math_.Mul(row, depth);
  const IndexExpr right_start =
      math_.Add(math_.Mul(batch, math_.Mul(depth, columns)), at[at.size() - 1]);
  const ValueId zero = chain.Zero();
  const ValueId sum = chain.Loop(depth, zero, [&](IndexExpr k, ValueId acc) {
    const ValueId a = chain.Load(left, math_.Add(left_start, k));
    const ValueId b = chain.Load(right, math_.Add(right_start, math_.Mul(k, columns)));
    return chain.Step(a, b, acc);
  });
  return chain.Rounded(sum);
}

}  // namespace frazil::ir
