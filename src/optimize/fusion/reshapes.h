// Reshapes move up to where they cost nothing: a reshape of a map is a map of reshapes, and one of a tensor in memory is
// another name for it. What was reshaped before it is reduced can then be fused with the reduction.
#pragma once

#include "optimize/unit.h"

namespace frazil::optimize {

Result<bool> LiftReshapes(Unit& unit);

}  // namespace frazil::optimize
