// Fixed-point numbers in the field of goldilocks.h: a number v is the element v * 2^16, and an element above p / 2 is
// negative, for comparison, division and relu alike. Every result is the exact one rounded to the nearest number
// (halves go up), as long as it fits (|v| < 2^47); beyond that it wraps modulo p.
//
// FixedLiteral is the same with division by the scale in the field. There, all laws of a field hold, but it does not
// round: 1 / 2^16 in the field is no small number, so a product whose last 16 bits are not 0 is of no use
// (0.1 * 0.1 is -1.24e14). It stands here under its own name to be compared with.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "base/number/goldilocks.h"

namespace frazil {

// An element as a signed number: -(p - 1) / 2 to (p - 1) / 2.
constexpr int64_t SignedOf(uint64_t element) {
  return element > goldilocks::P / 2 ? -static_cast<int64_t>(goldilocks::P - element)
                                     : static_cast<int64_t>(element);
}

namespace fixed_detail {
__extension__ using int128 = __int128;

constexpr int FractionBits = 16;

// Modulo p; |value| is below 2^127.
constexpr uint64_t ElementOf(int128 value) {
  const int128 rest = value % static_cast<int128>(goldilocks::P);
  return static_cast<uint64_t>(rest < 0 ? rest + static_cast<int128>(goldilocks::P) : rest);
}

// To the nearest, halves up.
constexpr int128 ShiftDown(int128 value) {
  return (value + (int128{1} << (FractionBits - 1))) >> FractionBits;
}

// To the nearest, halves up; the divisor is not 0.
constexpr int128 DivideNearest(int128 a, int128 b) {
  if (b < 0) a = -a, b = -b;
  const int128 doubled = 2 * a + b;
  const int128 quotient = doubled / (2 * b);
  return quotient - (doubled % (2 * b) < 0 ? 1 : 0);
}

// To the nearest, ties to even; what does not fit is the greatest number of its sign, a NaN is 0.
uint64_t ElementOf(double value);
double DoubleOf(uint64_t element);
}  // namespace fixed_detail

struct Fixed {
  static constexpr uint64_t Scale = uint64_t{1} << fixed_detail::FractionBits;

  uint64_t element = 0;

  static constexpr Fixed Zero() { return {0}; }
  static constexpr Fixed One() { return {Scale}; }
  static Fixed FromDouble(double value) { return {fixed_detail::ElementOf(value)}; }
  double ToDouble() const { return fixed_detail::DoubleOf(element); }

  constexpr int64_t Signed() const { return SignedOf(element); }
  constexpr bool IsNegative() const { return element > goldilocks::P / 2; }

  constexpr Fixed Add(Fixed b) const { return {goldilocks::Add(element, b.element)}; }
  constexpr Fixed Sub(Fixed b) const { return {goldilocks::Sub(element, b.element)}; }
  constexpr Fixed Neg() const { return {goldilocks::Neg(element)}; }
  constexpr Fixed Mul(Fixed b) const {
    using fixed_detail::int128;
    return {fixed_detail::ElementOf(fixed_detail::ShiftDown(int128{Signed()} * b.Signed()))};
  }
  // Nothing for a divisor of 0.
  constexpr std::optional<Fixed> Div(Fixed b) const {
    using fixed_detail::int128;
    if (b.element == 0) return std::nullopt;
    const int128 scaled = int128{Signed()} * static_cast<int64_t>(Scale);
    return Fixed{fixed_detail::ElementOf(fixed_detail::DivideNearest(scaled, b.Signed()))};
  }
  constexpr std::optional<Fixed> Inv() const { return One().Div(*this); }
  constexpr Fixed Relu() const { return IsNegative() ? Zero() : *this; }

  friend constexpr bool operator==(Fixed, Fixed) = default;
  friend constexpr std::strong_ordering operator<=>(Fixed a, Fixed b) {
    return a.Signed() <=> b.Signed();
  }
};

// A sum of products: exact, in the field, at the scale 2^32, and brought back once. It is right as long as the sum lies
// within 2^31, whatever the partial sums do: 65,536 products of up to 2^15 each.
class FixedSum {
 public:
  constexpr FixedSum() = default;
  constexpr void AddProduct(Fixed a, Fixed b) {
    element_ = goldilocks::MulAdd(a.element, b.element, element_);
  }
  constexpr void Add(Fixed a) { element_ = goldilocks::MulAdd(a.element, Fixed::Scale, element_); }
  constexpr Fixed Rescaled() const {
    return {fixed_detail::ElementOf(fixed_detail::ShiftDown(SignedOf(element_)))};
  }

 private:
  uint64_t element_ = 0;
};

struct FixedLiteral {
  static constexpr uint64_t Scale = Fixed::Scale;
  // 1 / 2^16 = -(2^48 - 2^16).
  static constexpr uint64_t InverseScale = goldilocks::P - ((uint64_t{1} << 48) - Scale);

  uint64_t element = 0;

  static constexpr FixedLiteral Zero() { return {0}; }
  static constexpr FixedLiteral One() { return {Scale}; }
  static FixedLiteral FromDouble(double value) { return {fixed_detail::ElementOf(value)}; }
  double ToDouble() const { return fixed_detail::DoubleOf(element); }

  constexpr FixedLiteral Add(FixedLiteral b) const { return {goldilocks::Add(element, b.element)}; }
  constexpr FixedLiteral Sub(FixedLiteral b) const { return {goldilocks::Sub(element, b.element)}; }
  constexpr FixedLiteral Neg() const { return {goldilocks::Neg(element)}; }
  constexpr FixedLiteral Mul(FixedLiteral b) const {
    return {goldilocks::Mul(goldilocks::Mul(element, b.element), InverseScale)};
  }
  // Nothing for 0.
  constexpr std::optional<FixedLiteral> Inv() const {
    if (element == 0) return std::nullopt;
    return FixedLiteral{goldilocks::Mul(goldilocks::Invert(element), Scale * Scale)};
  }
  constexpr FixedLiteral Relu() const { return element > goldilocks::P / 2 ? Zero() : *this; }

  friend constexpr bool operator==(FixedLiteral, FixedLiteral) = default;
};

}  // namespace frazil
