// Dead code: what nobody uses and what can neither trap nor have an effect. A `for` whose turns can go takes less
// fuel when it goes; `keep_loops` keeps it.
#pragma once

#include "optimize/unit.h"

namespace frazil::optimize {

Result<bool> RemoveDead(Unit& unit, bool keep_loops = false);

}  // namespace frazil::optimize
