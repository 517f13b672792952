// What stands behind the chain of a product before its element is stored. Pure analysis of the IR. Internal to this folder.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {

// row * by_row + offset, and for accesses side by side the column; both known before the nest.
struct TailPlace {
  IndexForm by_row, offset;
};

struct MatmulTail {
  ir::InstId rows, columns, chain;
  LoopPlan plan;                  // of the columns, with the chain given
  std::vector<TailPlace> places;  // by access of the plan
  // A store whose element can hold a sum until all of its depth is there: nobody reads that buffer, unless it is also
  // another one, which the code tests.
  std::optional<size_t> carrier;
  std::vector<std::pair<ir::ValueId, ir::ValueId>> distinct;  // buffers that must not be the same
  std::vector<ir::ValueId> outside;                           // what it takes from before the nest
};

// Nothing, where it cannot be done in lanes, may trap, or reads what other elements of the nest may have written.
std::optional<MatmulTail> PlanTail(const PlanQuestion& question, const ir::Inst& rows,
                                   const ir::Inst& columns, const ir::Inst& chain);

}  // namespace frazil::targets::native
