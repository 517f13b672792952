// Lifting for whoever compares digests next. Reached through isa.h.
#pragma once

#include "targets/isa/isa.h"

namespace frazil::targets::isa {

// Lift without the last check of the result: a digest that equals that of a checked program needs none.
Result<ir::Program> LiftUnchecked(const machines::simt::Module& module);

}  // namespace frazil::targets::isa
