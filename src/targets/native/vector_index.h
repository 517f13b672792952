// Index forms as instructions. Internal to this folder.
#pragma once

#include "targets/native/function_emitter.h"
#include "targets/native/loop_plan_index.h"

namespace frazil::targets::native {

// At the builder's place, from the values that the form mentions.
llvm::Value* EvaluateForm(FunctionEmitter& emitter, const IndexForm& form);

}  // namespace frazil::targets::native
