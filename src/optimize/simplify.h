// Folding, sharing, branches with a known condition, and loads whose answer is known, in one walk.
#pragma once

#include "optimize/unit.h"

namespace frazil::optimize {

struct SimplifyOptions {
  bool loads = true;     // loads that repeat a load or follow a store
  bool branches = true;  // `if` and `switch` on a constant, `assert` of true, loops without a turn
  bool tables =
      false;  // elements of constant tables; the checker of certificates does not look into tables
};

// Needs no line in a certificate: the checker folds constants and shares terms by itself.
Result<bool> Simplify(Unit& unit, const SimplifyOptions& options = {});

}  // namespace frazil::optimize
