// Who calls whom in a program, as targets ask it before they write a function.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace frazil::ir {

struct CallGraph {
  std::vector<std::vector<uint32_t>> callees;  // by function, one for each call
  std::vector<bool> reached;    // by function: the entry, or called from it, directly or not
  std::vector<bool> called;     // by function: by one that is reached
  std::vector<bool> recursive;  // by function: part of a cycle of calls
  std::vector<FuncId> order;    // reached functions, callees first where there is no cycle
};

CallGraph FindCalls(const Program& program);

// What holds of a function holds of all who call it.
void SpreadToCallers(const CallGraph& calls, std::vector<bool>& holds);

// May some instruction of it end the run although none of its ops traps: at the stop flag, the depth, or the fuel where
// loops are metered? Math functions ask nobody.
bool MayBeStopped(const Program& program, const Function& function, bool metered);

}  // namespace frazil::ir
