#include "generator/tensor_graph_internal.h"

namespace frazil::generator {

using namespace ir::names;
using ir::Dim;
using ir::Shape;
using ir::Values;

void TensorGraph::Move() {
  const ValueId tensor = Some();
  switch (random_.Below(8)) {
    case 0:
    case 1: return Transpose(tensor);
    case 2:
    case 3: return Slice(tensor);
    case 4: return Reshape(tensor);
    case 5: return random_.Chance(50) ? Concat(tensor) : Gather(tensor);
    case 6: {
      const Shape shape = ShapeOf(tensor);
      if (shape.empty() || !ir::IsFixedInt(element_.scalar)) return;
      return Add(Op::Iota, shape, {}, {random_.Below(shape.size())});
    }
    default:
      if (element_.scalar != Scalar::F32 && element_.scalar != Scalar::F64) return;
      return Add(Op::TensorUniform, ShapeOf(tensor), {seed_, seed_});
  }
}

void TensorGraph::Transpose(ValueId tensor) {
  const Shape shape = ShapeOf(tensor);
  std::vector<uint64_t> perm;
  Shape to;
  const uint64_t turn = shape.empty() ? 0 : random_.Below(shape.size());
  for (uint64_t i = 0; i < shape.size(); ++i) perm.push_back((i + turn) % shape.size());
  if (shape.size() > 1 && random_.Chance(30)) std::swap(perm[0], perm[1]);
  for (uint64_t axis : perm) to.push_back(shape[axis]);
  Add(Op::Transpose, to, {tensor}, perm);
}

// From any element on, by steps of up to 3, forward or back. Of a symbolic axis everything, or (a trap where it is shorter) its
// first elements.
void TensorGraph::Slice(ValueId tensor) {
  const Shape shape = ShapeOf(tensor);
  std::vector<uint64_t> starts, steps;
  Shape to;
  for (Dim dim : shape) {
    const bool takes_some = dim.is_symbol() && options_.allow_traps && random_.Chance(10);
    if ((dim.is_symbol() && !takes_some) || (!dim.is_symbol() && dim.value < 2)) {
      starts.push_back(0), steps.push_back(1), to.push_back(dim);
      continue;
    }
    const int64_t size = dim.is_symbol() ? 2 : dim.value;
    const int64_t step = random_.Chance(50) ? 1 : random_.Between(1, 3);
    const int64_t start = random_.Between(0, size - 1);
    const bool is_back = random_.Chance(30);
    const int64_t most = (is_back ? start : size - 1 - start) / step + 1;
    starts.push_back(static_cast<uint64_t>(start));
    steps.push_back(static_cast<uint64_t>(is_back ? -step : step));
    to.push_back(Dim::Constant(random_.Chance(60) ? most : random_.Between(1, most)));
  }
  starts.insert(starts.end(), steps.begin(), steps.end());
  Add(Op::Slice, to, {tensor}, starts);
}

void TensorGraph::Reshape(ValueId tensor) {
  const Shape shape = ShapeOf(tensor);
  Shape to;
  for (Dim dim : shape) {
    if (random_.Chance(30)) to.push_back(Dim::Constant(1));
    if (!dim.is_symbol() && dim.value == 12 && random_.Chance(70)) {
      to.insert(to.end(), {Dim::Constant(3), Dim::Constant(4)});
    } else {
      to.push_back(dim);
    }
  }
  if (to.size() > 4) return;
  // Or the other way round.
  if (shape.size() > 1 && random_.Chance(30) && !shape[0].is_symbol() && !shape[1].is_symbol()) {
    to.assign(shape.begin() + 1, shape.end());
    to[0] = Dim::Constant(shape[0].value * shape[1].value);
  } else if (shape.size() == 2 && random_.Chance(15)) {
    // Other rows of the same elements: no index is a sum of others.
    to = {shape[1], shape[0]};
  }
  Add(Op::Reshape, to, {tensor});
}

void TensorGraph::Concat(ValueId tensor) {
  Shape shape = ShapeOf(tensor);
  for (uint64_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis].is_symbol() || shape[axis].value > 70) continue;
    const ValueId other = Fitting(shape);
    shape[axis] = Dim::Constant(2 * shape[axis].value);
    return Add(Op::Concat, shape, {tensor, other}, {axis});
  }
}

void TensorGraph::Gather(ValueId tensor) {
  Shape shape = ShapeOf(tensor);
  for (uint64_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis].is_symbol() || shape[axis].value == 0) continue;
    const Type picks = Type::Tensor(ir::types::Index, b_.AddShape({SomeSize()}));
    const ValueId count = b_.Emit1(Op::Iota, picks, {}, picks, {0});
    const ValueId size = b_.ConstInt(ir::types::Index, shape[axis].value);
    const ValueId by = b_.ConstInt(ir::types::Index, random_.Between(1, 5));
    const ValueId inside =
        b_.Map(std::span(&count, 1), picks, [&](std::span<const ValueId> elements) {
          return Values{b_.Binary(Op::RemFloor, b_.Binary(Op::Mul, elements[0], by), size)};
        });
    shape[axis] = b_.function().shape(picks)[0];
    return Add(Op::Gather, shape, {tensor, inside}, {axis});
  }
}

}  // namespace frazil::generator
