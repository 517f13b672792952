// Sums whose bounds are values: acc + f(i), f a polynomial with coefficients that no turn changes.
#pragma once

#include <optional>
#include <vector>

#include "ir/program.h"
#include "optimize/loops/formula.h"

namespace frazil::optimize {

// The loop's results as formulas over values visible at the loop; nothing if it is of another kind. The loop has step 1
// and no effect, and cannot trap.
struct SymbolicSums {
  Formula formula;
  std::vector<ExprId> results;
  size_t degree = 0;  // the greatest of the polynomials that are added
};
std::optional<SymbolicSums> ReadSums(const ir::Function& function, const ir::Inst& loop);

}  // namespace frazil::optimize
