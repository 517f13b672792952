// The normal form of map/reduce programs: what circuits become, and kernels of that kind from any door.
//
// A program of passes over the elements of its buffers (each iteration reads and writes its own element, branches
// included), of reductions, and of uniform scalars, all over one extent, is run on symbols: every buffer ends as a term
// over what the buffers held before (optimize/normalize/normal_terms.h). Those terms, in normal form, are all there is to the
// program; it is written anew from them: reductions first, then one pass that loads each needed element once and stores
// each changed one once. Copies, exchanges, overwritten values, pairs that undo each other and the order of independent
// passes are gone because the terms never had them. Two programs with the same terms give the same program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "ir/candidate.h"
#include "ir/program.h"

namespace frazil::optimize {

// What a program does for one element, counted in its instructions: passes over memory, operations (constants and what
// is outside of passes do not count), bytes loaded and stored. A `map` writes its scratch, a `reduce` of it reads it.
struct Work {
  uint64_t passes = 0;
  uint64_t instructions = 0;
  uint64_t bytes = 0;
  friend bool operator==(const Work&, const Work&) = default;
};
Work WorkPerElement(const ir::Program& program);

struct NormalForm {
  ir::Program program;  // same parameters; equal to its source under the conditions below
  // Ordinals of buffer parameters that must be different buffers: each written one and every other one in use.
  std::vector<std::pair<uint32_t, uint32_t>> disjoint;
  std::vector<uint32_t> written;  // ordinals of those that the source stores to
  // Ordinals of buffers that must have as many elements as the extent says, and of others that must have one.
  std::vector<uint32_t> covering, with_element;
  std::optional<int64_t> least_extent =
      {};  // the extent must be at least 1, or at least not negative
  uint32_t extent =
      UINT32_MAX;  // ordinal of the `index` parameter that is the extent; UINT32_MAX: it is no such parameter
  uint64_t rewrites = 0;  // steps by rules
  // Without reductions `after` is never more. With them it can be, where one is over an expression that no slot keeps:
  // its scratch is then extra.
  Work before, after;
};

// Fails with NotACircuit, naming the op, where the program is of another kind. Where buffers are shorter than the extent
// both trap, not always in the same op: hence `covering`.
Result<NormalForm> Normalize(const ir::Program& program, const Limits& limits = {});

// The conditions as a guard; fails with LimitReached where they are more than a guard can hold.
Result<ir::Candidate> NormalCandidate(const ir::Program& program, const Limits& limits = {});

}  // namespace frazil::optimize
