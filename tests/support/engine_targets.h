// The engines that are targets, and the batch interpreter. Reached through engine.h.
#pragma once

#include "support/engine.h"

namespace frazil::tests {

Result<std::unique_ptr<Engine>> MakeTargetEngine(std::string_view name);

}  // namespace frazil::tests
