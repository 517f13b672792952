// The field of p = 2^64 - 2^32 + 1 and its extension F_p[x] / (x^3 - x + 1), one element at a time.
// Every argument and every result is canonical (< p).
#pragma once

#include <array>
#include <cstdint>

namespace frazil::goldilocks {

inline constexpr uint64_t P = 0xffff'ffff'0000'0001u;
// 2^64 modulo p.
inline constexpr uint64_t Epsilon = 0xffff'ffffu;

constexpr uint64_t FromUint64(uint64_t value) { return value >= P ? value - P : value; }
// |value| is at most 2^63 < p, so a negative one needs p once.
constexpr uint64_t FromInt64(int64_t value) {
  return value < 0 ? P + static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

constexpr uint64_t Sub(uint64_t a, uint64_t b) { return a >= b ? a - b : a + (P - b); }
constexpr uint64_t Neg(uint64_t a) { return a == 0 ? 0 : P - a; }
constexpr uint64_t Add(uint64_t a, uint64_t b) { return Sub(a, Neg(b)); }

// With 2^64 = 2^32 - 1 and 2^96 = -1 the product n0 + n1 2^64 + n2 2^96 is n0 + n1 (2^32 - 1) - n2.
constexpr uint64_t Mul(uint64_t a, uint64_t b) {
  __extension__ using uint128 = unsigned __int128;
  const uint128 product = uint128{a} * b;
  const uint64_t low = static_cast<uint64_t>(product);
  const uint64_t high = static_cast<uint64_t>(product >> 64);
  const uint64_t middle = (high & 0xffff'ffffu) * Epsilon;
  const uint64_t top = high >> 32;
  uint64_t difference = low - top;
  if (low < top) difference -= Epsilon;
  uint64_t sum = difference + middle;
  if (sum < difference) sum += Epsilon;
  return FromUint64(sum);
}

constexpr uint64_t Pow(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = Mul(result, base);
    base = Mul(base, base);
  }
  return result;
}

// a is not 0.
constexpr uint64_t Invert(uint64_t a) { return Pow(a, P - 2); }

// c0 + c1 x + c2 x^2.
using XElement = std::array<uint64_t, 3>;

constexpr bool IsZero(const XElement& a) { return a == XElement{}; }
constexpr XElement Add(const XElement& a, const XElement& b) {
  return {Add(a[0], b[0]), Add(a[1], b[1]), Add(a[2], b[2])};
}
constexpr XElement Sub(const XElement& a, const XElement& b) {
  return {Sub(a[0], b[0]), Sub(a[1], b[1]), Sub(a[2], b[2])};
}
constexpr XElement Neg(const XElement& a) { return {Neg(a[0]), Neg(a[1]), Neg(a[2])}; }

// a times x: x^3 = x - 1.
constexpr XElement TimesX(const XElement& a) { return {Neg(a[2]), Add(a[0], a[2]), a[1]}; }

constexpr XElement Scale(const XElement& a, uint64_t s) {
  return {Mul(a[0], s), Mul(a[1], s), Mul(a[2], s)};
}

constexpr XElement Mul(const XElement& a, const XElement& b) {
  const XElement ax = TimesX(a);
  const XElement axx = TimesX(ax);
  return Add(Scale(a, b[0]), Add(Scale(ax, b[1]), Scale(axx, b[2])));
}

// The b with a b = 1, by Cramer's rule on the matrix of "times a". a is not 0.
constexpr XElement Invert(const XElement& a) {
  const XElement ax = TimesX(a);
  const XElement axx = TimesX(ax);
  auto minor = [](const XElement& u, const XElement& v) {
    return Sub(Mul(u[1], v[2]), Mul(u[2], v[1]));
  };
  const XElement cofactors = {minor(ax, axx), minor(axx, a), minor(a, ax)};
  const uint64_t determinant =
      Add(Mul(a[0], cofactors[0]), Add(Mul(ax[0], cofactors[1]), Mul(axx[0], cofactors[2])));
  return Scale(cofactors, Invert(determinant));
}

}  // namespace frazil::goldilocks
