// What fused programs look like, and what people write: elements at indices beside one another, and rows with folds over them.
#include "generator/tensor_graph_internal.h"

namespace frazil::generator {

using namespace ir::names;
using ir::Dim;
using ir::Shape;
using ir::Values;

ValueId TensorGraph::SizeOf(Dim dim) {
  return dim.is_symbol() ? b_.Param(dim.param()) : b_.ConstInt(ir::types::Index, dim.value);
}

ValueId TensorGraph::Near(ValueId index, Dim dim) {
  const auto number = [&](int64_t value) { return b_.ConstInt(ir::types::Index, value); };
  switch (random_.Below(8)) {
    case 0:  // from the end
      return b_.Binary(Op::Sub, b_.Binary(Op::Sub, SizeOf(dim), number(1)), index);
    case 1:  // the next, or the last again
      return b_.Binary(Op::Min, b_.Binary(Op::Add, index, number(1)),
                       b_.Binary(Op::Sub, SizeOf(dim), number(1)));
    case 2: {  // the one before, or 0
      const ValueId before = b_.Binary(Op::Sub, index, number(1));
      return b_.Select(b_.Binary(Op::Lt, before, number(0)), number(0), before);
    }
    case 3: return b_.Binary(Op::DivFloor, index, number(random_.Between(2, 3)));
    case 4: {  // the other of a pair: beyond the last where their count is odd
      const ValueId pair = b_.Binary(Op::DivFloor, index, number(2));
      const ValueId twice = b_.Binary(Op::Mul, pair, number(2));
      if (options_.allow_traps && random_.Chance(10)) return b_.Binary(Op::Add, twice, number(1));
      return twice;
    }
    default: return index;
  }
}

ValueId TensorGraph::ElementAt(ValueId tensor, std::span<const ValueId> indices) {
  Values operands = {tensor};
  operands.insert(operands.end(), indices.begin(), indices.end());
  return b_.Emit(Op::Extract, element_, operands, std::span(&element_, 1))[0];
}

// Over the last axis, at what stands before it.
ValueId TensorGraph::FoldRow(ValueId tensor, const Values& before) {
  const Dim dim = ShapeOf(tensor).back();
  const auto [chains, block] = SomeTree(true);
  ValueId count = SizeOf(dim);
  if (options_.allow_traps && random_.Chance(8)) {
    count = b_.Param(symbols_[2]);  // fewer, or too many
  } else if (random_.Chance(10)) {
    count = b_.Binary(Op::Sub, count, b_.ConstInt(ir::types::Index, 1));  // none is none
  }
  return b_.Fold(SomeKind(), element_, count, chains, block, [&](ValueId i) {
    Values indices = before;
    indices.push_back(random_.Chance(70) ? i : Near(i, dim));
    const ValueId element = ElementAt(tensor, indices);
    return random_.Chance(50) ? element : Combine(element, random_.Pick(scalars_));
  });
}

// One or two results of one shape, of elements of a tensor near each other.
void TensorGraph::Elements() {
  const ValueId tensor = Some();
  const Shape shape = ShapeOf(tensor);
  if (shape.empty()) return;
  const size_t rank = shape.size();
  std::vector<Type> results(random_.Chance(30) ? 2 : 1, Tensor(shape));
  const Values made =
      b_.Generate(static_cast<uint32_t>(rank), results, [&](std::span<const ValueId> at) {
        Values yields;
        for (size_t k = 0; k < results.size(); ++k) {
          Values near;
          for (size_t i = 0; i < rank; ++i) near.push_back(Near(at[i], shape[i]));
          yields.push_back(Combine(ElementAt(tensor, at), ElementAt(tensor, near)));
        }
        return yields;
      });
  tensors_.insert(tensors_.end(), made.begin(), made.end());
}

// Rows, each made of a row before it and of what that folds to; now and then with the fold itself for a result.
void TensorGraph::Rows() {
  const ValueId tensor = Some();
  const Shape shape = ShapeOf(tensor);
  if (shape.size() < 2) return;
  const size_t rank = shape.size() - 1;
  const Type row = Tensor({shape.back()});
  std::vector<Type> results = {Tensor(shape)};
  if (random_.Chance(40)) results.push_back(Tensor(Shape(shape.begin(), shape.end() - 1)));
  const Values made =
      b_.Generate(static_cast<uint32_t>(rank), results, [&](std::span<const ValueId> at) {
        const Values before(at.begin(), at.end());
        ValueId folded = FoldRow(tensor, before), last = tensor;
        for (uint64_t step = 0, n = 1 + random_.Below(2); step < n; ++step) {
          const bool is_first = last == tensor;
          last = b_.Generate(1, std::span(&row, 1), [&](std::span<const ValueId> inner) {
            Values indices = is_first ? before : Values{};
            indices.push_back(random_.Chance(75) ? inner[0] : Near(inner[0], shape.back()));
            return Values{Combine(ElementAt(last, indices), folded)};
          })[0];
          if (random_.Chance(50)) folded = FoldRow(last, {});
        }
        Values yields = {last};
        if (results.size() == 2) yields.push_back(folded);
        return yields;
      });
  tensors_.insert(tensors_.end(), made.begin(), made.end());
}

// One element, or one fold, for whoever takes a scalar.
void TensorGraph::ScalarOf() {
  const ValueId tensor = Some();
  Values indices;
  for (Dim dim : ShapeOf(tensor)) {
    if ((dim.is_symbol() || dim.value == 0) && !(options_.allow_traps && random_.Chance(30)))
      return;
    const int64_t size = dim.is_symbol() ? 2 : std::max<int64_t>(dim.value, 1);
    indices.push_back(b_.ConstInt(ir::types::Index, random_.Between(0, size - 1)));
  }
  if (!indices.empty() && random_.Chance(40)) {
    indices.pop_back();
    scalars_.push_back(FoldRow(tensor, indices));
  } else {
    scalars_.push_back(ElementAt(tensor, indices));
  }
}

}  // namespace frazil::generator
