// How deep assembly written in a program goes into the stack.
#pragma once

#include "machines/tasm/program.h"

namespace frazil::targets::tasm {

// Words from the top that the instruction reads, moves or drops.
uint32_t Touches(const machines::tasm::Instruction& instruction);
// Words below the top at the start that the code, run from its first instruction to its last, touches; nothing is skipped.
uint32_t ReachOf(const machines::tasm::Program& program);

}  // namespace frazil::targets::tasm
