// int<k> against __int128 at two limbs, against itself by identities at many, and text both ways.
#include "base/number/wide.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace frazil::wide {
namespace {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;
using Two = std::array<uint64_t, 2>;
using Number = std::vector<uint64_t>;

Two FromInt128(int128 v) { return {static_cast<uint64_t>(v), static_cast<uint64_t>(v >> 64)}; }
int128 ToInt128(const Two& a) { return static_cast<int128>((uint128{a[1]} << 64) | a[0]); }

constexpr int128 Min128 = static_cast<int128>(uint128{1} << 127);
constexpr int128 Max128 = ~Min128;

std::vector<int128> Interesting() {
  std::vector<int128> values = {0, 1, -1, 2, -2, 10, Min128, Min128 + 1, Max128, Max128 - 1};
  for (int bit : {31, 32, 62, 63, 64, 65, 95, 126}) {
    for (int offset : {-1, 0, 1}) {
      values.push_back((int128{1} << bit) + offset);
      values.push_back(-(int128{1} << bit) + offset);
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 40; ++i) {
    const int128 v = static_cast<int128>((uint128{random()} << 64) | random());
    values.push_back(v >> (random() % 127));
  }
  return values;
}

TEST(Wide, TwoLimbsLikeInt128) {
  for (int128 x : Interesting()) {
    for (int128 y : Interesting()) {
      const Two a = FromInt128(x);
      const Two b = FromInt128(y);
      Two r;
      int128 expected;
      bool overflow = __builtin_add_overflow(x, y, &expected);
      EXPECT_EQ(Add(r, a, b), !overflow);
      EXPECT_EQ(ToInt128(r), expected);
      overflow = __builtin_sub_overflow(x, y, &expected);
      EXPECT_EQ(Sub(r, a, b), !overflow);
      EXPECT_EQ(ToInt128(r), expected);
      overflow = __builtin_mul_overflow(x, y, &expected);
      EXPECT_EQ(Mul(r, a, b), !overflow);
      EXPECT_EQ(ToInt128(r), expected);
      EXPECT_EQ(Compare(a, b), x < y ? -1 : x > y ? 1 : 0);
      if (y == 0) continue;
      Two rem;
      const bool fits = DivTrunc(r, rem, a, b);
      if (x == Min128 && y == -1) {
        EXPECT_FALSE(fits);
        EXPECT_EQ(ToInt128(r), Min128);
        EXPECT_EQ(ToInt128(rem), 0);
      } else {
        EXPECT_TRUE(fits);
        EXPECT_EQ(ToInt128(r), x / y);
        EXPECT_EQ(ToInt128(rem), x % y);
      }
    }
  }
}

TEST(Wide, NegationAndMagnitude) {
  Two r;
  EXPECT_FALSE(Neg(r, FromInt128(Min128)));
  EXPECT_EQ(ToInt128(r), Min128);
  EXPECT_FALSE(Abs(r, FromInt128(Min128)));
  EXPECT_TRUE(Neg(r, FromInt128(0)));
  EXPECT_EQ(ToInt128(r), 0);
  EXPECT_TRUE(Abs(r, FromInt128(Min128 + 1)));
  EXPECT_EQ(ToInt128(r), Max128);
}

Number RandomNumber(std::mt19937_64& random, size_t limbs) {
  Number n(limbs);
  for (uint64_t& limb : n) {
    // All zeros and all ones are what makes Knuth's estimate wrong.
    const uint64_t kind = random() % 4;
    limb = kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : random();
  }
  const size_t keep = random() % limbs + 1;
  const uint64_t fill = (n[keep - 1] >> 63) != 0 ? ~uint64_t{0} : 0;
  for (size_t i = keep; i < limbs; ++i) n[i] = fill;
  return n;
}

TEST(Wide, DivisionUndoesMultiplication) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20000; ++round) {
    const size_t k = round % 64 + 1;
    const Number a = RandomNumber(random, k);
    const Number b = RandomNumber(random, k);
    if (IsZero(b)) continue;
    Number q(k);
    Number r(k);
    if (!DivTrunc(q, r, a, b)) continue;
    Number product(k);
    ASSERT_TRUE(Mul(product, q, b));
    Number sum(k);
    ASSERT_TRUE(Add(sum, product, r));
    ASSERT_EQ(sum, a);
    Number abs_r(k);
    Number abs_b(k);
    ASSERT_TRUE(Abs(abs_r, r));
    // |MIN| does not fit, but is greater than any other magnitude.
    if (Abs(abs_b, b)) {
      ASSERT_LT(Compare(abs_r, abs_b), 0);
    }
    ASSERT_TRUE(IsZero(r) || IsNegative(r) == IsNegative(a));
  }
}

