// Scalar ops at their edges. Integers are compared with exact 128-bit arithmetic, every op of
// ops.def is run on every type of its row.
#include "exec/meaning/scalar_ops.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/number/goldilocks.h"
#include "exec/test_rows.h"
#include "ir/text/literal.h"

namespace frazil::exec {
namespace {

using ir::Op;
using ir::Scalar;
using ir::Trap;
__extension__ using int128 = __int128;

constexpr Scalar FixedTypes[] = {Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::Index,
                                 Scalar::U8, Scalar::U16, Scalar::U32, Scalar::U64};

uint64_t Bits(float f) { return std::bit_cast<uint32_t>(f); }
uint64_t Bits(double d) { return std::bit_cast<uint64_t>(d); }

std::expected<uint64_t, Trap> Eval(Op op, Scalar type, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  return EvalWord(op, type, type, a, b, c);
}

int Width(Scalar s) { return ir::BitsOf(ir::Type::Of(s)); }
int128 Least(Scalar s) { return ir::IsSigned(s) ? -(int128{1} << (Width(s) - 1)) : 0; }
int128 Greatest(Scalar s) {
  return ir::IsSigned(s) ? (int128{1} << (Width(s) - 1)) - 1 : (int128{1} << Width(s)) - 1;
}
bool Fits(Scalar s, int128 v) { return v >= Least(s) && v <= Greatest(s); }
int128 Exact(Scalar s, uint64_t word) {
  return ir::IsSigned(s) ? int128{static_cast<int64_t>(word)} : int128{word};
}
// The value modulo 2^width, as a word.
uint64_t WrapTo(Scalar s, int128 v) {
  const int128 modulus = int128{1} << Width(s);
  int128 r = v % modulus;
  if (r < 0) r += modulus;
  if (r > Greatest(s)) r -= modulus;
  return static_cast<uint64_t>(r);
}

std::vector<uint64_t> EdgeWords(Scalar s) {
  std::vector<uint64_t> words;
  for (int128 v :
       {Least(s), Least(s) + 1, Greatest(s), Greatest(s) - 1, Greatest(s) / 2, int128{0}, int128{1},
        int128{2}, int128{3}, int128{7}, int128{100}, int128{-1}, int128{-2}, int128{-7}}) {
    if (Fits(s, v)) words.push_back(static_cast<uint64_t>(v));
  }
  return words;
}

int128 FloorDiv(int128 a, int128 b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

TEST(Integers, WrapAndCheck) {
  for (Scalar s : FixedTypes) {
    for (uint64_t a : EdgeWords(s)) {
      const int128 x = Exact(s, a);
      EXPECT_EQ(Eval(Op::Neg, s, a), WrapTo(s, -x));
      for (uint64_t b : EdgeWords(s)) {
        const int128 y = Exact(s, b);
        const auto check = [&](Op wrapping, Op checked, int128 exact) {
          EXPECT_EQ(Eval(wrapping, s, a, b), WrapTo(s, exact));
          const auto answer = Eval(checked, s, a, b);
          if (Fits(s, exact)) {
            EXPECT_EQ(answer, static_cast<uint64_t>(exact));
          } else {
            EXPECT_EQ(answer, std::unexpected(Trap::Overflow));
          }
        };
        check(Op::Add, Op::AddChecked, x + y);
        check(Op::Sub, Op::SubChecked, x - y);
        // The product of two u64 does not fit int128 by one bit; unsigned arithmetic has the same
        // low bits.
        if (s != Scalar::U64) {
          check(Op::Mul, Op::MulChecked, x * y);
          EXPECT_EQ(Eval(Op::MulHi, s, a, b), WrapTo(s, (x * y) >> Width(s)));
        }
        EXPECT_EQ(Eval(Op::Min, s, a, b), x < y ? a : b);
        EXPECT_EQ(Eval(Op::Max, s, a, b), x < y ? b : a);
        EXPECT_EQ(Eval(Op::Lt, s, a, b), uint64_t{x < y});
        EXPECT_EQ(Eval(Op::Ge, s, a, b), uint64_t{x >= y});
        EXPECT_EQ(Eval(Op::Eq, s, a, b), uint64_t{x == y});
      }
    }
  }
}

TEST(Integers, Unsigned64Product) {
  EXPECT_EQ(Eval(Op::MulHi, Scalar::U64, UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
  EXPECT_EQ(Eval(Op::Mul, Scalar::U64, UINT64_MAX, UINT64_MAX), 1u);
  EXPECT_EQ(Eval(Op::MulChecked, Scalar::U64, uint64_t{1} << 32, uint64_t{1} << 32),
            std::unexpected(Trap::Overflow));
  EXPECT_EQ(Eval(Op::MulChecked, Scalar::U64, uint64_t{1} << 32, (uint64_t{1} << 32) - 1),
            0xffffffff00000000u);
  EXPECT_EQ(Eval(Op::MulHi, Scalar::I64, static_cast<uint64_t>(INT64_MIN),
                 static_cast<uint64_t>(INT64_MIN)),
            uint64_t{1} << 62);
}

TEST(Integers, Division) {
  for (Scalar s : FixedTypes) {
    for (uint64_t a : EdgeWords(s)) {
      for (Op op : {Op::DivTrunc, Op::DivFloor, Op::RemTrunc, Op::RemFloor, Op::DivChecked,
                    Op::RemChecked}) {
        EXPECT_EQ(Eval(op, s, a, 0), std::unexpected(Trap::DivisionByZero));
      }
      for (uint64_t b : EdgeWords(s)) {
        const int128 x = Exact(s, a);
        const int128 y = Exact(s, b);
        if (y == 0) continue;
        EXPECT_EQ(Eval(Op::DivTrunc, s, a, b), WrapTo(s, x / y));
        EXPECT_EQ(Eval(Op::DivFloor, s, a, b), WrapTo(s, FloorDiv(x, y)));
        EXPECT_EQ(Eval(Op::RemTrunc, s, a, b), WrapTo(s, x % y));
        EXPECT_EQ(Eval(Op::RemFloor, s, a, b), WrapTo(s, x - y * FloorDiv(x, y)));
        EXPECT_EQ(Eval(Op::RemChecked, s, a, b), WrapTo(s, x % y));
        if (Fits(s, x / y)) {
          EXPECT_EQ(Eval(Op::DivChecked, s, a, b), WrapTo(s, x / y));
        } else {
          EXPECT_EQ(Eval(Op::DivChecked, s, a, b), std::unexpected(Trap::Overflow));
        }
      }
    }
  }
}

TEST(Integers, NegationAndMagnitude) {
  for (Scalar s : {Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::Index}) {
    const uint64_t min = static_cast<uint64_t>(Least(s));
    EXPECT_EQ(Eval(Op::Abs, s, min), min);
    EXPECT_EQ(Eval(Op::AbsChecked, s, min), std::unexpected(Trap::Overflow));
    EXPECT_EQ(Eval(Op::NegChecked, s, min), std::unexpected(Trap::Overflow));
    EXPECT_EQ(Eval(Op::Abs, s, static_cast<uint64_t>(int64_t{-5})), 5u);
    EXPECT_EQ(Eval(Op::AbsChecked, s, static_cast<uint64_t>(int64_t{-5})), 5u);
  }
  EXPECT_EQ(Eval(Op::NegChecked, Scalar::U8, 0), 0u);
  EXPECT_EQ(Eval(Op::NegChecked, Scalar::U8, 1), std::unexpected(Trap::Overflow));
  EXPECT_EQ(Eval(Op::Neg, Scalar::U8, 1), 255u);
}

TEST(Integers, ShiftsAndBits) {
  for (Scalar s : FixedTypes) {
    const int width = Width(s);
    for (uint64_t a : EdgeWords(s)) {
      for (int64_t amount : {0, 1, width - 1, width, width + 1, -1, 127}) {
        const uint64_t b = WrapTo(s, amount);
        const int by = static_cast<int>(((amount % width) + width) % width);
        const int128 x = Exact(s, a);
        const int128 low = x & ((int128{1} << width) - 1);
        EXPECT_EQ(Eval(Op::Shl, s, a, b), WrapTo(s, low << by));
        EXPECT_EQ(Eval(Op::Shr, s, a, b), WrapTo(s, x >> by));
        EXPECT_EQ(Eval(Op::Rotl, s, a, b), WrapTo(s, (low << by) | (low >> (width - by))));
        EXPECT_EQ(Eval(Op::Rotr, s, a, b), WrapTo(s, (low >> by) | (low << (width - by))));
      }
    }
    EXPECT_EQ(Eval(Op::Clz, s, 0), WrapTo(s, width));
    EXPECT_EQ(Eval(Op::Ctz, s, 0), WrapTo(s, width));
    EXPECT_EQ(Eval(Op::Popcnt, s, 0), 0u);
    EXPECT_EQ(Eval(Op::Clz, s, 1), WrapTo(s, width - 1));
    EXPECT_EQ(Eval(Op::Ctz, s, 4), 2u);
    EXPECT_EQ(Eval(Op::Popcnt, s, WrapTo(s, -1)), WrapTo(s, width));
    EXPECT_EQ(Eval(Op::Not, s, 0), WrapTo(s, -1));
  }
  EXPECT_EQ(Eval(Op::Not, Scalar::Bool, 0), 1u);
  EXPECT_EQ(Eval(Op::Not, Scalar::Bool, 1), 0u);
  EXPECT_EQ(Eval(Op::Xor, Scalar::Bool, 1, 1), 0u);
}

constexpr float FInf = std::numeric_limits<float>::infinity();
constexpr uint64_t NaN32 = 0x7fc00000;
constexpr uint64_t OddNaN32 = 0xffa12345;

TEST(Floats, OneQuietNan) {
  for (Op op : {Op::Neg, Op::Abs, Op::Sqrt, Op::Floor, Op::Ceil, Op::Trunc, Op::Nearest}) {
    EXPECT_EQ(Eval(op, Scalar::F32, OddNaN32), NaN32) << ir::Info(op).mnemonic;
    EXPECT_EQ(Eval(op, Scalar::F64, 0xfff4000000000001), 0x7ff8000000000000u);
    EXPECT_EQ(Eval(op, Scalar::F16, 0xfd01), 0x7e00u);
    EXPECT_EQ(Eval(op, Scalar::BF16, 0xffa1), 0x7fc0u);
  }
  for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min, Op::Max, Op::Minimum, Op::Maximum,
                Op::CopySign}) {
    EXPECT_EQ(Eval(op, Scalar::F32, OddNaN32, OddNaN32), NaN32) << ir::Info(op).mnemonic;
    EXPECT_EQ(Eval(op, Scalar::F16, 0xfd01, 0xfd01), 0x7e00u);
  }
  EXPECT_EQ(Eval(Op::Sub, Scalar::F32, Bits(FInf), Bits(FInf)), NaN32);
  EXPECT_EQ(Eval(Op::Sqrt, Scalar::F32, Bits(-1.0f)), NaN32);
  EXPECT_EQ(Eval(Op::Div, Scalar::F64, Bits(0.0), Bits(0.0)), 0x7ff8000000000000u);
  EXPECT_EQ(Eval(Op::Fma, Scalar::F32, OddNaN32, 0, 0), NaN32);
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::F64, Scalar::F32, OddNaN32), 0x7ff8000000000000u);
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::F32, Scalar::F64, 0xfff4000000000001), NaN32);
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::F32, Scalar::F32, OddNaN32), NaN32);
}

