// The math functions, written in the IR (ir/prelude/*.frz) and embedded as text. A math op `exp` on f32
// means the function @exp.f32 there; f16 and bf16 go through f32 and round once. Functions are parsed
// when first asked for, so a program without math pays nothing.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::ir {

constexpr uint32_t PreludeVersion = 1;
std::string_view PreludeDigest();  // SHA-256 of the whole prelude text, 64 hex digits

// The whole prelude as one text (for tools and tests).
std::string_view PreludeText();

// "exp.f32": the function that a math op means; f16 and bf16 have that of f32.
std::string PreludeFunctionName(Op op, Type type);
// That function as the entry of a program of its own, which is kept. May be called from any thread.
Result<const Program*> LoadPrelude(Op op, Type type);

}  // namespace frazil::ir
