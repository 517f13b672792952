// Kernels that were compiled ahead of time (frazil_add_kernels): what their generated headers include. Links frazil::embed.
#pragma once

#include "embed/launch.h"    // IWYU pragma: export
#include "embed/sequence.h"  // IWYU pragma: export
