// Kernels for C++ programs: executors, buffers, launches, the standard ops. See kernel/kernel.h.
#pragma once

#include "kernel/kernel.h"  // IWYU pragma: export
