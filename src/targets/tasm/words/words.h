// How many field words a value takes on the machine, and in RAM.
#pragma once

#include <cstdint>

#include "ir/type.h"

namespace frazil::targets::tasm {

// 0: the machine has no such values (floats).
uint32_t WordsOnMachine(ir::Type type);

}  // namespace frazil::targets::tasm
