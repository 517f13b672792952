// Backends without code generation: the tile interpreter, on which a kernel runs within microseconds of being loaded, and
// the reference interpreter, which is what programs mean.
#pragma once

#include <memory>

#include "base/result.h"
#include "runtime/backend.h"

namespace frazil::runtime {

Result<std::shared_ptr<Backend>> MakeIsaBackend();
std::shared_ptr<Backend> MakeInterpreterBackend();

}  // namespace frazil::runtime
