// The batch interpreter as an engine. Reached through engine.h.
#pragma once

#include "support/engine.h"

namespace frazil::tests {

std::unique_ptr<Engine> MakeBatchEngine();

}  // namespace frazil::tests
