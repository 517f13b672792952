#include "graphs.h"

#include "exec/random_arguments.h"
#include "ir/builder.h"

namespace frazil::plans_test {
namespace {

using namespace ir::names;
using ir::Dim;
using ir::Shape;
using ir::Values;

class Graph {
 public:
  explicit Graph(uint64_t seed)
      : random_(seed), b_(program_, "main", std::initializer_list<Type>{}, {}) {}

  ir::Program Make() {
    constexpr Scalar Elements[] = {Scalar::F32, Scalar::F64, Scalar::I32};
    element_ = Type::Of(Elements[random_.Below(random_.Chance(60) ? 1 : 3)]);
    for (int64_t& size : sizes_) size = random_.Chance(8) ? 1 : random_.Between(2, 9);
    if (random_.Chance(2)) sizes_[0] = 0;
    for (uint64_t i = 0, n = 2 + random_.Below(4); i < n; ++i)
      tensors_.push_back(b_.AddParam(Tensor(SomeShape())));
    scalars_.push_back(b_.AddParam(element_));
    scalars_.push_back(b_.AddParam(element_));
    for (uint64_t i = 0, n = 2 + random_.Below(14); i < n; ++i) Statement();
    Values results;
    std::vector<Type> types;
    for (uint64_t i = 0, n = 1 + random_.Below(4); i < n; ++i) {
      // Mostly what was made last; now and then the same twice, a parameter, or a scalar.
      const size_t back = random_.Below(random_.Chance(70) ? std::min<size_t>(4, tensors_.size())
                                                           : tensors_.size());
      const bool is_scalar = random_.Chance(12);
      results.push_back(is_scalar ? Scalar_() : tensors_[tensors_.size() - 1 - back]);
      types.push_back(b_.TypeOf(results.back()));
    }
    b_.SetResults(types);
    b_.Return(results);
    b_.Finish();
    return std::move(program_);
  }

 private:
  int64_t Size() { return sizes_[random_.Below(4)]; }
  Shape SomeShape() {
    Shape shape;
    for (uint64_t i = 0, n = random_.Chance(75) ? 2 : 1 + random_.Below(3); i < n; ++i)
      shape.push_back(Dim::Constant(Size()));
    return shape;
  }
  Type Tensor(const Shape& shape) { return Type::Tensor(element_, b_.AddShape(shape)); }
  Shape ShapeOf(ValueId tensor) { return b_.function().shape(b_.TypeOf(tensor)); }
  ValueId Tensor_() {
    const size_t recent = std::min<size_t>(tensors_.size(), 4);
    return random_.Chance(60) ? tensors_[tensors_.size() - 1 - random_.Below(recent)]
                              : random_.Pick(tensors_);
  }
  ValueId Scalar_() { return random_.Pick(scalars_); }
  void Add(ValueId tensor) { tensors_.push_back(tensor); }

  ValueId Elementwise(ValueId a, ValueId b) {
    constexpr Op Ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max};
    const Op op = Ops[random_.Below(std::size(Ops))];
    const bool takes_scalar = random_.Chance(30);
    const ValueId scalar = Scalar_();
    return b_.Map(std::vector<ValueId>{a, b}, b_.TypeOf(a), [&](std::span<const ValueId> e) {
      ValueId value = b_.Binary(op, e[0], e[1]);
      if (takes_scalar) value = b_.Binary(Op::Add, value, scalar);
      return Values{value};
    });
  }

  void Product() {
    const ValueId a = Tensor_();
    const Shape shape = ShapeOf(a);
    if (shape.size() != 2) return;
    for (const ValueId b : tensors_) {
      const Shape other = ShapeOf(b);
      if (other.size() != 2 || other[0] != shape[1] || random_.Chance(30)) continue;
      const Type type = Tensor({shape[0], other[1]});
      return Add(b_.Emit1(Op::Matmul, type, {a, b}, type));
    }
  }

