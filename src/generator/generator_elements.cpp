// Tensors and folds by index. Their regions are pure: they read the tensors around them, element by element.
#include <algorithm>
#include <utility>

#include "generator/generator_internal.h"

namespace frazil::generator {

using namespace ir::names;
using ir::Dim;
using ir::Shape;
using ir::Values;
namespace sets = ir::sets;
namespace types = ir::types;

// Statements on scalars in a region whose indices run to `sizes`, with some elements of the tensors around it.
template <typename Body>
Values FunctionGenerator::InElements(std::span<const ValueId> indices, const Shape& sizes,
                                     const Body& body) {
  const std::vector<ValueId> outer = scope_;
  const bool was_scalar_only = std::exchange(scalar_only_, true);
  const uint64_t was_weight = weight_;
  std::erase_if(scope_, [&](ValueId value) { return !b_.TypeOf(value).is_scalar(); });
  scope_.insert(scope_.end(), indices.begin(), indices.end());
  ++nesting_;
  weight_ *= 12;
  for (uint64_t i = 0, n = state_.random.Below(3); i < n; ++i) ReadElement(outer, indices, sizes);
  Statements(static_cast<uint32_t>(state_.random.Below(3)));
  Values values = body(outer);
  --nesting_;
  weight_ = was_weight;
  scalar_only_ = was_scalar_only;
  scope_ = outer;
  return values;
}

void FunctionGenerator::ReadElement(const std::vector<ValueId>& around,
                                    std::span<const ValueId> indices, const Shape& sizes) {
  std::vector<ValueId> tensors;
  for (ValueId value : around)
    if (b_.TypeOf(value).is_tensor()) tensors.push_back(value);
  if (tensors.empty()) return;
  const ValueId tensor = state_.random.Pick(tensors);
  const Shape shape = b_.function().shape(b_.TypeOf(tensor));
  Values operands = {tensor};
  for (Dim dim : shape) {
    // An index that stays within; each of them, so that reads in order and crosswise come about.
    std::vector<ValueId> fitting;
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] == dim) fitting.push_back(indices[i]);
    if (!fitting.empty() && state_.random.Chance(80)) {
      const size_t place = (operands.size() - 1) % fitting.size();
      operands.push_back(state_.random.Chance(70) ? fitting[place] : state_.random.Pick(fitting));
      continue;
    }
    if ((dim.is_symbol() || dim.value == 0) && !state_.unguarded) return;
    const int64_t size = dim.is_symbol() ? 2 : std::max<int64_t>(dim.value, 1);
    operands.push_back(SafeIndex(Int(types::Index, size)));
  }
  const Type element = b_.TypeOf(tensor).element();
  AddToScope(b_.Emit(Op::Extract, element, operands, std::span(&element, 1))[0]);
}

bool FunctionGenerator::EmitGenerate() {
  Random& random = state_.random;
  if (weight_ > 200 || nesting_ >= 3) return false;
  const Shape leading = RandomShape(0, 2);
  std::vector<Type> results, rows;
  for (uint64_t i = 0, n = 1 + (random.Chance(30) ? 1 : 0); i < n; ++i) {
    const Type element = random.Pick(state_.pool);
    Shape rest = random.Chance(50) ? RandomShape(1, 1) : Shape{};
    rows.push_back(rest.empty() ? element : TensorType(element, rest));
    Shape all = leading;
    all.insert(all.end(), rest.begin(), rest.end());
    results.push_back(TensorType(element, all));
  }
  const auto rank = static_cast<uint32_t>(leading.size());
  const Values made = b_.Generate(rank, results, [&](std::span<const ValueId> indices) {
    return InElements(indices, leading, [&](const std::vector<ValueId>& around) {
      return YieldElements(rows, around, indices, leading);
    });
  });
  for (ValueId tensor : made) AddToScope(tensor);
  return true;
}

// Scalars, and rows: each of them made anew, or one that is there.
Values FunctionGenerator::YieldElements(const std::vector<Type>& yields,
                                        const std::vector<ValueId>& around,
                                        std::span<const ValueId> indices, const Shape& sizes) {
  Random& random = state_.random;
  if (random.Chance(35)) EmitFoldOf(around, indices, sizes);
  Values values;
  for (Type type : yields) {
    if (type.is_scalar()) {
      values.push_back(Any(type));
      continue;
    }
    const Shape shape = b_.function().shape(type);
    const auto known = std::ranges::find(around, type, [&](ValueId v) { return b_.TypeOf(v); });
    if (known != around.end() && random.Chance(15)) {
      values.push_back(*known);
      continue;
    }
    // One may read the one before it, as rows do that are made in several steps.
    ValueId row;
    for (uint64_t i = 0, n = 1 + random.Below(2); i < n; ++i) {
      row = b_.Generate(1, std::span(&type, 1), [&](std::span<const ValueId> inner) {
        const size_t mark = scope_.size();
        Values all(indices.begin(), indices.end());
        Shape all_sizes = sizes;
        all.push_back(inner[0]);
        all_sizes.push_back(shape[0]);
        AddToScope(inner[0]);
        if (row.valid()) ReadElement({row}, all, all_sizes);
        ReadElement(around, all, all_sizes);
        Statements(static_cast<uint32_t>(random.Below(2)));
        const ValueId element = Any(type.element());
        scope_.resize(mark);
        return Values{element};
      })[0];
      if (random.Chance(30)) EmitFoldOf({row}, indices, sizes);
    }
    values.push_back(row);
  }
  return values;
}

bool FunctionGenerator::EmitFold() {
  if (weight_ > 200 || nesting_ >= 3) return false;
  return EmitFoldOf(scope_, {}, {});
}

bool FunctionGenerator::EmitFoldOf(const std::vector<ValueId>& around,
                                   std::span<const ValueId> indices, const Shape& sizes) {
  Random& random = state_.random;
  constexpr auto Types = sets::Fixed | sets::Float | sets::Fields | sets::Bool;
  bool found = false;
  const Type type = PoolType(Types, &found);
  if (!found) return false;
  const Dim size = RandomDim();
  const ValueId count = size.is_symbol()    ? b_.Param(size.param())
                        : random.Chance(20) ? SmallCount(types::Index)
                                            : Int(types::Index, size.value);
  uint64_t chains = random.Chance(50) ? 64 : 1ull << random.Below(4), block = 4096;
  if (random.Chance(30)) block = chains * (1 + random.Below(3));
  Values all(indices.begin(), indices.end());
  Shape all_sizes = sizes;
  const std::vector<ValueId> tensors = around;
  const ir::ReduceKind kind = random.Pick(KindsOf(type));
  const ValueId result = b_.Fold(kind, type, count, chains, block, [&](ValueId i) {
    all.push_back(i);
    // Other counts than this size may go beyond it.
    const ir::InstId def = b_.function().values[count.index].def;
    const bool is_exact =
        size.is_symbol() || (def.valid() && b_.function().inst(def).op == Op::Const);
    all_sizes.push_back(is_exact ? size : Dim::Constant(INT64_MAX));
    return InElements(all, all_sizes, [&](const std::vector<ValueId>&) {
      ReadElement(tensors, all, all_sizes);
      return Values{Any(type)};
    })[0];
  });
  AddToScope(result);
  return true;
}

}  // namespace frazil::generator
