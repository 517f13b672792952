// Float atomics that are reductions.
#include "frontends/kernels/emit.h"

namespace frazil::frontends::kernels {

bool Emitter::EmitReductions(const LaunchPlan&) { return false; }

}  // namespace frazil::frontends::kernels
