// The sponge takes ten words from memory by itself.
#pragma once

#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

void AbsorbFromMemory(WordFunction& function);

}  // namespace frazil::targets::tasm
