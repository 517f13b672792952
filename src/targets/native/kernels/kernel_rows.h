// Rows added to a row that stays in registers: the middle of every reduction. Internal to this folder.
#pragma once

#include "ir/program.h"
#include "targets/native/function_emitter.h"
#include "targets/native/kernels/kernel_match.h"

namespace frazil::targets::native {

// Emits the nest; false, with nothing emitted, where the row has too many elements for the registers.
bool EmitRows(FunctionEmitter& emitter, const ir::Inst& loop, const RowsNest& nest);

}  // namespace frazil::targets::native
