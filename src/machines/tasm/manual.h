// The instruction set as a document.
#pragma once

#include <string>
#include <string_view>

#include "machines/tasm/instruction.h"

namespace frazil::machines::tasm {

// Markdown: one table of all instructions with their words, effects, rows and crashes.
std::string ManualText();

}  // namespace frazil::machines::tasm
