// Products of a matrix and a vector as fast as the matrix can be read. Internal to this folder.
#pragma once

#include "ir/program.h"
#include "targets/native/function_emitter.h"
#include "targets/native/kernels/match_matvec.h"

namespace frazil::targets::native {

// Emits the nest: a kernel where its tests hold, else the loops as they stand. False, with nothing emitted, where there is no
// kernel for it.
bool EmitMatvec(FunctionEmitter& emitter, const ir::Inst& loop, const MatvecNest& nest);

}  // namespace frazil::targets::native
