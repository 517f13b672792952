// TIR, the stack code between Trident and assembly, as a door into the IR.
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "machines/tir/tir.h"

namespace frazil::frontends::tir {

// Stack places become values; the entry's streams are as those of a Trident program (frontends/trident/trident.h). Refused:
// asm, programs whose stack depth depends on their input.
Result<ir::Program> FromTir(const machines::tir::Program& program);

}  // namespace frazil::frontends::tir
