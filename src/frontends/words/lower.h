// From a meaning to a program. The type of the program is the narrowest of i32, i64 and int<k> that
// holds every value it can compute; quotients that are not known to be whole become (numerator,
// denominator).
#pragma once

#include <optional>

#include "frontends/words/coder.h"
#include "frontends/words/expr.h"
#include "ir/program.h"

namespace frazil::frontends::words {

enum class AnswerKind : uint8_t { Integer, Fraction, Truth };

struct Lowered {
  ir::Program program;
  AnswerKind kind = AnswerKind::Integer;
};

// The program whose value is the node `from`.
Result<Lowered> Lower(const Tree& tree, ExprId from);

// What the range analysis knows of a value without running anything; for comparing readings.
struct Worth {
  std::optional<Rational> number;
  std::optional<bool> truth;
};
Result<Worth> Assess(const Tree& tree);

}  // namespace frazil::frontends::words
