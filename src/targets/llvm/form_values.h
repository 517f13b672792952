// Index forms as instructions.
#pragma once

#include "targets/llvm/index_forms.h"
#include "targets/llvm/region_emitter.h"

namespace frazil::targets {

// At the builder's place, from the values that the form mentions.
llvm::Value* EvaluateForm(RegionEmitter& emitter, const IndexForm& form);

}  // namespace frazil::targets
