// Range checks that another instruction makes anyway.
#pragma once

#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

void MergeChecks(WordFunction& function);

}  // namespace frazil::targets::tasm
