// The tile interpreter as a backend: a kernel runs within microseconds of being loaded, without code generation.
#pragma once

#include <memory>

#include "base/result.h"
#include "kernel/backend.h"

namespace frazil::kernel {

Result<std::shared_ptr<Backend>> MakeIsaBackend();

}  // namespace frazil::kernel
