// After the peephole rules a block may have become too small to be called.
#pragma once

#include "machines/tasm/program.h"

namespace frazil::targets::tasm {

// A block of one instruction, or none, takes the place of its calls; code that nothing reaches goes. True: something changed.
bool InlineTinyBlocks(machines::tasm::Program& program);

}  // namespace frazil::targets::tasm
