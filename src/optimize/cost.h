// What one op costs on a machine, in cycles, about: for search only, never for admission.
#pragma once

#include "ir/op.h"
#include "ir/type.h"

namespace frazil::optimize {

// An op on scalars (no regions), T being `type`.
double OpCost(ir::Op op, ir::Type type);

}  // namespace frazil::optimize
