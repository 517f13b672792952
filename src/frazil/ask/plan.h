// What runs for a reading: the program as read, or, where a loop is too long to be judged, the same without it, if that is
// proved.
#pragma once

#include <string>

#include "base/limits.h"
#include "ir/program.h"
#include "verify/evidence.h"

namespace frazil::ask {

// How far the interpreter goes along to judge an answer: some 100 ms of loop iterations.
constexpr uint64_t JudgeFuel = 2'000'000;

struct Plan {
  ir::Program program;
  verify::Evidence meaning;  // of `program` against what was read
  std::string formula;       // "n(n+1)/2"; empty: as read
  std::string formula_proof;
};
Plan AsRead(const ir::Program& program);
Plan MakePlan(const ir::Program& program, const Limits& limits);

}  // namespace frazil::ask
