// Random graphs of tensor ops in which most things can be fused: elementwise ops of fitting shapes, reductions that come back
// to the rows they were made of, moves of elements, rows and folds by index, products, and here and there something
// that stays as it is. Generate (generator.h) makes programs of every op, in which few tensors ever meet.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace frazil::generator {

struct TensorGraphOptions {
  uint64_t seed = 0;
  uint32_t least = 3, most = 16;  // statements
  // Elements at places that may not be there, slices of what may be too short.
  bool allow_traps = true;
};

// It ends, and passes ir::Check.
ir::Program GenerateTensorGraph(const TensorGraphOptions& options);

}  // namespace frazil::generator
