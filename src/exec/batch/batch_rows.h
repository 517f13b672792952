// One row of a product: its chains side by side, which is how each of them alone would go. The multiply-add of the interpreter
// takes 19 ns in one chain after the other, and a judge that runs products has some seconds.
#pragma once

#include <cstddef>

#include "exec/batch/batch_isa.h"
#include "ir/type.h"

namespace frazil::exec {

// sums[j] = a[k] * b[k * columns + j] + sums[j], for k = 0, 1, ... depth - 1.
struct RowArguments {
  const void* a;
  const void* b;
  void* sums;
  size_t depth, columns;
};
using RowKernel = void (*)(const RowArguments&);

// `fused`: by `fma`, otherwise by `mul` and `add`. Null where the type has no such ops of one word. The machine must have the
// instruction set.
RowKernel RowKernelFor(ir::Scalar type, bool fused, BatchIsa isa = BestIsa());

}  // namespace frazil::exec
