// Random graphs of tensor ops, in which most things can be fused: the interpreter must see no difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "exec/meaning/test_lowering.h"
#include "ir/builder.h"
#include "ir/lower/lower.h"
#include "optimize/fusion/fusion.h"
#include "optimize/optimize.h"
#include "optimize/test_same.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;
using ir::Dim;
using ir::Shape;
using ir::Values;

// FRAZIL_PROGRAMS=20000 for a long run.
uint64_t Programs(uint64_t usual) {
  const char* wanted = std::getenv("FRAZIL_PROGRAMS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : usual;
}

class Graph {
 public:
  explicit Graph(uint64_t seed)
      : random_(seed), b_(program_, "main", std::initializer_list<Type>{}, {}) {}

  ir::Program Make() {
    constexpr Scalar Elements[] = {Scalar::F32, Scalar::F64, Scalar::I32, Scalar::F16, Scalar::U8};
    element_ = Type::Of(Elements[random_.Below(random_.Chance(70) ? 1 : 5)]);
    AddParams();
    for (uint64_t i = 0, n = 3 + random_.Below(14); i < n; ++i) Statement();
    Values results;
    std::vector<Type> types;
    for (uint64_t i = 0, n = 1 + random_.Below(4); i < n; ++i) {
      const size_t back = static_cast<size_t>(random_.Below(std::min<size_t>(4, tensors_.size())));
      results.push_back(tensors_[tensors_.size() - 1 - back]);
      types.push_back(b_.TypeOf(results.back()));
    }
    b_.SetResults(types);
    b_.Return(results);
    b_.Finish();
    return std::move(program_);
  }

 private:
  void AddParams() {
    for (int i = 0; i < 2; ++i) symbols_.push_back(b_.AddParam(ir::types::Index).index);
    rows_ = Dim::Symbol(symbols_[0]);
    columns_ = random_.Chance(50) ? Dim::Symbol(symbols_[1]) : SomeSize();
    for (int i = 0; i < 2; ++i) tensors_.push_back(b_.AddParam(Tensor({rows_, columns_})));
    tensors_.push_back(b_.AddParam(Tensor({Dim::Symbol(symbols_[1])})));
    tensors_.push_back(b_.AddParam(Tensor({SomeSize(), rows_, columns_})));
    scalar_ = b_.AddParam(element_);
    seed_ = b_.AddParam(ir::types::U64);
  }
  Dim SomeSize() {
    constexpr int64_t Sizes[] = {1, 2, 3, 4, 6, 12, 0, 67};
    return Dim::Constant(Sizes[random_.Below(random_.Chance(80) ? 6 : 8)]);
  }
  Type Tensor(const Shape& shape) { return Type::Tensor(element_, b_.AddShape(shape)); }
  Shape ShapeOf(ValueId tensor) { return b_.function().shape(b_.TypeOf(tensor)); }
  ValueId Some() {
    const uint64_t a = random_.Below(tensors_.size()), b = random_.Below(tensors_.size());
    return tensors_[std::max(a, b)];
  }
  void Add(Op op, const Shape& shape, std::initializer_list<ValueId> operands,
           const std::vector<uint64_t>& words = {}) {
    const Type type = Tensor(shape);
    tensors_.push_back(b_.Emit(op, type, std::span(operands.begin(), operands.size()),
                               std::span(&type, 1), words)[0]);
  }

  // Of the same shape, made so by broadcasting where there is none.
  ValueId Fitting(const Shape& shape) {
    std::vector<ValueId> fitting;
    for (ValueId tensor : tensors_)
      if (ShapeOf(tensor) == shape) fitting.push_back(tensor);
    if (!fitting.empty() && random_.Chance(60)) return fitting[random_.Below(fitting.size())];
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
    Add(Op::Broadcast, shape, {scalar_});
    return tensors_.back();
  }

  ValueId Combine(ValueId a, ValueId b) {
    const bool is_float = ir::IsFloat(element_.scalar);
    switch (random_.Below(is_float ? 8 : 6)) {
      case 0: return b_.Binary(Op::Sub, a, b);
      case 1: return b_.Binary(Op::Mul, a, b);
      case 2: return b_.Binary(Op::Max, a, b);
      case 3: return b_.Select(b_.Binary(Op::Lt, a, b), a, b);
      case 4: return b_.Binary(Op::Add, b_.Binary(Op::Mul, a, b), b_.Binary(Op::Sub, a, b));
      case 6: return b_.Binary(Op::Div, a, b);
      case 7: return b_.Binary(Op::Sub, b_.Unary(Op::Exp, a), b);
      default: return b_.Binary(Op::Add, a, b);
    }
  }

  void Map() {
    const Shape shape = ShapeOf(Some());
    Values operands = {Fitting(shape)};
    if (random_.Chance(60)) operands.push_back(Fitting(shape));
    tensors_.push_back(b_.Map(operands, Tensor(shape), [&](std::span<const ValueId> elements) {
      return Values{Combine(elements[0], elements[elements.size() - 1])};
    }));
  }

  void Reduce() {
    const ValueId tensor = Some();
    Shape shape = ShapeOf(tensor);
    if (shape.empty()) return;
    const uint64_t axis = random_.Chance(60) ? shape.size() - 1 : random_.Below(shape.size());
    uint64_t chains = axis + 1 == shape.size() ? 64 : 1, block = 4096;
    if (random_.Chance(25)) chains = 1ull << random_.Below(4), block = chains * 2;
    const Dim size = shape[axis];
    shape.erase(shape.begin() + static_cast<int64_t>(axis));
    Add(Op::Reduce, shape, {tensor}, {random_.Below(4), axis, chains, block});
    if (random_.Chance(60)) {
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
  }

  void Move() {
    const ValueId tensor = Some();
    const Shape shape = ShapeOf(tensor);
    switch (random_.Below(5)) {
      case 0: {
        std::vector<uint64_t> perm;
        Shape to;
        const uint64_t turn = shape.empty() ? 0 : random_.Below(shape.size());
        for (uint64_t i = 0; i < shape.size(); ++i) perm.push_back((i + turn) % shape.size());
        if (shape.size() > 1 && random_.Chance(30)) std::swap(perm[0], perm[1]);
        for (uint64_t axis : perm) to.push_back(shape[axis]);
        return Add(Op::Transpose, to, {tensor}, perm);
      }
      case 1: {
        std::vector<uint64_t> starts, steps;
        Shape to;
        for (Dim dim : shape) {
          if (dim.is_symbol() || dim.value < 2) {
            starts.push_back(0), steps.push_back(1), to.push_back(dim);
            continue;
          }
          const bool is_back = random_.Chance(30);
          const int64_t start = is_back ? dim.value - 1 : random_.Between(0, 1);
          starts.push_back(static_cast<uint64_t>(start));
          steps.push_back(static_cast<uint64_t>(is_back ? -1 : 1));
          to.push_back(Dim::Constant(random_.Between(1, is_back ? dim.value : dim.value - start)));
        }
        starts.insert(starts.end(), steps.begin(), steps.end());
        return Add(Op::Slice, to, {tensor}, starts);
      }
      case 2: {
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
        if (shape.size() > 1 && random_.Chance(30) && !shape[0].is_symbol() &&
            !shape[1].is_symbol()) {
          to.assign(shape.begin() + 1, shape.end());
          to[0] = Dim::Constant(shape[0].value * shape[1].value);
        }
        return Add(Op::Reshape, to, {tensor});
      }
      case 3:
        if (shape.empty() || !ir::IsFixedInt(element_.scalar)) return;
        return Add(Op::Iota, shape, {}, {random_.Below(shape.size())});
      default:
        if (element_.scalar != Scalar::F32 && element_.scalar != Scalar::F64) return;
        return Add(Op::TensorUniform, shape, {seed_, seed_});
    }
  }

  // Something that stays as it is: a branch, or a gather of the first rows.
  void Boundary() {
    const ValueId tensor = Some();
    const Type type = b_.TypeOf(tensor);
    const ValueId is_some =
        b_.Binary(Op::Gt, b_.Param(0), b_.ConstInt(ir::types::Index, random_.Between(0, 3)));
    tensors_.push_back(b_.If(
        is_some, std::span(&type, 1),
        [&] {
          const std::vector<ValueId> outside = tensors_;
          for (int i = 0; i < 4; ++i) Statement(1);
          const ValueId made = Fitting(b_.function().shape(type));
          tensors_ = outside;
          return Values{made};
        },
        [&] { return Values{tensor}; })[0]);
  }

  void Statement(int depth = 0) {
    const uint64_t dice = random_.Below(100);
    if (dice < 50) return Map();
    if (dice < 75) return Reduce();
    if (dice < 95 || depth > 0) return Move();
    Boundary();
  }

  Random random_;
  ir::Program program_;
  ir::FunctionBuilder b_;
  Type element_;
  std::vector<uint32_t> symbols_;
  Dim rows_, columns_;
  std::vector<ValueId> tensors_;
  ValueId scalar_, seed_;
};

TEST(FusionRandom, ChangesNoOutcome) {
  int offered = 0;
  for (uint64_t seed = 0; seed < Programs(2000); ++seed) {
    const ir::Program source = Graph(seed).Make();
    ASSERT_TRUE(ir::Check(source)) << ir::Check(source).error().ToString() << ir::PrintText(source);
    Unit unit = MakeUnit(source);
    Result<bool> changed = FuseTensors(unit);
    ASSERT_TRUE(changed) << changed.error().ToString();
    ASSERT_EQ(Compare(source, unit.program, seed, 2), "");
    Result<std::optional<ir::Candidate>> candidate = FusedCandidate(source);
    ASSERT_TRUE(candidate) << candidate.error().ToString();
    if (!candidate->has_value()) continue;
    ++offered;
    ASSERT_EQ(Compare(source, (*candidate)->program, seed, 3), "");
    // And as loops.
    const auto make = [&] { return exec::RandomArguments(source, seed); };
    const exec::RunContext context = exec::RandomContext(source, seed);
    const auto meant = exec::RunSource(source, make, context);
    for (const ir::Program* program : {&std::as_const((*candidate)->program), &source})
      for (ir::Folds folds : {ir::Folds::Expand, ir::Folds::KeepRows}) {
        Result<ir::Program> lowered = ir::LowerTensors(*program, folds);
        ASSERT_TRUE(lowered) << lowered.error().ToString();
        ASSERT_TRUE(ir::Check(*lowered)) << ir::Check(*lowered).error().ToString();
        ASSERT_EQ(exec::Difference(meant, exec::RunLowered(source, *lowered, make, context)), "")
            << "seed " << seed << "\n"
            << ir::PrintText(*program);
      }
  }
  EXPECT_GT(offered, static_cast<int>(Programs(2000) / 2));
}

}  // namespace
}  // namespace frazil::optimize
