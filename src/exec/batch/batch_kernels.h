// The loops of the batch interpreter, one for each op and type, as functions on untyped arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/batch/batch_isa.h"
#include "ir/op.h"
#include "ir/type.h"

namespace frazil::exec {

// How many lanes a block has at most. Small enough that the live values of a long expression stay
// in the first two caches, large enough that choosing the loop costs nothing.
constexpr size_t BlockLanes = 1024;

struct KernelArguments {
  const void* a;
  const void* b;
  const void* c;
  void* result;
  uint8_t* traps;  // a lane that traps gets its code, unless it has one
  size_t lanes;
};
using Kernel = void (*)(const KernelArguments&);

// Null if the op is no arithmetic on one-word scalars. `source` is the first operand's type. The
// machine must have the instruction set.
Kernel KernelFor(ir::Op op, ir::Scalar type, ir::Scalar source, BatchIsa isa = BestIsa());

// Parts of it, each compiled by itself.
Kernel ArithmeticKernel(ir::Op op, ir::Scalar type, BatchIsa isa);
Kernel ConversionKernel(ir::Op op, ir::Scalar type, ir::Scalar source, BatchIsa isa);

}  // namespace frazil::exec
