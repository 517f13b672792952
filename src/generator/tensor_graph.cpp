#include "generator/tensor_graph.h"

#include <algorithm>

#include "generator/tensor_graph_internal.h"

namespace frazil::generator {

using namespace ir::names;
using ir::Dim;
using ir::Shape;
using ir::Values;

ir::Program TensorGraph::Make() {
  constexpr Scalar Elements[] = {Scalar::F32, Scalar::F64,  Scalar::I32, Scalar::F16,
                                 Scalar::U8,  Scalar::BF16, Scalar::I64, Scalar::Index};
  element_ = Type::Of(random_.Chance(60) ? Scalar::F32 : random_.Pick(Elements));
  AddParams();
  for (int64_t i = 0, n = random_.Between(options_.least, options_.most); i < n; ++i) Statement(0);
  Values results;
  std::vector<Type> types;
  for (uint64_t i = 0, n = 1 + random_.Below(4); i < n; ++i) {
    const size_t back = random_.Below(std::min<size_t>(4, tensors_.size()));
    results.push_back(scalars_.size() > 1 && random_.Chance(8)
                          ? scalars_.back()
                          : tensors_[tensors_.size() - 1 - back]);
    types.push_back(b_.TypeOf(results.back()));
  }
  b_.SetResults(types);
  b_.Return(results);
  b_.Finish();
  return std::move(program_);
}

void TensorGraph::AddParams() {
  for (int i = 0; i < 3; ++i) symbols_.push_back(b_.AddParam(ir::types::Index).index);
  // No argument has the last one, but it is a size, for who makes arguments: a fold of 2^62 elements is no test.
  b_.AddShape({Dim::Symbol(symbols_[2])});
  rows_ = Dim::Symbol(symbols_[0]);
  columns_ = random_.Chance(50) ? Dim::Symbol(symbols_[1]) : SomeSize();
  for (int i = 0; i < 2; ++i) tensors_.push_back(b_.AddParam(Tensor({rows_, columns_})));
  tensors_.push_back(b_.AddParam(Tensor({Dim::Symbol(symbols_[1])})));
  tensors_.push_back(b_.AddParam(Tensor({SomeSize(), rows_, columns_})));
  scalars_.push_back(b_.AddParam(element_));
  seed_ = b_.AddParam(ir::types::U64);
}

Dim TensorGraph::SomeSize() {
  constexpr int64_t Sizes[] = {1, 2, 3, 4, 6, 12, 0, 67};
  return Dim::Constant(Sizes[random_.Below(random_.Chance(80) ? 6 : 8)]);
}

ValueId TensorGraph::Some() {
  const uint64_t a = random_.Below(tensors_.size()), b = random_.Below(tensors_.size());
  return tensors_[std::max(a, b)];
}

void TensorGraph::Add(Op op, const Shape& shape, std::initializer_list<ValueId> operands,
                      const std::vector<uint64_t>& words) {
  const Type type = Tensor(shape);
  tensors_.push_back(b_.Emit(op, type, std::span(operands.begin(), operands.size()),
                             std::span(&type, 1), words)[0]);
}

ValueId TensorGraph::Fitting(const Shape& shape) {
  std::vector<ValueId> fitting;
  for (ValueId tensor : tensors_)
    if (ShapeOf(tensor) == shape) fitting.push_back(tensor);
  if (!fitting.empty() && random_.Chance(60)) return random_.Pick(fitting);
  for (int attempt = 0; attempt < 4; ++attempt) {
    const ValueId tensor = Some();
    const Shape from = ShapeOf(tensor);
    std::vector<uint64_t> axes;
    uint64_t next = 0;
    for (Dim dim : from) {
      while (next < shape.size() && shape[next] != dim && dim != Dim::Constant(1)) ++next;
      if (next >= shape.size()) break;
      axes.push_back(next++);
    }
    if (axes.size() != from.size() || from == shape) continue;
    Add(Op::Broadcast, shape, {tensor}, axes);
    return tensors_.back();
  }
  Add(Op::Broadcast, shape, {random_.Pick(scalars_)});
  return tensors_.back();
}

ValueId TensorGraph::Combine(ValueId a, ValueId b) {
  switch (random_.Below(ir::IsFloat(element_.scalar) ? 10 : 7)) {
    case 0: return b_.Binary(Op::Sub, a, b);
    case 1: return b_.Binary(Op::Mul, a, b);
    case 2: return b_.Binary(Op::Max, a, b);
    case 3: return b_.Select(b_.Binary(Op::Lt, a, b), a, b);
    case 4: return b_.Binary(Op::Add, b_.Binary(Op::Mul, a, b), b_.Binary(Op::Sub, a, b));
    case 6: return b_.Binary(Op::Min, a, random_.Pick(scalars_));
    case 7: return b_.Binary(Op::Div, a, b);
    case 8: return b_.Binary(Op::Sub, b_.Unary(Op::Exp, a), b);
    case 9: return b_.Binary(Op::Maximum, b, a);
    default: return b_.Binary(Op::Add, a, b);
  }
}

ir::ReduceKind TensorGraph::SomeKind() {
  using enum ir::ReduceKind;
  constexpr ir::ReduceKind Integer[] = {Sum, Product, Min, Max, And, Or, Xor};
  constexpr ir::ReduceKind Float[] = {Sum, Product, Min, Max, Minimum, Maximum};
  if (random_.Chance(50)) return Sum;
  return ir::IsFloat(element_.scalar) ? random_.Pick(Float) : random_.Pick(Integer);
}

std::pair<uint64_t, uint64_t> TensorGraph::SomeTree(bool innermost) {
  if (!random_.Chance(25)) return {innermost ? 64 : 1, 4096};
  const uint64_t chains = 1ull << random_.Below(4);
  return {chains, chains * (1 + random_.Below(3))};
}

void TensorGraph::Map() {
  const Shape shape = ShapeOf(Some());
  Values operands = {Fitting(shape)};
  if (random_.Chance(60)) operands.push_back(Fitting(shape));
  tensors_.push_back(b_.Map(operands, Tensor(shape), [&](std::span<const ValueId> elements) {
    return Values{Combine(elements[0], elements[elements.size() - 1])};
  }));
}

void TensorGraph::Reduce() {
  const ValueId tensor = Some();
  Shape shape = ShapeOf(tensor);
  if (shape.empty()) return;
  const uint64_t axis = random_.Chance(75) ? shape.size() - 1 : random_.Below(shape.size());
  const auto [chains, block] = SomeTree(axis + 1 == shape.size());
  const Dim size = shape[axis];
  shape.erase(shape.begin() + static_cast<int64_t>(axis));
  Add(Op::Reduce, shape, {tensor}, {static_cast<uint64_t>(SomeKind()), axis, chains, block});
  if (!random_.Chance(60)) return;
  // Back to where it came from: what rows are made of.
  Shape wide = shape;
  std::vector<uint64_t> axes;
  for (uint64_t i = 0; i < shape.size(); ++i) axes.push_back(i < axis ? i : i + 1);
  wide.insert(wide.begin() + static_cast<int64_t>(axis), size);
  Add(Op::Broadcast, wide, {tensors_.back()}, axes);
  const Values operands = {tensor, tensors_.back()};
  tensors_.push_back(b_.Map(operands, Tensor(wide), [&](std::span<const ValueId> elements) {
    return Values{Combine(elements[0], elements[1])};
  }));
}

void TensorGraph::Multiply() {
  const ValueId left = Some();
  Shape shape = ShapeOf(left);
  if (shape.size() < 2) return;
  Shape right = shape;
  right[shape.size() - 2] = shape.back();
  right.back() = random_.Chance(50) ? shape[shape.size() - 2] : SomeSize();
  shape.back() = right.back();
  Add(Op::Matmul, shape, {left, Fitting(right)});
}

// A size that no argument has: it may be negative.
void TensorGraph::Wide() {
  Shape shape = {Dim::Symbol(symbols_[2])};
  if (random_.Chance(50)) shape.insert(shape.begin(), rows_);
  Add(Op::Broadcast, shape, {random_.Pick(scalars_)});
}

// Something that stays as it is: a branch.
void TensorGraph::Boundary() {
  const ValueId tensor = Some();
  const Type type = b_.TypeOf(tensor);
  const ValueId is_some =
      b_.Binary(Op::Gt, b_.Param(0), b_.ConstInt(ir::types::Index, random_.Between(0, 3)));
  tensors_.push_back(b_.If(
      is_some, std::span(&type, 1),
      [&] {
        const std::vector<ValueId> outside = tensors_, scalars = scalars_;
        for (int i = 0; i < 4; ++i) Statement(1);
        const ValueId made = Fitting(b_.function().shape(type));
        tensors_ = outside;
        scalars_ = scalars;
        return Values{made};
      },
      [&] { return Values{tensor}; })[0]);
}

void TensorGraph::Statement(int depth) {
  const uint64_t dice = random_.Below(100);
  if (dice < 42) return Map();
  if (dice < 62) return Reduce();
  if (dice < 80) return Move();
  if (dice < 86) return Elements();
  if (dice < 91) return Rows();
  if (dice < 94) return ScalarOf();
  if (dice < 96) return Multiply();
  if (dice < 98) return Wide();
  if (depth > 0) return;
  Boundary();
}

ir::Program GenerateTensorGraph(const TensorGraphOptions& options) {
  return TensorGraph(options).Make();
}

}  // namespace frazil::generator
