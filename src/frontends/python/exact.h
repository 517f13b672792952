// Exact integers of constant expressions and where they meet floats: every result is the exact one, rounded once.
#pragma once

#include <compare>
#include <optional>

#include "frontends/python/ast.h"

namespace frazil::frontends::python {

using Wide = __int128;

// Constants have up to 126 bits, so that sums of two need no care; whether one fits its place is asked there.
constexpr Wide GreatestConstant = (Wide{1} << 126) - 1;
constexpr bool IsConstant(Wide value) {
  return value >= -GreatestConstant && value <= GreatestConstant;
}

// "-12"; nothing if the text is no integer or has more than 126 bits.
std::optional<Wide> ReadInteger(std::string_view text);
// The double next to a / b, as Python's true division gives it. b is not 0.
double Quotient(Wide a, Wide b);
// An integer beside a float: neither is converted, so 2^53 + 1 is not 2.0^53.
std::partial_ordering Order(const Literal& a, const Literal& b);
// What `to`, a float type, makes of an integer: a double that rounds to it in one step.
double RoundedFor(Wide value, ir::Scalar to);
// Towards zero, and kept within `to`, an integer type; NaN is 0.
Wide Truncated(double value, ir::Scalar to);

}  // namespace frazil::frontends::python
