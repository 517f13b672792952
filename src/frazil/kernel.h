// Kernels for C++ programs: executors, buffers, launches, the standard ops. See runtime/runtime.h.
#pragma once

#include "runtime/runtime.h"  // IWYU pragma: export

namespace frazil {
namespace kernel = runtime;  // what programs call it
}  // namespace frazil
