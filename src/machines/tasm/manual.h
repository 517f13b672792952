// The instruction set as a document.
#pragma once

#include <string>
#include <string_view>

#include "machines/tasm/instruction.h"

namespace frazil::machines::tasm {

// "_ b a -> _ [a < b]": what an instruction does to the stack and to the rest of the machine; `_` is what lies below.
std::string_view EffectOf(Opcode opcode);
// When it crashes, beyond a stack that would become too shallow; may be empty.
std::string_view CrashesWhen(Opcode opcode);
// Markdown: one table of all instructions with their words, effects, rows and crashes.
std::string ManualText();

}  // namespace frazil::machines::tasm
