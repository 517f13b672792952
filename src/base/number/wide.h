// Integers of several 64-bit limbs (int<k>): two's complement, least significant limb first, up to
// MaxLimbs limbs. All spans of one call have the same length unless a line says otherwise; a
// destination may be one of the operands. False means "the exact result does not fit"; the
// destination then holds the result modulo 2^(64 k).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace frazil::wide {

constexpr size_t MaxLimbs = 64;

using Limbs = std::span<uint64_t>;
using ConstLimbs = std::span<const uint64_t>;

bool Add(Limbs dst, ConstLimbs a, ConstLimbs b);
bool Sub(Limbs dst, ConstLimbs a, ConstLimbs b);
bool Mul(Limbs dst, ConstLimbs a, ConstLimbs b);
bool Neg(Limbs dst, ConstLimbs a);
bool Abs(Limbs dst, ConstLimbs a);

// Quotient towards zero and remainder with the dividend's sign; b is not 0. Only MIN / -1 does not
// fit (quotient MIN, remainder 0). quot and rem are two different places.
bool DivTrunc(Limbs quot, Limbs rem, ConstLimbs a, ConstLimbs b);

int Compare(ConstLimbs a, ConstLimbs b);  // -1, 0 or 1, signed
bool IsZero(ConstLimbs a);
bool IsNegative(ConstLimbs a);

bool FromInt64(int64_t value, Limbs dst);    // always fits
bool FromUint64(uint64_t value, Limbs dst);  // may not fit one limb
bool ToInt64(ConstLimbs a, int64_t& value);
bool ToUint64(ConstLimbs a, uint64_t& value);
// The same value in another number of limbs.
bool Resize(Limbs dst, ConstLimbs src);

// An optional sign and at least one digit, nothing else. False if it is not that or does not fit.
bool FromDecimal(std::string_view text, Limbs dst);
// The value of plain digits in base 10 or 16, negated on demand. False as FromDecimal.
bool FromDigits(std::string_view digits, uint32_t base, bool negative, Limbs dst);
std::string ToDecimal(ConstLimbs a);

}  // namespace frazil::wide
