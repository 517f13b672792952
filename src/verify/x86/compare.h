// What a branch depends on: the two numbers that the instruction before it compares.
#pragma once

#include "verify/runs/code_reader.h"
#include "verify/x86/instruction.h"

namespace frazil::verify::x86 {

// Of the instruction at `place`, which a branch on its flags follows; nothing if it compares no two integers.
std::optional<CodeCompare> ReadCompare(const Decoder& decoder, uint32_t place);

}  // namespace frazil::verify::x86