  void Reduction() {
    const ValueId a = Tensor_();
    Shape shape = ShapeOf(a);
    if (shape.size() < 2) return;
    const uint64_t axis = random_.Below(shape.size());
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    const Type type = Tensor(shape);
    const auto kind =
        static_cast<uint64_t>(random_.Chance(50) ? ir::ReduceKind::Sum : ir::ReduceKind::Max);
    Add(b_.Emit1(Op::Reduce, type, {a}, type, {kind, axis, axis == shape.size() ? 64u : 1u, 4096}));
  }

  void Transposition() {
    const ValueId a = Tensor_();
    const Shape shape = ShapeOf(a);
    if (shape.size() != 2) return;
    const Type type = Tensor({shape[1], shape[0]});
    Add(b_.Emit1(Op::Transpose, type, {a}, type, {1, 0}));
  }

  void Reshape() {
    const ValueId a = Tensor_();
    const Shape shape = ShapeOf(a);
    int64_t count = 1;
    for (const Dim dim : shape) count *= dim.value;
    const bool is_flat = shape.size() > 1;
    const Type type =
        is_flat ? Tensor({Dim::Constant(count)}) : Tensor({Dim::Constant(1), Dim::Constant(count)});
    Add(b_.Emit1(Op::Reshape, type, {a}, type));
  }

  void Broadcast() {
    const ValueId a = Tensor_();
    const Shape shape = ShapeOf(a);
    if (shape.size() != 1) return;
    const bool is_column = random_.Chance(50);
    const Dim other = Dim::Constant(Size());
    const Type type = is_column ? Tensor({shape[0], other}) : Tensor({other, shape[0]});
    Add(b_.Emit1(Op::Broadcast, type, {a}, type, {is_column ? 0u : 1u}));
  }

  void Slice() {
    const ValueId a = Tensor_();
    Shape shape = ShapeOf(a);
    std::vector<uint64_t> words(2 * shape.size(), 0);
    for (size_t i = 0; i < shape.size(); ++i) {
      words[shape.size() + i] = 1;
      if (shape[i].value < 2) continue;
      words[i] = random_.Below(2);
      shape[i].value -= static_cast<int64_t>(words[i]);
    }
    const Type type = Tensor(shape), types[] = {type};
    const ValueId operands[] = {a};
    Add(b_.Emit(Op::Slice, type, operands, types, words)[0]);
  }

  void Concat() {
    const ValueId a = Tensor_();
    Shape shape = ShapeOf(a);
    shape[0].value *= 2;
    const Type type = Tensor(shape);
    Add(b_.Emit1(Op::Concat, type, {a, a}, type, {0}));
  }

  void Element() {
    const ValueId a = Tensor_();
    const Shape shape = ShapeOf(a);
    Values operands = {a};
    for (const Dim dim : shape) {
      if (dim.value == 0) return;
      operands.push_back(b_.ConstInt(ir::types::Index, random_.Between(0, dim.value - 1)));
    }
    const Type types[] = {element_};
    scalars_.push_back(b_.Emit(Op::Extract, element_, operands, types)[0]);
    if (random_.Chance(50)) scalars_.push_back(b_.Binary(Op::Mul, scalars_.back(), Scalar_()));
  }

  void Statement() {
    switch (random_.Below(11)) {
      case 0:
      case 1:
      case 2: return Product();
      case 3: return Reduction();
      case 4: return Transposition();
      case 5: return Reshape();
      case 6: return Broadcast();
      case 7: return Slice();
      case 8: return random_.Chance(40) ? Concat() : Element();
      default: {
        const ValueId a = Tensor_();
        for (const ValueId b : tensors_)
          if (b_.TypeOf(b) == b_.TypeOf(a) && random_.Chance(50)) return Add(Elementwise(a, b));
        return Add(Elementwise(a, a));
      }
    }
  }

  exec::Random random_;
  ir::Program program_;
  ir::FunctionBuilder b_;
  Type element_;
  int64_t sizes_[4];
  Values tensors_, scalars_;
};

}  // namespace

ir::Program RandomGraph(uint64_t seed) { return Graph(seed).Make(); }

}  // namespace frazil::plans_test
