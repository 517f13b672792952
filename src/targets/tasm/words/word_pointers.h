// Counters that count what their uses want.
#pragma once

#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

void AimCounters(WordFunction& function);

}  // namespace frazil::targets::tasm
