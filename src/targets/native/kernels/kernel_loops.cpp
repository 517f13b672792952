// Which nests are kernels.
#include "targets/native/kernels/kernel_loops.h"

#include "targets/native/function_emitter.h"
#include "targets/native/kernels/kernel_match.h"
#include "targets/native/kernels/kernel_matmul.h"
#include "targets/native/kernels/kernel_rows.h"
#include "targets/native/vectors/vector_loop.h"

namespace frazil::targets::native {

bool TryEmitKernelLoop(FunctionEmitter& emitter, const ir::Inst& loop) {
  // A kernel counts no fuel.
  if (emitter.shared().metered) return false;
  if (auto nest = MatchMatmul(QuestionOf(emitter), loop)) return EmitMatmul(emitter, loop, *nest);
  if (auto nest = MatchRows(emitter.function(), emitter.facts(), loop))
    return EmitRows(emitter, loop, *nest);
  return false;
}

}  // namespace frazil::targets::native
