// Guards as launches test them (decision 18). A candidate under a
// guard is compiled as a kernel of its own, which stands beside the one for all arguments: a launch takes it where its
// guard holds.
#pragma once

#include <optional>
#include <vector>

#include "embed/kernel.h"
#include "ir/candidate.h"

namespace frazil::aot {

struct LaunchGuard {
  std::vector<embed::PairData> apart, cover, least;  // as in embed::KernelData
};
// Nothing where an atom says what no launch tests.
std::optional<LaunchGuard> LaunchGuardOf(const ir::Guard& guard);

}  // namespace frazil::aot
