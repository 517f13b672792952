#include "targets/llvm/ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <type_traits>

#include "ir/builder.h"
#include "ir/text/text.h"

namespace frazil::targets {
namespace {

using ir::Op;
using ir::ValueId;

constexpr Op Ops[] = {Op::Add,      Op::Sub,     Op::Mul,     Op::Div,   Op::Fma,    Op::Min,
                      Op::Max,      Op::Minimum, Op::Maximum, Op::Sqrt,  Op::Neg,    Op::Abs,
                      Op::CopySign, Op::Floor,   Op::Ceil,    Op::Trunc, Op::Nearest};

template <class T>
T Least(T a, T b) {
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
template <class T>
T Eval(Op op, T a, T b, T c) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::Fma: return std::fma(a, b, c);
    case Op::Min: return std::isnan(a) ? b : std::isnan(b) ? a : Least(a, b);
    case Op::Max: return std::isnan(a) ? b : std::isnan(b) ? a : -Least(-a, -b);
    case Op::Minimum: return std::isnan(a) || std::isnan(b) ? nan : Least(a, b);
    case Op::Maximum: return std::isnan(a) || std::isnan(b) ? nan : -Least(-a, -b);
    case Op::Sqrt: return std::sqrt(a);
    case Op::Neg: return -a;
    case Op::Abs: return std::abs(a);
    case Op::CopySign: return std::copysign(a, b);
    case Op::Floor: return std::floor(a);
    case Op::Ceil: return std::ceil(a);
    case Op::Trunc: return std::trunc(a);
    default: return std::nearbyint(a);
  }
}

// Random straight lines over numbers at the edges of the type, with two parameters of which a caller's ranges are known.
template <class T>
class Line {
 public:
  Line(uint32_t seed, ir::Type type) : random_(seed), type_(type) {
    for (FloatRange& range : params_) {
      const auto [low, high] = std::minmax({Number(), Number()});
      range = {low, high, random_() % 4 == 0};
    }
  }

  // Every value must be in its range; how many ranges say anything is given back.
  int Check() {
    ir::Program program;
    ir::FunctionBuilder builder(program, "main", {type_, type_}, {});
    std::vector<ValueId> values = {builder.Param(0), builder.Param(1)};
    auto any = [&] { return values[random_() % values.size()]; };
    for (int i = 0; i < 12; ++i) {
      if (random_() % 3 == 0) {
        values.push_back(builder.ConstFloat(type_, Number()));
        continue;
      }
      const Op op = Ops[random_() % std::size(Ops)];
      std::vector<ValueId> operands;
      const size_t count = op == Op::Fma ? 3 : ir::Info(op).signature == "T->T" ? 1 : 2;
      for (size_t n = 0; n < count; ++n) operands.push_back(any());
      values.push_back(builder.Emit(op, type_, operands, std::span(&type_, 1))[0]);
    }
    builder.Return({});
    (void)builder.Finish();
    const ir::Function& function = program.functions[0];
    ValueRanges ranges(program, function, {params_[0], params_[1]});
    int telling = 0;
    for (const ValueId value : values) telling += ranges.Float(value).nan ? 0 : 1;
    for (int run = 0; run < 40; ++run) {
      std::vector<T> numbers(function.values.size());
      for (uint32_t i = 0; i < 2; ++i) numbers[values[i].index] = Argument(params_[i]);
      for (const ir::InstId id : function.region(function.body).insts) {
        const ir::Inst& inst = function.inst(id);
        if (inst.results.count == 0) continue;
        auto operand = [&](uint32_t i) {
          return i < inst.operands.count ? numbers[function.operand(inst, i).index] : T{0};
        };
        numbers[ir::Function::result_of(inst).index] =
            inst.op == Op::Const ? std::bit_cast<T>(static_cast<Bits>(function.words_of(inst)[0]))
                                 : Eval(inst.op, operand(0), operand(1), operand(2));
      }
      for (const ValueId value : values) {
        const FloatRange range = ranges.Float(value);
        const T number = numbers[value.index];
        const bool is_inside =
            std::isnan(number) ? range.nan : range.low <= number && number <= range.high;
        EXPECT_TRUE(is_inside) << "v" << value.index << " is " << number << ", not in ["
                               << range.low << ", " << range.high << "]\n"
                               << ir::PrintText(program);
        if (!is_inside) return 0;
      }
    }
    return telling;
  }

 private:
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

  T Number() {
    using Of = std::numeric_limits<T>;
    const T numbers[] = {0,
                         T{-0.0},
                         1,
                         -1,
                         T{0.1},
                         T{-2.5},
                         Of::max(),
                         -Of::max(),
                         Of::min(),
                         -Of::min(),
                         Of::denorm_min(),
                         Of::infinity(),
                         -Of::infinity(),
                         T{1e30},
                         T{-3e-30},
                         T{77}};
    return numbers[random_() % std::size(numbers)];
  }
  T Argument(FloatRange range) {
    if (range.nan && random_() % 4 == 0) return std::numeric_limits<T>::quiet_NaN();
    return static_cast<T>(random_() % 2 ? range.low : range.high);
  }

  std::mt19937 random_;
  ir::Type type_;
  FloatRange params_[2];
};

TEST(Ranges, FloatsAreInsideOfThem) {
  int telling = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    telling += Line<float>(seed, ir::types::F32).Check();
    telling += Line<double>(seed, ir::types::F64).Check();
    if (HasFailure()) return;
  }
  EXPECT_GT(telling, 3000);
}

}  // namespace
}  // namespace frazil::targets
