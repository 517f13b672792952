// Sums and products in another order.
#pragma once

#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

// Chains of one instruction that may be taken in any order (a + b + c) begin with what was made last, which lies on top.
// False: there is none that changes.
bool OrderSums(WordFunction& function);

}  // namespace frazil::targets::tasm
