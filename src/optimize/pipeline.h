// The order of the passes, for those who propose.
#pragma once

#include <vector>

#include "base/limits.h"
#include "optimize/loops/closed_form.h"
#include "optimize/optimize.h"
#include "optimize/proof.h"
#include "optimize/unit.h"

namespace frazil::optimize {

// Passes that always pay, until nothing changes.
Result<void> Clean(Unit& unit, Proof& proof, const OptimizeOptions& options = {});
// And loops that have a formula.
Result<void> CleanAndClose(Unit& unit, Proof& proof, const OptimizeOptions& options,
                           std::vector<ClosedLoop>* closed = nullptr);

struct PipelineReport {
  StopReason stop = StopReason::NothingToDo;
  bool rewritten = false;
  std::vector<ClosedLoop> closed;
};
Result<PipelineReport> RunPipeline(Unit& unit, Proof& proof, const Limits& limits,
                                   const OptimizeOptions& options);

}  // namespace frazil::optimize
