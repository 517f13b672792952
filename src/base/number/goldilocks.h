// The field of p = 2^64 - 2^32 + 1 and its extension F_p[x] / (x^3 - x + 1), one element at a time.
// Every argument and every result is canonical (< p).
#pragma once

#include <array>
#include <cstddef>
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

constexpr uint64_t Sub(uint64_t a, uint64_t b) { return a - b - (a < b ? Epsilon : 0); }
constexpr uint64_t Neg(uint64_t a) { return a == 0 ? 0 : P - a; }
// a - (p - b): for b = 0 that borrows always, and p comes back.
constexpr uint64_t Add(uint64_t a, uint64_t b) { return Sub(a, P - b); }

// low + 2^64 high, for high / 2^32 <= 2^32 - 2: a product of two elements and one element more is within that.
// With 2^64 = 2^32 - 1 and 2^96 = -1 this is low + t - s, where t = (high mod 2^32) (2^32 - 1) and s = high / 2^32.
// It is taken as low - q with q = s + p - t, which lies in [2^32, 2^64): one borrow, and nothing to reduce after it.
// Only low + t < s needs p once more, about once in 2^63 products: that is the branch.
constexpr uint64_t Reduce(uint64_t low, uint64_t high) {
  const uint64_t t = (high << 32) - (high & Epsilon);
  const uint64_t q = (high >> 32) + P - t;
  uint64_t difference = low - q - (low < q ? Epsilon : 0);
  if (difference >= P) [[unlikely]]
    difference += P;
  return difference;
}

constexpr uint64_t Mul(uint64_t a, uint64_t b) {
  __extension__ using uint128 = unsigned __int128;
  const uint128 product = uint128{a} * b;
  return Reduce(static_cast<uint64_t>(product), static_cast<uint64_t>(product >> 64));
}

// a b + c, reduced once: (p - 1)^2 + p - 1 still fits Reduce.
constexpr uint64_t MulAdd(uint64_t a, uint64_t b, uint64_t c) {
  __extension__ using uint128 = unsigned __int128;
  const uint128 sum = uint128{a} * b + c;
  return Reduce(static_cast<uint64_t>(sum), static_cast<uint64_t>(sum >> 64));
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

// Karatsuba's way: six products. With x^3 = x - 1 and x^4 = x^2 - x the coefficients p0 to p4 of the plain product
// become p0 - p3, p1 + p3 - p4, p2 + p4.
constexpr XElement Mul(const XElement& a, const XElement& b) {
  const uint64_t m0 = Mul(a[0], b[0]), m1 = Mul(a[1], b[1]), m2 = Mul(a[2], b[2]);
  auto cross = [&](size_t i, size_t j, uint64_t mi, uint64_t mj) {
    return Sub(Sub(Mul(Add(a[i], a[j]), Add(b[i], b[j])), mi), mj);
  };
  const uint64_t p1 = cross(0, 1, m0, m1), p3 = cross(1, 2, m1, m2);
  const uint64_t p2 = Add(cross(0, 2, m0, m2), m1);
  return {Sub(m0, p3), Add(p1, Sub(p3, m2)), Add(p2, m2)};
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

constexpr XElement Lift(uint64_t a) { return {a, 0, 0}; }
// b is not 0.
constexpr XElement Div(const XElement& a, const XElement& b) { return Mul(a, Invert(b)); }
constexpr XElement Pow(XElement base, uint64_t exponent) {
  XElement result = Lift(1);
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = Mul(result, base);
    base = Mul(base, base);
  }
  return result;
}

}  // namespace frazil::goldilocks
