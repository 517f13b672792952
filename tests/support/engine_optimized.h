// The interpreter on what the optimizer proposes for all arguments.
#pragma once

#include <memory>

#include "support/engine.h"

namespace frazil::tests {

std::unique_ptr<Engine> MakeOptimizedEngine();
// With tensor ops fused, and nothing else.
std::unique_ptr<Engine> MakeFusedEngine();

}  // namespace frazil::tests
