// Counters of loops, as cheap as their uses allow.
#pragma once

#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

void SimplifyCounters(WordFunction& function);

}  // namespace frazil::targets::tasm
