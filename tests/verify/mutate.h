// Wrong candidates by changing one thing of a sound program: an operation, a constant, the order of operands, a
// width, a bound, a trap, a rounding, a store, an effect.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace frazil::tests {

struct Mutant {
  std::string
      kind;  // "op", "constant", "order", "width", "bound", "trap", "rounding", "index", "effect"
  std::string what;  // "mul -> add at 5:3"
  ir::Program program;
};

// All that ir::Check accepts, in order of the instructions.
std::vector<Mutant> MutantsOf(const ir::Program& program);

}  // namespace frazil::tests
