// Constants go through no double on their way: 9007199254740993 / 3 is 3002399751580331, as in Python.
#include "frontends/python/exact.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace frazil::frontends::python {
namespace {

using UWide = unsigned __int128;

UWide Magnitude(Wide value) { return value < 0 ? -static_cast<UWide>(value) : value; }

int BitsOf(UWide value) {
  const uint64_t high = static_cast<uint64_t>(value >> 64);
  return high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<uint64_t>(value));
}

std::partial_ordering OrderMixed(Wide a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= 0x1p126) return std::partial_ordering::less;
  if (b <= -0x1p126) return std::partial_ordering::greater;
  const double whole = std::trunc(b);
  const Wide integer = static_cast<Wide>(whole);
  if (a != integer) return a <=> integer;
  return 0.0 <=> b - whole;
}

}  // namespace

std::optional<Wide> ReadInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  Wide value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    if (__builtin_mul_overflow(value, Wide{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, Wide{c - '0'}, &value)) return std::nullopt;
  }
  if (!IsConstant(value)) return std::nullopt;
  return negative ? -value : value;
}

double Quotient(Wide a, Wide b) {
  UWide rest = Magnitude(a), divisor = Magnitude(b);
  UWide quotient = rest / divisor;
  rest %= divisor;
  // 64 bits and a sticky last one: more than a double has, so rounding that is rounding the exact quotient.
  int shift = 0;
  for (; rest != 0 && BitsOf(quotient) < 64; ++shift) {
    rest <<= 1;
    quotient = quotient << 1 | (rest >= divisor);
    if (rest >= divisor) rest -= divisor;
  }
  if (rest != 0) quotient |= 1;
  const double value = std::ldexp(static_cast<double>(quotient), -shift);
  return (a < 0) != (b < 0) ? -value : value;
}

std::partial_ordering Order(const Literal& a, const Literal& b) {
  const bool left = a.kind == Literal::Float, right = b.kind == Literal::Float;
  if (!left && !right) return a.integer <=> b.integer;
  if (left && right) return a.real <=> b.real;
  if (right) return OrderMixed(a.integer, b.real);
  const std::partial_ordering reversed = OrderMixed(b.integer, a.real);
  return 0 <=> reversed;
}

double RoundedFor(Wide value, ir::Scalar to) {
  const UWide magnitude = Magnitude(value);
  const int extra = BitsOf(magnitude) - 53;
  if (to == ir::Scalar::F64 || extra <= 0) return static_cast<double>(value);
  // Narrower types: cut to odd, so that the rounding to come decides alone.
  UWide kept = magnitude >> extra;
  if (kept << extra != magnitude) kept |= 1;
  const double rounded = std::ldexp(static_cast<double>(kept), extra);
  return value < 0 ? -rounded : rounded;
}

Wide Truncated(double value, ir::Scalar to) {
  if (std::isnan(value)) return 0;
  const int bits = ir::BitsOf(ir::Type::Of(to));
  const bool is_signed = ir::IsSigned(to);
  const Wide greatest = (Wide{1} << (is_signed ? bits - 1 : bits)) - 1;
  const Wide least = is_signed ? -greatest - 1 : 0;
  if (value >= 0x1p64) return greatest;
  if (value <= -0x1p64) return least;
  return std::clamp(static_cast<Wide>(value), least, greatest);
}

}  // namespace frazil::frontends::python
