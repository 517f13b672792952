// From IR to words: every op as instructions of the machine. The program is expanded, without tensors and barriers.
#pragma once

#include "ir/program.h"
#include "targets/tasm/word_program.h"

namespace frazil::targets::tasm {

// What the target cannot do: a sentence, or empty.
std::string WhyNot(const ir::Program& program);

// RAM from here on is the compiler's; a program's own addresses lie below.
//   (i + 1) 2^40: buffer parameter i; 2^60: scratch of known size and tables; 2^61: scratch of sizes known at run time;
//   2^62: words that do not fit on the stack.
inline constexpr uint64_t ParameterBase = uint64_t{1} << 40;
inline constexpr uint64_t ScratchBase = uint64_t{1} << 60;
inline constexpr uint64_t HeapBase = uint64_t{1} << 61;
inline constexpr uint64_t SpillBase = uint64_t{1} << 62;

// The parameter that is the machine's own RAM.
bool IsRawRam(const ir::Function& function, uint32_t param);

Result<WordProgram> SelectWords(const ir::Program& program);

}  // namespace frazil::targets::tasm
