// Dead code: what nobody uses and what can neither trap nor have an effect.
#pragma once

#include "optimize/unit.h"

namespace frazil::optimize {

Result<bool> RemoveDead(Unit& unit);

}  // namespace frazil::optimize
