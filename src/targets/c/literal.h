// Constants as C text.
#pragma once

#include <span>
#include <string>

#include "ir/program.h"
#include "targets/c/support.h"

namespace frazil::targets::c {

// Binding strength of a C expression; a weaker one inside a stronger one needs parentheses.
enum class Strength : int {
  Comma,
  Conditional,
  LogicalOr,
  LogicalAnd,
  BitOr,
  BitXor,
  BitAnd,
  Equality,
  Relational,
  Shift,
  Additive,
  Multiplicative,
  Unary,
  Primary,
};

struct Text {
  std::string text;
  Strength strength = Strength::Primary;
};

// A constant of a type that is no struct. 64-bit literals have a 64-bit type only if they must: `5`.
Text Literal(ir::Type type, uint64_t word, Support& support);
// A machine integer as a literal of its arithmetic type: `5u`, `5ull`.
std::string UnsignedLiteral(ir::Type integer, uint64_t word);
// The braces of a struct: `{{1ull, 0ull}}`.
std::string StructInitializer(std::span<const uint64_t> words);

// A table as a C array definition. Float tables with a NaN are arrays of bits.
bool IsTableOfBits(const ir::Data& data);
std::string TableDefinition(const ir::Data& data, const std::string& name, Support& support);

}  // namespace frazil::targets::c
