// Range checks that another instruction makes anyway.
#pragma once

#include "targets/tasm/word_program.h"

namespace frazil::targets::tasm {

void MergeChecks(WordFunction& function);

}  // namespace frazil::targets::tasm
