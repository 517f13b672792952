// How often an op stands in what a pass gave.
#pragma once

#include <algorithm>

#include "ir/program.h"

namespace frazil::ir {

inline int Count(const Program& program, Op op) {
  int count = 0;
  for (const Function& function : program.functions)
    count += static_cast<int>(std::ranges::count(function.insts, op, &Inst::op));
  return count;
}

}  // namespace frazil::ir
