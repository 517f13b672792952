// Folding, sharing, branches with a known condition, and loads whose answer is known, in one walk.
#pragma once

#include "optimize/proof.h"
#include "optimize/unit.h"

namespace frazil::optimize {

struct SimplifyOptions {
  bool loads = true;     // loads that repeat a load or follow a store
  bool branches = true;  // `if` and `switch` on a constant, `assert` of true, loops without a turn
};

// `proof` gets a line for every folded op; it may be null.
Result<bool> Simplify(Unit& unit, Proof* proof = nullptr, const SimplifyOptions& options = {});

}  // namespace frazil::optimize
