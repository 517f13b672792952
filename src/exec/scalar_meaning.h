// The meaning of every scalar op on one-word types, on plain C++ values, written once. The interpreter
// (scalar_ops.cpp) runs these on single words, the batch form (batch_kernels.h) in loops; both therefore
// mean the same. Casts are in cast_meaning.h, int<k>, xfield and digest in scalar_ops_wide.cpp.
//
// An op that can trap gives Checked<T>; its value after a trap is not used.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/float16.h"
#include "base/goldilocks.h"
#include "ir/op.h"

namespace frazil::exec::meaning {

struct F16 { uint16_t bits; };
struct BF16 { uint16_t bits; };
struct Bool { uint8_t value; };
struct Field { uint64_t value; };

template <typename T> concept Integer = std::integral<T>;
template <typename T> concept Half = std::same_as<T, F16> || std::same_as<T, BF16>;
template <typename T> concept Float = std::floating_point<T> || Half<T>;

// 0: no trap, else 1 + ir::Trap.
using TrapCode = uint8_t;
constexpr TrapCode CodeOf(ir::Trap trap) { return static_cast<TrapCode>(1 + static_cast<uint8_t>(trap)); }
constexpr TrapCode CodeIf(bool condition, ir::Trap trap) { return condition ? CodeOf(trap) : TrapCode{0}; }

template <typename T>
struct Checked {
  T value;
  TrapCode trap;
};

// --- floats: compute in f32 or f64, round once, one quiet NaN ------------------------------------------
inline float Widen(F16 a) { return float16::F16::ToFloat(a.bits); }
inline float Widen(BF16 a) { return float16::BF16::ToFloat(a.bits); }
inline float Widen(float a) { return a; }
inline double Widen(double a) { return a; }
template <Float T> using Computed = decltype(Widen(T{}));

// Rounds a computed value to T. The comparison with itself is the only test for NaN that vectorizes well.
template <Float T> T Narrow(Computed<T> x) {
  if constexpr (std::same_as<T, F16>) {
    return F16{float16::F16::FromFloat(x)};
  } else if constexpr (std::same_as<T, BF16>) {
    return BF16{float16::BF16::FromFloat(x)};
  } else {
    return x != x ? std::numeric_limits<T>::quiet_NaN() : x;
  }
}
template <Float T> bool IsNan(T a) { return Widen(a) != Widen(a); }
inline bool SignOf(F16 a) { return (a.bits >> 15) != 0; }
inline bool SignOf(BF16 a) { return (a.bits >> 15) != 0; }
inline bool SignOf(float a) { return (std::bit_cast<uint32_t>(a) >> 31) != 0; }
inline bool SignOf(double a) { return (std::bit_cast<uint64_t>(a) >> 63) != 0; }

// std::sqrt must set errno, which no loop over it can do in a vector.
template <std::floating_point T> T SquareRoot(T a) {
#if __has_builtin(__builtin_elementwise_sqrt)
  return __builtin_elementwise_sqrt(a);
#else
  return std::sqrt(a);
#endif
}

template <Float T> T Add(T a, T b) { return Narrow<T>(Widen(a) + Widen(b)); }
template <Float T> T Sub(T a, T b) { return Narrow<T>(Widen(a) - Widen(b)); }
template <Float T> T Mul(T a, T b) { return Narrow<T>(Widen(a) * Widen(b)); }
template <Float T> T Div(T a, T b) { return Narrow<T>(Widen(a) / Widen(b)); }
template <Float T> T Neg(T a) { return Narrow<T>(-Widen(a)); }
template <Float T> T Abs(T a) { return Narrow<T>(std::fabs(Widen(a))); }
// By bits: LLVM takes `x < 0 ? NaN : sqrt(x)` for sqrt(x), whose NaN has a sign and keeps payloads.
template <Float T> T Sqrt(T a) {
  const Computed<T> root = SquareRoot(Widen(a));
  using Bits = std::conditional_t<sizeof(root) == 4, uint32_t, uint64_t>;
  constexpr Bits infinity = std::bit_cast<Bits>(std::numeric_limits<Computed<T>>::infinity());
  constexpr Bits nan = std::bit_cast<Bits>(std::numeric_limits<Computed<T>>::quiet_NaN());
  const Bits bits = std::bit_cast<Bits>(root);
  const Bits magnitude = bits & (~Bits{0} >> 1);
  return Narrow<T>(std::bit_cast<Computed<T>>(magnitude > infinity ? nan : bits));
}
template <Float T> T Floor(T a) { return Narrow<T>(std::floor(Widen(a))); }
template <Float T> T Ceil(T a) { return Narrow<T>(std::ceil(Widen(a))); }
template <Float T> T Trunc(T a) { return Narrow<T>(std::trunc(Widen(a))); }
template <Float T> T Nearest(T a) { return Narrow<T>(std::nearbyint(Widen(a))); }
template <std::floating_point T> T Fma(T a, T b, T c) { return Narrow<T>(std::fma(a, b, c)); }
// The sign is the second's bit, even where that is a NaN.
template <Float T> T CopySign(T a, T b) {
  const Computed<T> magnitude = std::fabs(Widen(a));
  return Narrow<T>(SignOf(b) ? -magnitude : magnitude);
}

// Neither is NaN; -0 < +0.
template <Float T> bool OrderedLess(T a, T b) {
  return Widen(a) < Widen(b) || (Widen(a) == Widen(b) && SignOf(a) && !SignOf(b));
}
template <Float T> T Minimum(T a, T b) {
  const Computed<T> nan = std::numeric_limits<Computed<T>>::quiet_NaN();
  return Narrow<T>(IsNan(a) || IsNan(b) ? nan : Widen(OrderedLess(b, a) ? b : a));
}
template <Float T> T Maximum(T a, T b) {
  const Computed<T> nan = std::numeric_limits<Computed<T>>::quiet_NaN();
  return Narrow<T>(IsNan(a) || IsNan(b) ? nan : Widen(OrderedLess(a, b) ? b : a));
}
template <Float T> T Min(T a, T b) {
  return Narrow<T>(Widen(IsNan(a) ? b : IsNan(b) ? a : OrderedLess(b, a) ? b : a));
}
template <Float T> T Max(T a, T b) {
  return Narrow<T>(Widen(IsNan(a) ? b : IsNan(b) ? a : OrderedLess(a, b) ? b : a));
}

template <Float T> Bool Eq(T a, T b) { return {Widen(a) == Widen(b)}; }
template <Float T> Bool Ne(T a, T b) { return {Widen(a) != Widen(b)}; }
template <Float T> Bool Lt(T a, T b) { return {Widen(a) < Widen(b)}; }
template <Float T> Bool Le(T a, T b) { return {Widen(a) <= Widen(b)}; }
template <Float T> Bool Gt(T a, T b) { return {Widen(a) > Widen(b)}; }
template <Float T> Bool Ge(T a, T b) { return {Widen(a) >= Widen(b)}; }

// --- integers that wrap: work modulo 2^64, keep the low bits ---------------------------------------------
template <Integer T> constexpr int Width = std::numeric_limits<std::make_unsigned_t<T>>::digits;
template <Integer T> uint64_t Bits(T a) { return static_cast<std::make_unsigned_t<T>>(a); }

template <Integer T> T Add(T a, T b) { return static_cast<T>(Bits(a) + Bits(b)); }
template <Integer T> T Sub(T a, T b) { return static_cast<T>(Bits(a) - Bits(b)); }
template <Integer T> T Mul(T a, T b) { return static_cast<T>(Bits(a) * Bits(b)); }
template <Integer T> T Neg(T a) { return static_cast<T>(0 - Bits(a)); }
template <Integer T> T Abs(T a) { return a < 0 ? Neg(a) : a; }
template <Integer T> T MulHi(T a, T b) {
  __extension__ using Wide =
      std::conditional_t<(sizeof(T) < 8), std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                         std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> Width<T>);
}

