// Loops that recurse_or_return ends.
#pragma once

#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

// Of a While that runs at least once: it ends when the words at depths 5 and 6 are equal after a round, and the words that
// it carries are in the order that puts the counter and its end there. Its test says the same.
inline constexpr uint64_t EndsByRepeat = 2;

// Whether some loop can be made so; `apply`: all such loops are.
bool RepeatLoops(WordFunction& function, bool apply);

}  // namespace frazil::targets::tasm
