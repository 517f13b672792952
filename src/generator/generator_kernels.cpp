// Convolution, scan, sort, scatter and quantized products, as generator_tensor.cpp makes the others.
#include <algorithm>

#include "generator/generator_internal.h"
#include "ir/conv.h"

namespace frazil::generator {

using namespace ir::names;
using ir::Contains;
using ir::Dim;
using ir::Shape;
using ir::Values;
namespace sets = ir::sets;
namespace types = ir::types;

namespace {
constexpr auto FoldTypes = sets::Fixed | sets::Float | sets::Fields | sets::Bool;
}  // namespace

bool FunctionGenerator::EmitConv() {
  Random& random = state_.random;
  bool found = false;
  const Type element = PoolType(sets::Fixed | sets::Float | sets::Fields, &found);
  if (!found || weight_ > 20) return false;
  ir::ConvSpec spec;
  spec.groups = random.Chance(30) ? 2 : 1;
  const auto count = [&](int64_t least, int64_t most) {
    return Dim::Constant(random.Between(least, most));
  };
  const bool is_plain = spec.groups == 1;
  Shape kernel = {is_plain && random.Chance(40) ? RandomDim()
                                                : Dim::Constant(spec.groups * random.Between(0, 2)),
                  is_plain && random.Chance(30) ? RandomDim() : count(0, 2), count(1, 3),
                  count(1, 3)};
  Shape image = {RandomDim(), is_plain ? kernel[1] : Dim::Constant(spec.groups * kernel[1].value),
                 count(0, 4), count(0, 5)};
  Shape result = {image[0], kernel[0], Dim{}, Dim{}};
  for (uint32_t i = 0; i < 2; ++i) {
    spec.stride[i] = random.Between(1, 2);
    spec.dilation[i] = random.Chance(25) ? 2 : 1;
    spec.before[i] = random.Chance(40) ? random.Between(1, 2) : 0;
    spec.after[i] = random.Chance(40) ? random.Between(1, 2) : 0;
    result[2 + i] = Dim::Constant(spec.OutputSize(i, image[2 + i].value, kernel[2 + i].value));
  }
  // A size that may not fit.
  if (state_.unguarded && !symbols_.empty() && random.Chance(20))
    image[2 + random.Below(2)] = Dim::Symbol(random.Pick(symbols_));
  const ValueId x = TensorOf(element, image);
  const ValueId w = TensorOf(element, kernel);
  AddToScope(b_.Conv(x, w, TensorType(element, result), spec));
  return true;
}

bool FunctionGenerator::EmitScan() {
  const auto tensor = SomeTensor(FoldTypes, 1);
  if (!tensor) return false;
  const Type type = b_.TypeOf(*tensor);
  const auto kind = state_.random.Pick(KindsOf(type));
  const uint64_t axis = state_.random.Below(b_.function().shape(type).size());
  AddToScope(b_.Scan(kind, *tensor, axis));
  return true;
}

bool FunctionGenerator::EmitSort() {
  const auto tensor = SomeTensor(sets::Fixed | sets::Float, 1);
  if (!tensor) return false;
  const Type type = b_.TypeOf(*tensor);
  const uint64_t axis = state_.random.Below(b_.function().shape(type).size());
  for (const ValueId result : b_.Sort(*tensor, axis, state_.random.Chance(50))) AddToScope(result);
  return true;
}

bool FunctionGenerator::EmitScatter() {
  const auto tensor = SomeTensor(sets::Any, 1);
  if (!tensor) return false;
  const Type type = b_.TypeOf(*tensor);
  Shape shape = b_.function().shape(type);
  const uint64_t axis = state_.random.Below(shape.size());
  const auto indices = Picks(shape[axis]);
  if (!indices) return false;
  auto kind = ir::ScatterKind::Set;
  if (Contains(FoldTypes, type.scalar) && state_.random.Chance(70))
    kind = static_cast<ir::ScatterKind>(1 + static_cast<int>(state_.random.Pick(KindsOf(type))));
  shape[axis] = b_.function().shape(b_.TypeOf(*indices))[0];
  const ValueId updates = TensorOf(type.element(), shape);
  AddToScope(b_.Scatter(kind, *tensor, *indices, updates, axis));
  return true;
}

bool FunctionGenerator::EmitMatmulQ() {
  if (weight_ > 20) return false;
  const int64_t groups = state_.random.Between(0, 2);
  const bool has_nibbles = state_.random.Chance(50);
  const Dim rows = RandomDim(), columns = RandomDim();
  const int64_t depth = groups * ir::QuantizedGroup;
  const ValueId a = TensorOf(types::I8, {rows, Dim::Constant(depth)});
  const ValueId a_scales = TensorOf(types::F32, {rows, Dim::Constant(groups)});
  const ValueId w = has_nibbles ? TensorOf(types::U8, {columns, Dim::Constant(depth / 2)})
                                : TensorOf(types::I8, {columns, Dim::Constant(depth)});
  const ValueId w_scales = TensorOf(types::F32, {columns, Dim::Constant(groups)});
  return EmitTensor(Op::MatmulQ, types::F32, {rows, columns}, {a, a_scales, w, w_scales},
                    {has_nibbles ? 4u : 8u});
}

}  // namespace frazil::generator
