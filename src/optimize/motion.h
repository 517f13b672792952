// Loop-invariant motion: pure scalar values that cannot trap leave the loops they do not depend on.
#pragma once

#include "optimize/unit.h"

namespace frazil::optimize {

Result<bool> MoveInvariants(Unit& unit);

}  // namespace frazil::optimize
