// Tensor ops become loops over elements that compute many of them at once: no tensor in between that nobody needs.
//
// Maps, reductions, moves of elements, counts and random numbers are taken together (optimize/fusion/plan.h says which) and
// written as `generate` with `extract` and `fold` inside. Every element is computed by the same operations as before, a
// reduction in the same tree. Whatever may trap stays as it is, and so does what no index map describes.
#pragma once

#include <optional>

#include "base/limits.h"
#include "base/result.h"
#include "ir/candidate.h"
#include "optimize/unit.h"

namespace frazil::optimize {

// As a pass: has anything changed?
Result<bool> FuseTensors(Unit& unit);

// Nothing: there is nothing to fuse, or it does not pay.
Result<std::optional<ir::Candidate>> FusedCandidate(const ir::Program& source,
                                                    const Limits& limits = {});

}  // namespace frazil::optimize