TEST(Wide, DestinationMayBeAnOperand) {
  Two a = FromInt128(-7);
  EXPECT_TRUE(Mul(a, a, a));
  EXPECT_EQ(ToInt128(a), 49);
  EXPECT_TRUE(Sub(a, a, a));
  EXPECT_EQ(ToInt128(a), 0);
  a = FromInt128(-50);
  Two b = FromInt128(7);
  EXPECT_TRUE(DivTrunc(a, b, a, b));
  EXPECT_EQ(ToInt128(a), -7);
  EXPECT_EQ(ToInt128(b), -1);
}

TEST(Wide, Resize) {
  std::array<uint64_t, 3> three;
  EXPECT_TRUE(Resize(three, FromInt128(-5)));
  EXPECT_EQ(ToDecimal(three), "-5");
  Two two;
  EXPECT_TRUE(Resize(two, three));
  EXPECT_EQ(ToInt128(two), -5);
  EXPECT_TRUE(FromDecimal("170141183460469231731687303715884105728", three));
  EXPECT_FALSE(Resize(two, three));
  EXPECT_TRUE(FromDecimal("-170141183460469231731687303715884105728", three));
  EXPECT_TRUE(Resize(two, three));
  EXPECT_EQ(ToInt128(two), Min128);
}

TEST(Wide, MachineIntegers) {
  Two two;
  EXPECT_TRUE(FromInt64(INT64_MIN, two));
  EXPECT_EQ(ToInt128(two), INT64_MIN);
  EXPECT_TRUE(FromUint64(UINT64_MAX, two));
  EXPECT_EQ(ToInt128(two), int128{UINT64_MAX});
  uint64_t one[1];
  EXPECT_FALSE(FromUint64(uint64_t{1} << 63, one));
  EXPECT_TRUE(FromUint64(INT64_MAX, one));
  int64_t i = 0;
  uint64_t u = 0;
  EXPECT_FALSE(ToInt64(FromInt128(int128{INT64_MAX} + 1), i));
  EXPECT_TRUE(ToInt64(FromInt128(INT64_MIN), i));
  EXPECT_EQ(i, INT64_MIN);
  EXPECT_TRUE(ToUint64(FromInt128(int128{UINT64_MAX}), u));
  EXPECT_EQ(u, UINT64_MAX);
  EXPECT_FALSE(ToUint64(FromInt128(int128{UINT64_MAX} + 1), u));
  EXPECT_FALSE(ToUint64(FromInt128(-1), u));
}

TEST(Wide, Decimal) {
  uint64_t one[1];
  EXPECT_TRUE(FromDecimal("-9223372036854775808", one));
  EXPECT_EQ(one[0], uint64_t{1} << 63);
  EXPECT_FALSE(FromDecimal("9223372036854775808", one));
  EXPECT_TRUE(FromDecimal("+0009223372036854775807", one));
  EXPECT_EQ(one[0], uint64_t{INT64_MAX});
  for (const char* bad : {"", "-", "+", "1a", "--1", " 1", "1 ", "18446744073709551616", "0x10"}) {
    EXPECT_FALSE(FromDecimal(bad, one)) << bad;
  }
  EXPECT_TRUE(FromDigits("Ff", 16, true, one));
  EXPECT_EQ(ToDecimal(one), "-255");
  EXPECT_EQ(ToDecimal(FromInt128(0)), "0");
  EXPECT_EQ(ToDecimal(FromInt128(Min128)), "-170141183460469231731687303715884105728");
  EXPECT_EQ(ToDecimal(FromInt128(int128{10'000'000'000'000'000'000u})), "10000000000000000000");
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    const Number a = RandomNumber(random, round % 64 + 1);
    Number back(a.size());
    ASSERT_TRUE(FromDecimal(ToDecimal(a), back));
    ASSERT_EQ(a, back);
  }
}

}  // namespace
}  // namespace frazil::wide
