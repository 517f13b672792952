// The interpreter on what the optimizer proposes for all arguments.
#pragma once

#include <memory>

#include "support/engine.h"

namespace frazil::tests {

std::unique_ptr<Engine> MakeOptimizedEngine();
// With tensor ops fused, and nothing else.
std::unique_ptr<Engine> MakeFusedEngine();
// What the proposer of fused programs would offer, if it would: the source otherwise.
Result<ir::Program> OfferedProgram(const ir::Program& program);

}  // namespace frazil::tests