template <Integer T> bool IsMinusOne(T a) { return std::is_signed_v<T> && a == static_cast<T>(-1); }
// b is not 0. Dividing by -1 is negation, which wraps; the machine's division would fault on MIN.
template <Integer T> T Quotient(T a, T b) { return IsMinusOne(b) ? Neg(a) : static_cast<T>(a / b); }
template <Integer T> T Remainder(T a, T b) { return IsMinusOne(b) ? T{0} : static_cast<T>(a % b); }
template <Integer T> bool SignsDiffer(T a, T b) { return (a < 0) != (b < 0); }

template <Integer T> Checked<T> DivTrunc(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  return {Quotient(a, b), 0};
}
template <Integer T> Checked<T> RemTrunc(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  return {Remainder(a, b), 0};
}
template <Integer T> Checked<T> DivFloor(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  const bool adjust = Remainder(a, b) != 0 && SignsDiffer(a, b);
  return {adjust ? Sub(Quotient(a, b), T{1}) : Quotient(a, b), 0};
}
template <Integer T> Checked<T> RemFloor(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  const T remainder = Remainder(a, b);
  return {remainder != 0 && SignsDiffer(a, b) ? Add(remainder, b) : remainder, 0};
}

// --- integers that trap -------------------------------------------------------------------------------------
template <Integer T> Checked<T> AddChecked(T a, T b) {
  T r;
  const bool overflow = __builtin_add_overflow(a, b, &r);
  return {r, CodeIf(overflow, ir::Trap::Overflow)};
}
template <Integer T> Checked<T> SubChecked(T a, T b) {
  T r;
  const bool overflow = __builtin_sub_overflow(a, b, &r);
  return {r, CodeIf(overflow, ir::Trap::Overflow)};
}
template <Integer T> Checked<T> MulChecked(T a, T b) {
  T r;
  const bool overflow = __builtin_mul_overflow(a, b, &r);
  return {r, CodeIf(overflow, ir::Trap::Overflow)};
}
template <Integer T> Checked<T> NegChecked(T a) { return SubChecked(T{0}, a); }
template <Integer T> Checked<T> AbsChecked(T a) { return a < 0 ? NegChecked(a) : Checked<T>{a, 0}; }
template <Integer T> Checked<T> DivChecked(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  return IsMinusOne(b) ? NegChecked(a) : Checked<T>{Quotient(a, b), 0};
}
template <Integer T> Checked<T> RemChecked(T a, T b) { return RemTrunc(a, b); }