TEST(Floats, MovesKeepBits) {
  EXPECT_EQ(Eval(Op::Select, Scalar::F32, 1, OddNaN32, 0), OddNaN32);
  EXPECT_EQ(EvalWord(Op::Bitcast, Scalar::I32, Scalar::F32, OddNaN32), 0xffffffffffa12345u);
  EXPECT_EQ(EvalWord(Op::Bitcast, Scalar::F32, Scalar::I32, 0xffffffffffa12345u), OddNaN32);
  EXPECT_EQ(EvalWord(Op::Bitcast, Scalar::U32, Scalar::F32, OddNaN32), OddNaN32);
  EXPECT_EQ(EvalWord(Op::Bitcast, Scalar::BF16, Scalar::I16, static_cast<uint64_t>(int64_t{-1})),
            0xffffu);
}

TEST(Floats, MinMax) {
  const uint64_t zero = Bits(0.0f);
  const uint64_t minus_zero = Bits(-0.0f);
  const uint64_t one = Bits(1.0f);
  for (auto [a, b] : {std::pair(zero, minus_zero), std::pair(minus_zero, zero)}) {
    EXPECT_EQ(Eval(Op::Min, Scalar::F32, a, b), minus_zero);
    EXPECT_EQ(Eval(Op::Max, Scalar::F32, a, b), zero);
    EXPECT_EQ(Eval(Op::Minimum, Scalar::F32, a, b), minus_zero);
    EXPECT_EQ(Eval(Op::Maximum, Scalar::F32, a, b), zero);
    EXPECT_EQ(Eval(Op::Eq, Scalar::F32, a, b), 1u);
  }
  for (auto [a, b] : {std::pair(one, OddNaN32), std::pair(OddNaN32, one)}) {
    EXPECT_EQ(Eval(Op::Min, Scalar::F32, a, b), one);
    EXPECT_EQ(Eval(Op::Max, Scalar::F32, a, b), one);
    EXPECT_EQ(Eval(Op::Minimum, Scalar::F32, a, b), NaN32);
    EXPECT_EQ(Eval(Op::Maximum, Scalar::F32, a, b), NaN32);
    for (Op op : {Op::Eq, Op::Lt, Op::Le, Op::Gt, Op::Ge})
      EXPECT_EQ(Eval(op, Scalar::F32, a, b), 0u);
    EXPECT_EQ(Eval(Op::Ne, Scalar::F32, a, b), 1u);
  }
  // f16 2 and -1, bf16 likewise.
  EXPECT_EQ(Eval(Op::Min, Scalar::F16, 0x4000, 0xbc00), 0xbc00u);
  EXPECT_EQ(Eval(Op::Max, Scalar::BF16, 0x4000, 0xbf80), 0x4000u);
}

