// The math functions, written in the IR (ir/prelude/*.frz) and embedded as text. A math op `exp` on f32
// means the function @exp.f32 there; f16 and bf16 go through f32 and round once. Functions are parsed
// when first asked for, so a program without math pays nothing.
#pragma once

#include <string_view>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::ir {

constexpr uint32_t PreludeVersion = 1;
std::string_view PreludeDigest();  // SHA-256 of the whole prelude text, 64 hex digits

// The whole prelude as one text (for tools and tests).
std::string_view PreludeText();

}  // namespace frazil::ir
