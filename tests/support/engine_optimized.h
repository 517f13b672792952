// The interpreter on what the optimizer proposes for all arguments.
#pragma once

#include <memory>

#include "support/engine.h"

namespace frazil::tests {

std::unique_ptr<Engine> MakeOptimizedEngine();

}  // namespace frazil::tests