TEST(Floats, CopySignTakesTheBit) {
  EXPECT_EQ(Eval(Op::CopySign, Scalar::F32, Bits(1.5f), OddNaN32), Bits(-1.5f));
  EXPECT_EQ(Eval(Op::CopySign, Scalar::F32, Bits(-1.5f), Bits(0.0f)), Bits(1.5f));
  EXPECT_EQ(Eval(Op::CopySign, Scalar::F16, 0x3c00, 0xfe00), 0xbc00u);
}

TEST(Floats, FmaRoundsOnce) {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the product rounded first would lose the last bit.
  const float x = 1.0f + 0x1p-12f;
  EXPECT_EQ(Eval(Op::Fma, Scalar::F32, Bits(x), Bits(x), Bits(-1.0f - 0x1p-11f)), Bits(0x1p-24f));
  // Through f64 the sum is rounded twice: 1 + 2^-24 (a tie) hides the 2^-60 below it.
  EXPECT_EQ(Eval(Op::Fma, Scalar::F32, Bits(0x1p-30f), Bits(0x1p-30f), Bits(1.0f)), Bits(1.0f));
  const float tie = 0x1.000002p0f;
  EXPECT_EQ(Eval(Op::Fma, Scalar::F32, Bits(0x1.000002p0f), Bits(0x1p-24f), Bits(1.0f)), Bits(tie));
  const double y = 1.0 + 0x1p-30;
  EXPECT_EQ(Eval(Op::Fma, Scalar::F64, Bits(y), Bits(y), Bits(-1.0 - 0x1p-29)), Bits(0x1p-60));
  EXPECT_EQ(Eval(Op::Fma, Scalar::F64, Bits(0x1.0000000000001p0), Bits(0x1p-53), Bits(1.0)),
            Bits(0x1.0000000000001p0));
  EXPECT_EQ(Eval(Op::Fma, Scalar::F64, Bits(0x1p-1000), Bits(0x1p-74), Bits(0.0)), Bits(0x1p-1074));
  EXPECT_EQ(Eval(Op::Fma, Scalar::F32, Bits(-0.0f), Bits(1.0f), Bits(0.0f)), Bits(0.0f));
}

