// A loop's body as algebra: each yielded value as a polynomial of the index plus a linear combination of the carried
// values, with constant coefficients.
#pragma once

#include <optional>
#include <vector>

#include "ir/program.h"
#include "optimize/loops/big.h"

namespace frazil::optimize {

constexpr uint32_t MostDegree = 8;
constexpr uint32_t MostCarried = 6;

// Integers exactly (coefficients of a wrapping type count modulo 2^width), or field elements in low words.
struct LinearForm {
  ir::Type type;
  std::vector<Big> carried;     // coefficients, by carried value
  std::vector<Big> polynomial;  // by power of the index
  std::optional<Interval>
      range;  // of its values in all turns, where they are integers that never wrap
};

struct Recurrence {
  ir::Type index_type;
  Big lo;
  int64_t step = 1;
  uint64_t turns = 0;
  std::vector<ir::Type> types;               // of the carried values
  std::vector<std::vector<uint64_t>> inits;  // words
  std::vector<LinearForm> yields;
};

// The turn count of a `for` with these bounds (loop.for in docs/semantics.md).
uint64_t TurnCount(ir::Type type, uint64_t lo, uint64_t hi, int64_t step);

// Nothing if the loop is of another kind, has an effect, or some turn might trap. Bounds and initial values must be
// constants of the function.
std::optional<Recurrence> ReadRecurrence(const ir::Function& function, const ir::Inst& loop);

// What the carried values are after the last turn; by carried value, words of its type.
std::vector<std::vector<uint64_t>> FinalValues(const Recurrence& recurrence);

}  // namespace frazil::optimize
