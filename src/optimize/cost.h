// What one op costs on a machine, in cycles, about: for search only, never for admission.
#pragma once

#include "ir/program.h"

namespace frazil::optimize {

// An op on scalars (no regions), T being `type`.
double OpCost(ir::Op op, ir::Type type);

// Turns of a `for` or `parallel`; a fixed guess where its bounds are no constants.
double TripsOf(const ir::Function& function, const ir::Inst& loop);

}  // namespace frazil::optimize