TEST(Floats, Rounding) {
  const std::vector<std::array<float, 5>> rows = {
      // x, floor, ceil, trunc, nearest
      {2.5f, 2, 3, 2, 2},      {3.5f, 3, 4, 3, 4},
      {-2.5f, -3, -2, -2, -2}, {-0.5f, -1, -0.0f, -0.0f, -0.0f},
      {0.5f, 0, 1, 0, 0},      {0x1p23f + 1, 0x1p23f + 1, 0x1p23f + 1, 0x1p23f + 1, 0x1p23f + 1}};
  for (const auto& row : rows) {
    EXPECT_EQ(Eval(Op::Floor, Scalar::F32, Bits(row[0])), Bits(row[1]));
    EXPECT_EQ(Eval(Op::Ceil, Scalar::F32, Bits(row[0])), Bits(row[2]));
    EXPECT_EQ(Eval(Op::Trunc, Scalar::F32, Bits(row[0])), Bits(row[3]));
    EXPECT_EQ(Eval(Op::Nearest, Scalar::F32, Bits(row[0])), Bits(row[4]));
  }
}

TEST(Floats, HalfComputesInF32) {
  // 2048 + 1 ties to 2048; 2048 + 3 ties to 2052.
  EXPECT_EQ(Eval(Op::Add, Scalar::F16, 0x6800, 0x3c00), 0x6800u);
  EXPECT_EQ(Eval(Op::Add, Scalar::F16, 0x6800, 0x4200), 0x6802u);
  EXPECT_EQ(Eval(Op::Mul, Scalar::F16, 0x7bff, 0x4000), 0x7c00u);
  // The least subnormal, halved: a tie, to even.
  EXPECT_EQ(Eval(Op::Mul, Scalar::F16, 0x0001, 0x3800), 0u);
  EXPECT_EQ(Eval(Op::Mul, Scalar::F16, 0x0003, 0x3800), 2u);
  EXPECT_EQ(Eval(Op::Sqrt, Scalar::BF16, 0x4000), 0x3fb5u);
}

