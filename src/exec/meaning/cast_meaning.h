// Conversions between one-word types, beside scalar_meaning.h and with its conventions.
#pragma once

#include <utility>

#include "exec/meaning/scalar_meaning.h"

namespace frazil::exec::meaning {

// A magnitude as a double that rounds to any narrower format as the integer itself would: what does
// not fit 53 bits is kept as one sticky bit (round to odd).
inline double StickyDouble(uint64_t magnitude) {
  if (magnitude < (uint64_t{1} << 53)) return static_cast<double>(magnitude);
  const uint64_t sticky = (magnitude & 0xfff) != 0 ? 1 : 0;
  return static_cast<double>((magnitude >> 12) | sticky) * 4096.0;
}

template <Float To, Integer From>
To FloatFromInteger(From a) {
  if constexpr (std::floating_point<To>) {
    return static_cast<To>(a);
  } else {
    const bool negative = a < 0;
    const double magnitude = StickyDouble(negative ? 0 - Bits(static_cast<int64_t>(a)) : Bits(a));
    const double value = negative ? -magnitude : magnitude;
    if constexpr (std::same_as<To, F16>)
      return F16{float16::F16::FromDouble(value)};
    else
      return BF16{float16::BF16::FromDouble(value)};
  }
}

// Truncates, then saturates; NaN gives 0. Both bounds are powers of two (or 0) and so exact as
// floats: the greatest value itself might not be.
template <Integer To, Float From>
To IntegerFromFloat(From a) {
  using C = Computed<From>;
  constexpr C Above =
      static_cast<C>(uint64_t{1} << (Width<To> - 1)) * (std::is_signed_v<To> ? C{1} : C{2});
  constexpr C Least = std::is_signed_v<To> ? -Above : C{0};
  const C x = Widen(a);
  if (x != x) return 0;
  if (x < Least) return std::numeric_limits<To>::min();
  if (x >= Above) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

template <Float To, Float From>
To FloatFromFloat(From a) {
  if constexpr (std::same_as<From, double> && std::same_as<To, F16>) {
    return F16{float16::F16::FromDouble(a)};
  } else if constexpr (std::same_as<From, double> && std::same_as<To, BF16>) {
    return BF16{float16::BF16::FromDouble(a)};
  } else {
    return Narrow<To>(static_cast<Computed<To>>(Widen(a)));
  }
}

template <Integer From>
Field FieldFromInteger(From a) {
  if constexpr (std::is_signed_v<From>)
    return {goldilocks::FromInt64(a)};
  else
    return {goldilocks::FromUint64(a)};
}

// Which casts exist: ir::Check promises no others.
template <typename To, typename From>
constexpr bool CastExists =
    ((Integer<To> || Float<To>) && (Integer<From> || Float<From> || std::same_as<From, Bool>)) ||
    (std::same_as<To, Field> && (Integer<From> || std::same_as<From, Bool>)) ||
    (std::same_as<To, uint64_t> && std::same_as<From, Field>);

template <typename To, typename From>
  requires CastExists<To, From>
To Cast(From a) {
  if constexpr (std::same_as<From, Bool>) {
    return Cast<To>(a.value);
  } else if constexpr (std::same_as<From, Field>) {
    return a.value;
  } else if constexpr (std::same_as<To, Field>) {
    return FieldFromInteger(a);
  } else if constexpr (Integer<To>) {
    if constexpr (Integer<From>)
      return static_cast<To>(a);
    else
      return IntegerFromFloat<To>(a);
  } else {
    if constexpr (Integer<From>)
      return FloatFromInteger<To>(a);
    else
      return FloatFromFloat<To>(a);
  }
}

template <Integer To, Integer From>
Checked<To> CastChecked(From a) {
  return {static_cast<To>(a), CodeIf(!std::in_range<To>(a), ir::Trap::Overflow)};
}
template <Integer To>
Checked<To> CastChecked(Bool a) {
  return {static_cast<To>(a.value), 0};
}

}  // namespace frazil::exec::meaning
