// From IR to words: every op as instructions of the machine. The program is expanded, without tensors and barriers.
#pragma once

#include "ir/program.h"
#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

// What the target cannot do: a sentence, or empty.
std::string WhyNot(const ir::Program& program);

// RAM from here on is the compiler's; a program's own addresses lie below. A program's raw addresses are any field
// elements: where the compiler has words in RAM too, they are checked (SelectOptions::check_raw).
//   (i + 1) 2^40: buffer parameter i; 2^60: scratch of known size and tables; 2^61: scratch of sizes known at run time;
//   2^62: words that do not fit on the stack.
inline constexpr uint64_t ParameterBase = uint64_t{1} << 40;
inline constexpr uint64_t ScratchBase = uint64_t{1} << 60;
inline constexpr uint64_t HeapBase = uint64_t{1} << 61;
inline constexpr uint64_t SpillBase = uint64_t{1} << 62;

// The parameter that is the machine's own RAM.
bool IsRawRam(const ir::Function& function, uint32_t param);

struct SelectOptions {
  // A raw address, less the constant that is added to it, must be below 2^32: it traps as out of bounds otherwise, a
  // constant one beyond is refused. A constant that is added is less than 2^32 either way, so all that passes lies below
  // 2^33 or in the last 2^32 elements, which are never the compiler's. Assembly written in the program is taken as it is.
  bool check_raw = false;
  mt::Profile profile = mt::Profile::Dot;       // of assembly written in the program
  bool callable = false, first_on_top = false;  // as in TasmOptions
  SelectChoices choices = {};
  Limits limits = {};
};

Result<WordProgram> SelectWords(const ir::Program& program, const SelectOptions& options = {});

}  // namespace frazil::targets::tasm
