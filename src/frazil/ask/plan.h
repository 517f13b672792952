// What runs for a reading: the program as read, or, where a loop is too long to be judged, the same without it, if that is
// proved. A limit on fuel asks for the loops as they are written; then what is without them is for the judge alone.
#pragma once

#include <optional>
#include <string>

#include "base/limits.h"
#include "ir/candidate.h"

namespace frazil::ask {

// From so many iterations on a loop is replaced by a formula, where there is one: the interpreter, which judges the answer,
// takes some 100 ms for them.
constexpr uint64_t LongLoop = 2'000'000;

struct Plan {
  ir::Candidate candidate;  // for what was read
  std::string formula;      // "n(n+1)/2", of each loop that was too long; empty: as read
  std::string formula_proof;
  std::optional<ir::Candidate> shorter = {};  // than the candidate, for its judge
};
Plan MakePlan(const ir::Program& program, const Limits& limits);

}  // namespace frazil::ask