TEST(Casts, FloatToIntegerSaturates) {
  const auto cast = [](Scalar to, double x) {
    return EvalWord(Op::Cast, to, Scalar::F64, Bits(x));
  };
  for (Scalar s : FixedTypes) {
    EXPECT_EQ(cast(s, 1e300), static_cast<uint64_t>(Greatest(s)));
    EXPECT_EQ(cast(s, -1e300), static_cast<uint64_t>(Least(s)));
    EXPECT_EQ(cast(s, INFINITY), static_cast<uint64_t>(Greatest(s)));
    EXPECT_EQ(cast(s, NAN), 0u);
    EXPECT_EQ(cast(s, 100.99), 100u);
    EXPECT_EQ(cast(s, -0.99), 0u);
    // f32: 2^width is exact, the greatest value often is not.
    const float top =
        static_cast<float>(std::ldexp(1.0, ir::IsSigned(s) ? Width(s) - 1 : Width(s)));
    EXPECT_EQ(EvalWord(Op::Cast, s, Scalar::F32, Bits(top)), static_cast<uint64_t>(Greatest(s)));
    EXPECT_EQ(EvalWord(Op::Cast, s, Scalar::F32, Bits(-top)), static_cast<uint64_t>(Least(s)));
  }
  EXPECT_EQ(cast(Scalar::I8, -128.9), static_cast<uint64_t>(int64_t{-128}));
  EXPECT_EQ(cast(Scalar::I8, -127.9), static_cast<uint64_t>(int64_t{-127}));
  EXPECT_EQ(cast(Scalar::U8, 255.9), 255u);
  EXPECT_EQ(cast(Scalar::I64, 0x1.fffffffffffffp62), 0x7ffffffffffffc00u);
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::U8, Scalar::F16, 0x7c00), 255u);
}

TEST(Casts, IntegerToFloatRoundsOnce) {
  const auto cast = [](Scalar to, Scalar from, uint64_t x) {
    return EvalWord(Op::Cast, to, from, x);
  };
  EXPECT_EQ(cast(Scalar::F32, Scalar::I32, 16777217), Bits(16777216.0f));
  EXPECT_EQ(cast(Scalar::F32, Scalar::I32, 16777219), Bits(16777220.0f));
  // Just above a tie of f32, which f64 cannot hold.
  EXPECT_EQ(cast(Scalar::F32, Scalar::U64, 0x8000008000000001u), Bits(0x1.000002p63f));
  EXPECT_EQ(cast(Scalar::F32, Scalar::U64, 0x8000008000000000u), Bits(0x1p63f));
  EXPECT_EQ(cast(Scalar::F64, Scalar::U64, UINT64_MAX), Bits(0x1p64));
  EXPECT_EQ(cast(Scalar::F64, Scalar::I64, static_cast<uint64_t>(INT64_MIN)), Bits(-0x1p63));
  // bf16 keeps 8 bits: tie at 2^63 + 2^55, and one above it.
  EXPECT_EQ(cast(Scalar::BF16, Scalar::U64, 0x8080000000000000u), 0x5f00u);
  EXPECT_EQ(cast(Scalar::BF16, Scalar::U64, 0x8080000000000001u), 0x5f01u);
  EXPECT_EQ(cast(Scalar::BF16, Scalar::I64, static_cast<uint64_t>(INT64_MIN)), 0xdf00u);
  // f16: through f32 the last one would land on the tie.
  EXPECT_EQ(cast(Scalar::F16, Scalar::I32, 2049), 0x6800u);
  EXPECT_EQ(cast(Scalar::F16, Scalar::I64, 1 << 20), 0x7c00u);
  EXPECT_EQ(cast(Scalar::F16, Scalar::I8, static_cast<uint64_t>(int64_t{-1})), 0xbc00u);
  EXPECT_EQ(cast(Scalar::F32, Scalar::Bool, 1), Bits(1.0f));
}

