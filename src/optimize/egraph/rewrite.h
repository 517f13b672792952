// The e-graph search over every function of a program: pure scalar values are put into one e-graph per function,
// rewritten, and written back where they are needed.
#pragma once

#include "base/limits.h"
#include "optimize/egraph/egraph.h"
#include "optimize/egraph/rule_set.h"
#include "optimize/proof.h"
#include "optimize/unit.h"

namespace frazil::optimize {

struct RewriteResult {
  bool changed = false;
  StopReason stop = StopReason::NothingToDo;  // of the function that went furthest
};

Result<RewriteResult> Rewrite(Unit& unit, Proof& proof, const RuleSet& rules, const Limits& limits);

}  // namespace frazil::optimize
