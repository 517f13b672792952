// The rounding form against exact arithmetic, the literal form against the laws of a field, and how far the two are
// apart.
#include "base/number/fixed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace frazil {
namespace {

constexpr double Step = 1.0 / 65536;

Fixed Of(double value) { return Fixed::FromDouble(value); }

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : random_(seed) {}
  double Between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  uint64_t Element() { return random_() % goldilocks::P; }

 private:
  std::mt19937_64 random_;
};

TEST(Fixed, RoundTrips) {
  Numbers numbers(1);
  for (int i = 0; i < 100'000; ++i) {
    const double value = numbers.Between(-1e6, 1e6);
    EXPECT_LE(std::abs(Of(value).ToDouble() - value), Step / 2);
    EXPECT_EQ(Of(Of(value).ToDouble()), Of(value));
  }
  EXPECT_EQ(Of(1).element, Fixed::Scale);
  EXPECT_EQ(Of(-1).element, goldilocks::P - Fixed::Scale);
  EXPECT_EQ(Of(0), Fixed::Zero());
  EXPECT_EQ(Of(1), Fixed::One());
}

TEST(Fixed, WhatDoesNotFitIsTheGreatestOfItsSign) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const uint64_t half = goldilocks::P / 2;
  for (double value : {1e300, infinity, 0x1p47}) {
    EXPECT_EQ(Of(value).element, half);
    EXPECT_EQ(Of(-value).element, goldilocks::P - half);
  }
  EXPECT_EQ(Of(std::nan("")), Fixed::Zero());
  EXPECT_GT(Of(1e300), Of(-1e300));
}

TEST(Fixed, ProductsAreTheNearestNumbers) {
  Numbers numbers(2);
  for (int i = 0; i < 100'000; ++i) {
    const Fixed a = Of(numbers.Between(-3e4, 3e4)), b = Of(numbers.Between(-3e4, 3e4));
    const long double exact = static_cast<long double>(a.ToDouble()) * b.ToDouble();
    EXPECT_LE(std::abs(static_cast<double>(a.Mul(b).ToDouble() - exact)), Step / 2)
        << a.ToDouble() << " * " << b.ToDouble();
    EXPECT_EQ(a.Mul(b), b.Mul(a));
    EXPECT_EQ(a.Mul(Fixed::One()), a);
  }
  EXPECT_NEAR(Of(0.1).Mul(Of(0.1)).ToDouble(), 0.01, Step);
  EXPECT_NEAR(Of(-1e6).Mul(Of(1e6)).ToDouble(), -1e12, 1);
  // Halves go up, below 0 as well.
  EXPECT_EQ(Fixed{1}.Mul(Of(0.5)).element, 1u);
  EXPECT_EQ(Fixed{1}.Neg().Mul(Of(0.5)).element, 0u);
}

TEST(Fixed, QuotientsAreTheNearestNumbers) {
  Numbers numbers(3);
  for (int i = 0; i < 100'000; ++i) {
    const Fixed a = Of(numbers.Between(-1e6, 1e6)), b = Of(numbers.Between(-50, 50));
    if (b == Fixed::Zero()) continue;
    const long double exact = static_cast<long double>(a.ToDouble()) / b.ToDouble();
    // Half a step, and what the quotient of long doubles is off itself.
    EXPECT_LE(std::abs(static_cast<double>(a.Div(b)->ToDouble() - exact)), Step / 2 + 1e-9);
  }
  EXPECT_EQ(Of(-6).Div(Of(4)), Of(-1.5));
  EXPECT_EQ(Of(6).Div(Of(-4)), Of(-1.5));
  EXPECT_EQ(Of(-8).Inv(), Of(-0.125));
  EXPECT_EQ(Of(3).Div(Fixed::Zero()), std::nullopt);
  EXPECT_EQ(Fixed::Zero().Inv(), std::nullopt);
  // 1.5 and -1.5 steps.
  EXPECT_EQ(Fixed{3}.Div(Of(2))->element, 2u);
  EXPECT_EQ(Fixed{3}.Neg().Div(Of(2)), Fixed{1}.Neg());
}

TEST(Fixed, SignsHoldForOrderReluAndSums) {
  const uint64_t half = goldilocks::P / 2;
  EXPECT_FALSE(Fixed{half}.IsNegative());
  EXPECT_TRUE(Fixed{half + 1}.IsNegative());
  EXPECT_EQ(SignedOf(half), -SignedOf(half + 1));
  EXPECT_EQ(Fixed{half + 1}.Relu(), Fixed::Zero());
  EXPECT_EQ(Fixed{half}.Relu(), Fixed{half});
  Numbers numbers(4);
  for (int i = 0; i < 10'000; ++i) {
    const double x = Of(numbers.Between(-100, 100)).ToDouble(),
                 y = Of(numbers.Between(-100, 100)).ToDouble();
    EXPECT_EQ(Of(x) < Of(y), x < y);
    EXPECT_EQ(Of(x).Relu().ToDouble(), std::max(x, 0.0));
    EXPECT_EQ(Of(x).Add(Of(y)).ToDouble(), x + y);
    EXPECT_EQ(Of(x).Sub(Of(y)).ToDouble(), x - y);
    EXPECT_EQ(Of(x).Neg().ToDouble(), -x);
  }
}

