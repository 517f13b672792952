// Integer ops. Those that wrap work modulo 2^64 and keep the low bits; those that are checked say
// whether the exact result fits.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include "exec/meaning/meaning_types.h"

namespace frazil::exec::meaning {

template <Integer T>
constexpr int Width = std::numeric_limits<std::make_unsigned_t<T>>::digits;
template <Integer T>
uint64_t Bits(T a) {
  return static_cast<std::make_unsigned_t<T>>(a);
}

template <Integer T>
T Add(T a, T b) {
  return static_cast<T>(Bits(a) + Bits(b));
}
template <Integer T>
T Sub(T a, T b) {
  return static_cast<T>(Bits(a) - Bits(b));
}
template <Integer T>
T Mul(T a, T b) {
  return static_cast<T>(Bits(a) * Bits(b));
}
template <Integer T>
T Neg(T a) {
  return static_cast<T>(0 - Bits(a));
}
template <Integer T>
T Abs(T a) {
  return a < 0 ? Neg(a) : a;
}
template <Integer T>
T MulHi(T a, T b) {
  __extension__ using Wide =
      std::conditional_t<(sizeof(T) < 8),
                         std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                         std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> Width<T>);
}

template <Integer T>
bool IsMinusOne(T a) {
  return std::is_signed_v<T> && a == static_cast<T>(-1);
}
// b is not 0. Dividing by -1 is negation, which wraps; the machine's division would fault on MIN.
template <Integer T>
T Quotient(T a, T b) {
  return IsMinusOne(b) ? Neg(a) : static_cast<T>(a / b);
}
template <Integer T>
T Remainder(T a, T b) {
  return IsMinusOne(b) ? T{0} : static_cast<T>(a % b);
}
template <Integer T>
bool SignsDiffer(T a, T b) {
  return (a < 0) != (b < 0);
}

template <Integer T>
Checked<T> DivTrunc(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  return {Quotient(a, b), 0};
}
template <Integer T>
Checked<T> RemTrunc(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  return {Remainder(a, b), 0};
}
template <Integer T>
Checked<T> DivFloor(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  const bool adjust = Remainder(a, b) != 0 && SignsDiffer(a, b);
  return {adjust ? Sub(Quotient(a, b), T{1}) : Quotient(a, b), 0};
}
template <Integer T>
Checked<T> RemFloor(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  const T remainder = Remainder(a, b);
  return {remainder != 0 && SignsDiffer(a, b) ? Add(remainder, b) : remainder, 0};
}

// integers that trap
template <Integer T>
Checked<T> AddChecked(T a, T b) {
  T r;
  const bool overflow = __builtin_add_overflow(a, b, &r);
  return {r, CodeIf(overflow, ir::Trap::Overflow)};
}
template <Integer T>
Checked<T> SubChecked(T a, T b) {
  T r;
  const bool overflow = __builtin_sub_overflow(a, b, &r);
  return {r, CodeIf(overflow, ir::Trap::Overflow)};
}
template <Integer T>
Checked<T> MulChecked(T a, T b) {
  T r;
  const bool overflow = __builtin_mul_overflow(a, b, &r);
  return {r, CodeIf(overflow, ir::Trap::Overflow)};
}
template <Integer T>
Checked<T> NegChecked(T a) {
  return SubChecked(T{0}, a);
}
template <Integer T>
Checked<T> AbsChecked(T a) {
  return a < 0 ? NegChecked(a) : Checked<T>{a, 0};
}
template <Integer T>
Checked<T> DivChecked(T a, T b) {
  if (b == 0) return {0, CodeOf(ir::Trap::DivisionByZero)};
  return IsMinusOne(b) ? NegChecked(a) : Checked<T>{Quotient(a, b), 0};
}
template <Integer T>
Checked<T> RemChecked(T a, T b) {
  return RemTrunc(a, b);
}

// integers: order and bits
template <Integer T>
T Min(T a, T b) {
  return b < a ? b : a;
}
template <Integer T>
T Max(T a, T b) {
  return a < b ? b : a;
}
template <Integer T>
Bool Eq(T a, T b) {
  return {a == b};
}
template <Integer T>
Bool Ne(T a, T b) {
  return {a != b};
}
template <Integer T>
Bool Lt(T a, T b) {
  return {a < b};
}
template <Integer T>
Bool Le(T a, T b) {
  return {a <= b};
}
template <Integer T>
Bool Gt(T a, T b) {
  return {a > b};
}
template <Integer T>
Bool Ge(T a, T b) {
  return {a >= b};
}

template <Integer T>
T And(T a, T b) {
  return static_cast<T>(a & b);
}
template <Integer T>
T Or(T a, T b) {
  return static_cast<T>(a | b);
}
template <Integer T>
T Xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <Integer T>
T Not(T a) {
  return static_cast<T>(~a);
}

// Widths are powers of two, so the low bits of the amount are the amount modulo the width.
template <Integer T>
int Amount(T b) {
  return static_cast<int>(Bits(b) & (Width<T> - 1));
}
template <Integer T>
T Shl(T a, T b) {
  return static_cast<T>(Bits(a) << Amount(b));
}
template <Integer T>
T Shr(T a, T b) {
  return static_cast<T>(a >> Amount(b));
}
template <Integer T>
T Rotl(T a, T b) {
  return static_cast<T>(std::rotl(static_cast<std::make_unsigned_t<T>>(a), Amount(b)));
}
template <Integer T>
T Rotr(T a, T b) {
  return static_cast<T>(std::rotr(static_cast<std::make_unsigned_t<T>>(a), Amount(b)));
}
template <Integer T>
T Clz(T a) {
  return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(a)));
}
template <Integer T>
T Ctz(T a) {
  return static_cast<T>(std::countr_zero(static_cast<std::make_unsigned_t<T>>(a)));
}
template <Integer T>
T Popcnt(T a) {
  return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(a)));
}

}  // namespace frazil::exec::meaning