TEST(Casts, Integers) {
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::I8, Scalar::I32, 200), static_cast<uint64_t>(int64_t{-56}));
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::U32, Scalar::I8, static_cast<uint64_t>(int64_t{-1})),
            0xffffffffu);
  EXPECT_EQ(EvalWord(Op::CastChecked, Scalar::U8, Scalar::I32, 256),
            std::unexpected(Trap::Overflow));
  EXPECT_EQ(EvalWord(Op::CastChecked, Scalar::U64, Scalar::I8, static_cast<uint64_t>(int64_t{-1})),
            std::unexpected(Trap::Overflow));
  EXPECT_EQ(EvalWord(Op::CastChecked, Scalar::I64, Scalar::U64, uint64_t{1} << 63),
            std::unexpected(Trap::Overflow));
  EXPECT_EQ(EvalWord(Op::CastChecked, Scalar::I8, Scalar::Bool, 1), 1u);
}

TEST(Casts, Field) {
  using goldilocks::P;
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::Field, Scalar::I8, static_cast<uint64_t>(int64_t{-1})),
            P - 1);
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::Field, Scalar::U64, UINT64_MAX), UINT64_MAX - P);
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::Field, Scalar::I64, static_cast<uint64_t>(INT64_MIN)),
            P - (uint64_t{1} << 63));
  EXPECT_EQ(EvalWord(Op::Cast, Scalar::U64, Scalar::Field, P - 1), P - 1);
  EXPECT_EQ(Eval(Op::Invert, Scalar::Field, 0), std::unexpected(Trap::InvertOfZero));
  EXPECT_EQ(Eval(Op::FieldDiv, Scalar::Field, 6, 3), 2u);
  EXPECT_EQ(Eval(Op::FieldDiv, Scalar::Field, 6, 0), std::unexpected(Trap::InvertOfZero));
  EXPECT_EQ(Eval(Op::Sub, Scalar::Field, 0, 1), P - 1);
}

std::optional<Trap> EvalInt(Op op, uint32_t k, std::vector<Words> operands,
                            std::span<uint64_t> result) {
  return EvalScalar({op, ir::Type::Int(k), ir::Type::Int(k)}, operands, result);
}

TEST(Wide, Integers) {
  const std::array<uint64_t, 2> min = {0, uint64_t{1} << 63};
  const std::array<uint64_t, 2> minus_one = {~uint64_t{0}, ~uint64_t{0}};
  const std::array<uint64_t, 2> zero = {};
  std::array<uint64_t, 2> r = {};
  EXPECT_EQ(EvalInt(Op::DivChecked, 2, {min, minus_one}, r), Trap::Overflow);
  EXPECT_EQ(EvalInt(Op::RemChecked, 2, {min, minus_one}, r), std::nullopt);
  EXPECT_EQ(r, zero);
  EXPECT_EQ(EvalInt(Op::DivChecked, 2, {min, zero}, r), Trap::DivisionByZero);
  EXPECT_EQ(EvalInt(Op::NegChecked, 2, {min}, r), Trap::Overflow);
  EXPECT_EQ(EvalInt(Op::AddChecked, 2, {min, minus_one}, r), Trap::Overflow);
  EXPECT_EQ(EvalInt(Op::Min, 2, {zero, minus_one}, r), std::nullopt);
  EXPECT_EQ(r, minus_one);
  EXPECT_EQ(EvalInt(Op::Lt, 2, {min, zero}, std::span(r).first(1)), std::nullopt);
  EXPECT_EQ(r[0], 1u);
}

