// Constants as words: from C++ numbers, and from and to text. See text.h for the notation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "ir/type.h"

namespace frazil::ir {

// Wraps to the type: machine integers and index by width, bool as value != 0, field modulo p, int<k>
// sign-extended, floats rounded once.
std::vector<uint64_t> LiteralFromInt(Type scalar, int64_t value);
// The bits of a float type, rounded once; a NaN becomes the one quiet NaN.
uint64_t LiteralFromDouble(Type scalar, double value);

// The one representation that the rest of Frazil relies on: integers extended by their signedness, bool 0
// or 1, field elements below p, no stray upper bits.
bool IsCanonicalLiteral(Type scalar, std::span<const uint64_t> words);

// The bits of the one quiet NaN.
uint64_t QuietNaN(Scalar scalar);

void AppendLiteral(std::string& out, Type scalar, std::span<const uint64_t> words);

}  // namespace frazil::ir
