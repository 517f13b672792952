// A loop that stores values and adds them up on the way becomes two: one that stores, whose turns know nothing of each
// other, and one that adds what was stored. The order of the sum stays. Internal to this folder.
#pragma once

#include "base/result.h"
#include "ir/program.h"

namespace frazil::targets::native {

// Only loops with a math function in them: for less a second walk does not pay.
Result<void> SplitSums(ir::Program& lowered);

}  // namespace frazil::targets::native