TEST(Fixed, SumsOf65536ProductsAreExact) {
  Numbers numbers(5);
  for (double range : {1.0, 100.0}) {
    FixedSum sum;
    fixed_detail::int128 exact = 0;
    for (int i = 0; i < 65'536; ++i) {
      const Fixed a = Of(numbers.Between(-range, range)), b = Of(numbers.Between(-range, range));
      sum.AddProduct(a, b);
      exact += fixed_detail::int128{a.Signed()} * b.Signed();
    }
    EXPECT_EQ(sum.Rescaled().Signed(), static_cast<int64_t>(fixed_detail::ShiftDown(exact)));
  }
  // All of one sign, up to the limit of 2^31: 65,535 products of 2^15.
  FixedSum most, least;
  for (int i = 0; i < 65'535; ++i)
    most.AddProduct(Of(256), Of(128)), least.AddProduct(Of(-256), Of(128));
  EXPECT_EQ(most.Rescaled().ToDouble(), 65'535.0 * 32'768);
  EXPECT_EQ(least.Rescaled().ToDouble(), -65'535.0 * 32'768);
  most.Add(Of(-1.5));
  EXPECT_EQ(most.Rescaled().ToDouble(), 65'535.0 * 32'768 - 1.5);
}

TEST(FixedLiteral, IsAField) {
  Numbers numbers(6);
  for (int i = 0; i < 10'000; ++i) {
    const FixedLiteral a{numbers.Element()}, b{numbers.Element()}, c{numbers.Element()};
    EXPECT_EQ(a.Mul(b), b.Mul(a));
    EXPECT_EQ(a.Mul(b).Mul(c), a.Mul(b.Mul(c)));
    EXPECT_EQ(a.Mul(b.Add(c)), a.Mul(b).Add(a.Mul(c)));
    EXPECT_EQ(a.Mul(FixedLiteral::One()), a);
    EXPECT_EQ(a.Add(FixedLiteral::Zero()), a);
    EXPECT_EQ(a.Add(a.Neg()), FixedLiteral::Zero());
    EXPECT_EQ(a.Sub(b), a.Add(b.Neg()));
    if (a.element != 0) {
      EXPECT_EQ(a.Mul(*a.Inv()), FixedLiteral::One());
    }
  }
  EXPECT_EQ(FixedLiteral::Zero().Inv(), std::nullopt);
  EXPECT_EQ(goldilocks::Mul(FixedLiteral::InverseScale, FixedLiteral::Scale), 1u);
}

TEST(FixedLiteral, IsRightForDyadicNumbersOnly) {
  auto product = [](double a, double b) {
    return FixedLiteral::FromDouble(a).Mul(FixedLiteral::FromDouble(b)).ToDouble();
  };
  EXPECT_EQ(product(0.5, 0.5), 0.25);
  EXPECT_EQ(product(3, -4), -12);
  EXPECT_NEAR(product(0.1, 0.1), -1.24e14, 0.01e14);
  Numbers numbers(7);
  int wrong = 0, wrong_rounding = 0, wrong_dots = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double a = numbers.Between(-10, 10), b = numbers.Between(-10, 10);
    wrong += std::abs(product(a, b) - a * b) > 0.01;
    wrong_rounding += std::abs(Of(a).Mul(Of(b)).ToDouble() - a * b) > 0.01;
  }
  for (int i = 0; i < 2'000; ++i) {
    FixedLiteral sum;
    double exact = 0;
    for (int k = 0; k < 64; ++k) {
      const double a = numbers.Between(-1, 1), b = numbers.Between(-1, 1);
      sum = sum.Add(FixedLiteral::FromDouble(a).Mul(FixedLiteral::FromDouble(b)));
      exact += a * b;
    }
    wrong_dots += std::abs(sum.ToDouble() - exact) > 0.1;
  }
  EXPECT_GE(wrong, 9'980);  // all but those with 16 zeros below: about 9 in 65,536
  EXPECT_LT(wrong, 10'000);
  EXPECT_EQ(wrong_rounding, 0);
  EXPECT_GE(wrong_dots, 1'995);
}

}  // namespace
}  // namespace frazil
