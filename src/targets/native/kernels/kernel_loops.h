// Loop nests that have a form of their own in registers: matrix products and rows added to a row. Internal to this folder.
#pragma once

#include "ir/program.h"

namespace frazil::targets::native {

class FunctionEmitter;

// As TryEmitVectorLoop. The nest is recognized by what it computes, not by who wrote it; where a test before it fails
// (lengths, identical buffers), the nest runs as it stands.
bool TryEmitKernelLoop(FunctionEmitter& emitter, const ir::Inst& loop);

// Are all accesses of a nest inside of their buffers, whatever the arguments are?
bool IsAllInside(FunctionEmitter& emitter, const ir::Inst& loop);

}  // namespace frazil::targets::native
