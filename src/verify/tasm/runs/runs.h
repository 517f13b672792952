// Where no proof is found: runs of the assembly and of its program on inputs that the judge chooses, until every instruction
// has run. Which ways branches and the program's own choices have gone is counted and not asked for: a condition that always
// holds, or an argument that is a constant, is no mistake.
#pragma once

#include <vector>

#include "ir/program.h"
#include "machines/tasm/program.h"
#include "verify/verdict.h"

namespace frazil::verify::tasm {

namespace mt = machines::tasm;

struct RunsOptions {
  uint64_t inputs = 1024;  // at least so many are compared
  uint64_t milliseconds = 2'000;
  uint64_t search_ms = 500;  // so long since the last instruction that was found
  std::vector<mt::Inputs> typical = {};
};

// Tested with the grade sampled; Proved where the program reads nothing, so that there is one run; Refuted from a start of
// the machine; or Unknown, with the instruction that never ran where there is one.
Verdict CompareRuns(const ir::Program& program, const mt::Program& assembly,
                    const RunsOptions& options = {});

}  // namespace frazil::verify::tasm
