// What fusion knows of a value with an index map, whatever becomes of it.
#pragma once

#include <set>
#include <vector>

#include "ir/program.h"

namespace frazil::optimize {

struct ValueFacts {
  bool has_map = false;
  double own = 0;                  // the cost of an element of it
  double total = 0;                // with all that it is made of
  bool is_dear = false;            // not to be computed twice
  bool has_fold = false;           // some reduction is in it
  bool is_folded = false;          // one for each element of it
  std::set<uint32_t> leaves = {};  // tensors from elsewhere that it reads
};

// By value.
std::vector<ValueFacts> CollectFacts(const ir::Function& function);

}  // namespace frazil::optimize