TEST(Wide, CastChecked) {
  const auto cast = [](ir::Type to, ir::Type from, Words word, std::span<uint64_t> result) {
    return EvalScalar({Op::CastChecked, to, from}, std::array{word}, result);
  };
  const std::array<uint64_t, 1> max = {UINT64_MAX};
  std::array<uint64_t, 2> two = {};
  EXPECT_EQ(cast(ir::Type::Int(2), ir::types::U64, max, two), std::nullopt);
  EXPECT_EQ(two, (std::array<uint64_t, 2>{UINT64_MAX, 0}));
  std::array<uint64_t, 1> one = {};
  EXPECT_EQ(cast(ir::Type::Int(1), ir::types::U64, max, one), Trap::Overflow);
  EXPECT_EQ(cast(ir::types::U64, ir::Type::Int(2), two, one), std::nullopt);
  EXPECT_EQ(one, max);
  EXPECT_EQ(cast(ir::types::I64, ir::Type::Int(2), two, one), Trap::Overflow);
  EXPECT_EQ(cast(ir::Type::Int(2), ir::types::I8, max, two), std::nullopt);
  EXPECT_EQ(two, (std::array<uint64_t, 2>{UINT64_MAX, UINT64_MAX}));
  EXPECT_EQ(cast(ir::types::I8, ir::Type::Int(2), two, one), std::nullopt);
  EXPECT_EQ(one, max);
  EXPECT_EQ(cast(ir::types::U8, ir::Type::Int(2), two, one), Trap::Overflow);
}

TEST(Wide, Fields) {
  const std::array<uint64_t, 3> x = {3, 5, 7};
  const std::array<uint64_t, 3> zero = {};
  std::array<uint64_t, 3> r = {};
  const ir::Type t = ir::types::XField;
  EXPECT_EQ(EvalScalar({Op::Invert, t, t}, std::array{Words(zero)}, r), Trap::InvertOfZero);
  EXPECT_EQ(EvalScalar({Op::FieldDiv, t, t}, std::array{Words(x), Words(x)}, r), std::nullopt);
  EXPECT_EQ(r, (std::array<uint64_t, 3>{1, 0, 0}));
  const std::array<uint64_t, 1> part = {2};
  EXPECT_EQ(EvalScalar({Op::PartXField, t, t, part}, std::array{Words(x)}, std::span(r).first(1)),
            std::nullopt);
  EXPECT_EQ(r[0], 7u);
  const std::array<uint64_t, 1> five = {5};
  EXPECT_EQ(EvalScalar({Op::Cast, t, ir::types::Field}, std::array{Words(five)}, r), std::nullopt);
  EXPECT_EQ(r, (std::array<uint64_t, 3>{5, 0, 0}));
}

// A broken invariant would end the program: every scalar row must be handled on every type it
// names.
TEST(Table, EveryRowOnEveryType) {
  int evaluated = 0;
  for (const ir::OpInfo& info : ScalarRows()) {
    for (int s = 0; s < ir::ScalarCount; ++s) {
      const Scalar scalar = static_cast<Scalar>(s);
      if (!ir::Contains(info.types, scalar)) continue;
      const ir::Type type = scalar == Scalar::Int ? ir::Type::Int(3) : ir::Type::Of(scalar);
      const bool is_target =
          ir::Contains(ir::sets::Fixed | ir::sets::Float | ir::sets::Fields, scalar);
      if (info.op == Op::Cast && !is_target) continue;
      const ir::Type source = scalar == Scalar::XField ? ir::types::Field
                              : info.op == Op::Bitcast ? type
                                                       : ir::types::U64;
      std::vector<ir::Type> types;
      for (char c : info.signature.substr(0, info.signature.find("->"))) {
        if (c == 'T') types.push_back(type);
        if (c == 'B') types.push_back(ir::types::Bool);
        if (c == 'F') types.push_back(ir::types::Field);
        if (c == 'S') types.push_back(source);
      }
      std::vector<std::vector<uint64_t>> storage;
      for (ir::Type t : types) storage.push_back(ir::LiteralFromInt(t, 1));
      std::vector<Words> operands(storage.begin(), storage.end());
      std::vector<uint64_t> result(info.signature.ends_with('T') ? ir::WordsOf(type) : 1);
      const std::array<uint64_t, 1> attributes = {0};
      const std::optional<Trap> trap =
          EvalScalar({info.op, type, types[0], attributes}, operands, result);
      const bool overflows = info.op == Op::NegChecked && !ir::IsSigned(scalar);
      EXPECT_EQ(trap, overflows ? std::optional(Trap::Overflow) : std::nullopt) << info.mnemonic;
      ++evaluated;
    }
  }
  EXPECT_GT(evaluated, 300);
}

}  // namespace
}  // namespace frazil::exec
