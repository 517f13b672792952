// The field against 128-bit remainders, the extension against its defining polynomial.
#include "base/number/goldilocks.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace frazil::goldilocks {
namespace {

__extension__ using uint128 = unsigned __int128;

std::vector<uint64_t> Elements() {
  std::vector<uint64_t> values = {0,
                                  1,
                                  2,
                                  P - 1,
                                  P - 2,
                                  Epsilon - 1,
                                  Epsilon,
                                  Epsilon + 1,
                                  P / 2,
                                  P / 2 + 1,
                                  uint64_t{1} << 63,
                                  P - Epsilon,
                                  (uint64_t{1} << 32) + 1};
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) values.push_back(FromUint64(random()));
  return values;
}

TEST(Goldilocks, LikeRemainders) {
  for (uint64_t a : Elements()) {
    for (uint64_t b : Elements()) {
      EXPECT_EQ(Add(a, b), static_cast<uint64_t>((uint128{a} + b) % P));
      EXPECT_EQ(Sub(a, b), static_cast<uint64_t>((uint128{a} + P - b) % P));
      EXPECT_EQ(Mul(a, b), static_cast<uint64_t>(uint128{a} * b % P));
    }
    EXPECT_EQ(Add(a, Neg(a)), 0u);
    if (a != 0) {
      EXPECT_EQ(Mul(a, Invert(a)), 1u);
    }
  }
}

TEST(Goldilocks, FromIntegers) {
  EXPECT_EQ(FromInt64(-1), P - 1);
  EXPECT_EQ(FromInt64(INT64_MIN), P - (uint64_t{1} << 63));
  EXPECT_EQ(FromInt64(INT64_MAX), uint64_t{INT64_MAX});
  EXPECT_EQ(FromUint64(P), 0u);
  EXPECT_EQ(FromUint64(UINT64_MAX), Epsilon - 1);
}

TEST(Goldilocks, Extension) {
  const XElement x = {0, 1, 0};
  const XElement one = {1, 0, 0};
  // x^3 - x + 1 = 0
  const XElement cube = Mul(x, Mul(x, x));
  EXPECT_EQ(Add(Sub(cube, x), one), XElement{});
  std::mt19937_64 random(9);
  auto element = [&] {
    return XElement{FromUint64(random()), FromUint64(random()), FromUint64(random())};
  };
  for (int i = 0; i < 300; ++i) {
    const XElement a = element();
    const XElement b = element();
    const XElement c = element();
    EXPECT_EQ(Mul(a, b), Mul(b, a));
    EXPECT_EQ(Mul(a, Mul(b, c)), Mul(Mul(a, b), c));
    EXPECT_EQ(Mul(a, Add(b, c)), Add(Mul(a, b), Mul(a, c)));
    EXPECT_EQ(Mul(a, Invert(a)), one);
  }
  for (const XElement& a : {one, x, XElement{0, 0, 1}, XElement{P - 1, P - 1, P - 1}}) {
    EXPECT_EQ(Mul(a, Invert(a)), one);
  }
}

}  // namespace
}  // namespace frazil::goldilocks
