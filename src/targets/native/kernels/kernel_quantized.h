// Products of a vector and a matrix of quantized weights. Internal to this folder.
#pragma once

#include "ir/program.h"
#include "targets/native/function_emitter.h"
#include "targets/native/kernels/match_quantized.h"

namespace frazil::targets::native {

// As EmitMatvec.
bool EmitQuantized(FunctionEmitter& emitter, const ir::Inst& loop, const QuantizedNest& nest);

// By values of the function that is being filled; one that is known is a constant in the kernel.
struct QuantizedSizes {
  llvm::Value* count;       // outputs
  llvm::Value* groups;      // of a chain
  llvm::Value* row;         // bytes from an output's weights to the next one's
  llvm::Value* scales_row;  // scales, likewise
};

// A function of a, its scales, w, its scales, c and the sizes, each at least 1.
llvm::Function* EmitQuantizedKernel(ModuleEmitter& shared, bool has_nibbles,
                                    const QuantizedSizes& sizes);

}  // namespace frazil::targets::native
