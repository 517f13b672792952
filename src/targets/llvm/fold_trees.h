// Folds for targets that have a form of their own for the defined tree: a `for` that carries one value and says that it stands
// for a fold, so that everything that is known of loops is known of it, and nobody else may touch it.
#pragma once

#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::targets {

struct FoldTree {
  uint32_t function = 0, fold = 0;  // numbers in the source
  ir::InstId loop;                  // in the copy
  friend bool operator==(const FoldTree&, const FoldTree&) = default;
};

// All folds of the program. Those of integers become plain loops, because any order gives the same bits.
Result<ir::Program> FoldsAsTrees(const ir::Program& program, std::vector<FoldTree>& trees);

// Does any order give the same bits?
bool FoldsInAnyOrder(ir::Type type);

}  // namespace frazil::targets
