// Matrix products as blocked outer products in registers. Internal to this folder.
#pragma once

#include "ir/program.h"
#include "targets/native/function_emitter.h"
#include "targets/native/kernels/kernel_match.h"

namespace frazil::targets::native {

// Emits the nest: the kernel where its tests hold, else the loops as they stand. False, with nothing emitted, where
// the machine has no fma.
bool EmitMatmul(FunctionEmitter& emitter, const ir::Inst& loop, const MatmulNest& nest);

}  // namespace frazil::targets::native
