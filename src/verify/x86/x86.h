// Reads x86-64 with Zydis, a decoder that the emitter has nothing to do with.
#pragma once

#include "verify/runs/code_reader.h"

namespace frazil::verify::x86 {

// Makes it the reader of verify::VerifyCode.
void RegisterReader();

std::shared_ptr<const CodeReader> MakeReader();

}  // namespace frazil::verify::x86
