// Random programs of tensor ops with known sizes: products, elementwise ops, reductions, moves, reshapes, scalars in between.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace frazil::plans_test {

ir::Program RandomGraph(uint64_t seed);

}  // namespace frazil::plans_test
