// Float ops: compute in f32 or f64, round once; a NaN is the one quiet NaN.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <limits>

#include "base/number/float16.h"
#include "exec/meaning/meaning_types.h"

namespace frazil::exec::meaning {

inline float Widen(F16 a) { return float16::F16::ToFloat(a.bits); }
inline float Widen(BF16 a) { return float16::BF16::ToFloat(a.bits); }
inline float Widen(float a) { return a; }
inline double Widen(double a) { return a; }
template <Float T>
using Computed = decltype(Widen(T{}));

// Rounds a computed value to T. The comparison with itself is the only test for NaN that vectorizes
// well.
template <Float T>
T Narrow(Computed<T> x) {
  if constexpr (std::same_as<T, F16>) {
    return F16{float16::F16::FromFloat(x)};
  } else if constexpr (std::same_as<T, BF16>) {
    return BF16{float16::BF16::FromFloat(x)};
  } else {
    return x != x ? std::numeric_limits<T>::quiet_NaN() : x;
  }
}
template <Float T>
bool IsNan(T a) {
  return Widen(a) != Widen(a);
}
inline bool SignOf(F16 a) { return (a.bits >> 15) != 0; }
inline bool SignOf(BF16 a) { return (a.bits >> 15) != 0; }
inline bool SignOf(float a) { return (std::bit_cast<uint32_t>(a) >> 31) != 0; }
inline bool SignOf(double a) { return (std::bit_cast<uint64_t>(a) >> 63) != 0; }

// std::sqrt must set errno, which no loop over it can do in a vector.
template <std::floating_point T>
T SquareRoot(T a) {
#if __has_builtin(__builtin_elementwise_sqrt)
  return __builtin_elementwise_sqrt(a);
#else
  return std::sqrt(a);
#endif
}

template <Float T>
T Add(T a, T b) {
  return Narrow<T>(Widen(a) + Widen(b));
}
template <Float T>
T Sub(T a, T b) {
  return Narrow<T>(Widen(a) - Widen(b));
}
template <Float T>
T Mul(T a, T b) {
  return Narrow<T>(Widen(a) * Widen(b));
}
template <Float T>
T Div(T a, T b) {
  return Narrow<T>(Widen(a) / Widen(b));
}
template <Float T>
T Neg(T a) {
  return Narrow<T>(-Widen(a));
}
template <Float T>
T Abs(T a) {
  return Narrow<T>(std::fabs(Widen(a)));
}
// By bits: LLVM takes `x < 0 ? NaN : sqrt(x)` for sqrt(x), whose NaN has a sign and keeps payloads.
template <Float T>
T Sqrt(T a) {
  const Computed<T> root = SquareRoot(Widen(a));
  using Bits = std::conditional_t<sizeof(root) == 4, uint32_t, uint64_t>;
  constexpr Bits infinity = std::bit_cast<Bits>(std::numeric_limits<Computed<T>>::infinity());
  constexpr Bits nan = std::bit_cast<Bits>(std::numeric_limits<Computed<T>>::quiet_NaN());
  const Bits bits = std::bit_cast<Bits>(root);
  const Bits magnitude = bits & (~Bits{0} >> 1);
  return Narrow<T>(std::bit_cast<Computed<T>>(magnitude > infinity ? nan : bits));
}
template <Float T>
T Floor(T a) {
  return Narrow<T>(std::floor(Widen(a)));
}
template <Float T>
T Ceil(T a) {
  return Narrow<T>(std::ceil(Widen(a)));
}
template <Float T>
T Trunc(T a) {
  return Narrow<T>(std::trunc(Widen(a)));
}
template <Float T>
T Nearest(T a) {
  return Narrow<T>(std::nearbyint(Widen(a)));
}
template <std::floating_point T>
T Fma(T a, T b, T c) {
  return Narrow<T>(std::fma(a, b, c));
}
// The sign is the second's bit, even where that is a NaN.
template <Float T>
T CopySign(T a, T b) {
  const Computed<T> magnitude = std::fabs(Widen(a));
  return Narrow<T>(SignOf(b) ? -magnitude : magnitude);
}

// Neither is NaN; -0 < +0.
template <Float T>
bool OrderedLess(T a, T b) {
  return Widen(a) < Widen(b) || (Widen(a) == Widen(b) && SignOf(a) && !SignOf(b));
}
template <Float T>
T Minimum(T a, T b) {
  const Computed<T> nan = std::numeric_limits<Computed<T>>::quiet_NaN();
  return Narrow<T>(IsNan(a) || IsNan(b) ? nan : Widen(OrderedLess(b, a) ? b : a));
}
template <Float T>
T Maximum(T a, T b) {
  const Computed<T> nan = std::numeric_limits<Computed<T>>::quiet_NaN();
  return Narrow<T>(IsNan(a) || IsNan(b) ? nan : Widen(OrderedLess(a, b) ? b : a));
}
template <Float T>
T Min(T a, T b) {
  return Narrow<T>(Widen(IsNan(a) ? b : IsNan(b) ? a : OrderedLess(b, a) ? b : a));
}
template <Float T>
T Max(T a, T b) {
  return Narrow<T>(Widen(IsNan(a) ? b : IsNan(b) ? a : OrderedLess(a, b) ? b : a));
}

template <Float T>
Bool Eq(T a, T b) {
  return {Widen(a) == Widen(b)};
}
template <Float T>
Bool Ne(T a, T b) {
  return {Widen(a) != Widen(b)};
}
template <Float T>
Bool Lt(T a, T b) {
  return {Widen(a) < Widen(b)};
}
template <Float T>
Bool Le(T a, T b) {
  return {Widen(a) <= Widen(b)};
}
template <Float T>
Bool Gt(T a, T b) {
  return {Widen(a) > Widen(b)};
}
template <Float T>
Bool Ge(T a, T b) {
  return {Widen(a) >= Widen(b)};
}

}  // namespace frazil::exec::meaning
