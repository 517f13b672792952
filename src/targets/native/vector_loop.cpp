// Which loops become vector code.
#include "targets/native/vector_loop.h"

namespace frazil::targets::native {

bool TryEmitVectorLoop(FunctionEmitter&, const ir::Inst&) { return false; }

}  // namespace frazil::targets::native
