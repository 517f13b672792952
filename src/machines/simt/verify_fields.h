// The part of the verifier that looks at one instruction alone. Reached through verify.h.
#pragma once

#include <string>

#include "machines/simt/module.h"

namespace frazil::machines::simt {

// Empty, or what is wrong with the instruction's own bytes.
std::string WrongFields(const Module& module, const Instruction& instruction);

// Whether these bits are a value of the type, in its one representation.
bool IsCanonical(Type type, uint64_t bits);

}  // namespace frazil::machines::simt
