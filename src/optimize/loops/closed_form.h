// Loops whose results have a formula. `for` loops without effects whose carried values are a polynomial of the index
// plus a linear combination of carried values: with constant bounds the result is a constant, found by raising the
// turn to the number of turns; with bounds that are values, one accumulator that adds a polynomial becomes a sum of
// binomials. Takes less fuel than its source, which ir/certificate.h allows.
#pragma once

#include <vector>

#include "optimize/optimize.h"
#include "optimize/proof.h"
#include "optimize/unit.h"

namespace frazil::optimize {

Result<bool> CloseLoops(Unit& unit, Proof* proof, std::vector<ClosedLoop>* closed = nullptr);

}  // namespace frazil::optimize
