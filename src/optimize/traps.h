// Can this instruction trap? Finer than its row: a division by a constant other than zero cannot.
#pragma once

#include "ir/program.h"

namespace frazil::optimize {

bool MayTrap(const ir::Function& function, const ir::Inst& inst);

}  // namespace frazil::optimize
