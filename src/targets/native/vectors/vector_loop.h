// Loops as vector code. Internal to this folder.
#pragma once

#include "ir/program.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {

class FunctionEmitter;

// Emits a `for` or `parallel` of the function as vector code with exactly the scalar loop's meaning and sets its
// results; false, with nothing emitted, if it is not one that this can do. Fuel has been taken already.
bool TryEmitVectorLoop(FunctionEmitter& emitter, const ir::Inst& loop);
// What a plan of its loops is asked for.
PlanQuestion QuestionOf(FunctionEmitter& emitter);
// Would it, by plain vectors?
bool FitsVectors(FunctionEmitter& emitter, const ir::Inst& loop);

}  // namespace frazil::targets::native