// --- integers: order and bits -------------------------------------------------------------------------------
template <Integer T> T Min(T a, T b) { return b < a ? b : a; }
template <Integer T> T Max(T a, T b) { return a < b ? b : a; }
template <Integer T> Bool Eq(T a, T b) { return {a == b}; }
template <Integer T> Bool Ne(T a, T b) { return {a != b}; }
template <Integer T> Bool Lt(T a, T b) { return {a < b}; }
template <Integer T> Bool Le(T a, T b) { return {a <= b}; }
template <Integer T> Bool Gt(T a, T b) { return {a > b}; }
template <Integer T> Bool Ge(T a, T b) { return {a >= b}; }

template <Integer T> T And(T a, T b) { return static_cast<T>(a & b); }
template <Integer T> T Or(T a, T b) { return static_cast<T>(a | b); }
template <Integer T> T Xor(T a, T b) { return static_cast<T>(a ^ b); }
template <Integer T> T Not(T a) { return static_cast<T>(~a); }

// Widths are powers of two, so the low bits of the amount are the amount modulo the width.
template <Integer T> int Amount(T b) { return static_cast<int>(Bits(b) & (Width<T> - 1)); }
template <Integer T> T Shl(T a, T b) { return static_cast<T>(Bits(a) << Amount(b)); }
template <Integer T> T Shr(T a, T b) { return static_cast<T>(a >> Amount(b)); }
template <Integer T> T Rotl(T a, T b) {
  return static_cast<T>(std::rotl(static_cast<std::make_unsigned_t<T>>(a), Amount(b)));
}
template <Integer T> T Rotr(T a, T b) {
  return static_cast<T>(std::rotr(static_cast<std::make_unsigned_t<T>>(a), Amount(b)));
}
template <Integer T> T Clz(T a) { return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(a))); }
template <Integer T> T Ctz(T a) { return static_cast<T>(std::countr_zero(static_cast<std::make_unsigned_t<T>>(a))); }
template <Integer T> T Popcnt(T a) { return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(a))); }

// --- bool -----------------------------------------------------------------------------------------------------
inline Bool And(Bool a, Bool b) { return {static_cast<uint8_t>(a.value & b.value)}; }
inline Bool Or(Bool a, Bool b) { return {static_cast<uint8_t>(a.value | b.value)}; }
inline Bool Xor(Bool a, Bool b) { return {static_cast<uint8_t>(a.value ^ b.value)}; }
inline Bool Not(Bool a) { return {static_cast<uint8_t>(a.value ^ 1)}; }
inline Bool Eq(Bool a, Bool b) { return {a.value == b.value}; }
inline Bool Ne(Bool a, Bool b) { return {a.value != b.value}; }

// --- field ----------------------------------------------------------------------------------------------------
inline Field Add(Field a, Field b) { return {goldilocks::Add(a.value, b.value)}; }
inline Field Sub(Field a, Field b) { return {goldilocks::Sub(a.value, b.value)}; }
inline Field Mul(Field a, Field b) { return {goldilocks::Mul(a.value, b.value)}; }
inline Field Neg(Field a) { return {goldilocks::Neg(a.value)}; }
inline Bool Eq(Field a, Field b) { return {a.value == b.value}; }
inline Bool Ne(Field a, Field b) { return {a.value != b.value}; }
inline Checked<Field> Invert(Field a) {
  return {Field{goldilocks::Invert(a.value)}, CodeIf(a.value == 0, ir::Trap::InvertOfZero)};
}
inline Checked<Field> FieldDiv(Field a, Field b) {
  return {Mul(a, Invert(b).value), CodeIf(b.value == 0, ir::Trap::InvertOfZero)};
}

}  // namespace frazil::exec::meaning
