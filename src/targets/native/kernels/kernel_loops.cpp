// Which nests are kernels.
#include "targets/native/kernels/kernel_loops.h"

#include "targets/native/function_emitter.h"
#include "targets/native/kernels/kernel_match.h"
#include "targets/native/kernels/kernel_matmul.h"
#include "targets/native/kernels/kernel_matvec.h"
#include "targets/native/kernels/kernel_quantized.h"
#include "targets/native/kernels/kernel_rows.h"

namespace frazil::targets::native {

bool TryEmitKernelLoop(FunctionEmitter& emitter, const ir::Inst& loop) {
  // A kernel counts no fuel.
  if (emitter.shared().metered) return false;
  if (auto nest = MatchMatvec(emitter.function(), emitter.facts(), loop))
    if (EmitMatvec(emitter, loop, *nest)) return true;
  if (auto nest = MatchQuantized(emitter.function(), emitter.facts(), loop))
    if (EmitQuantized(emitter, loop, *nest)) return true;
  if (auto nest = MatchMatmul(emitter.function(), emitter.facts(), loop))
    return EmitMatmul(emitter, loop, *nest);
  if (auto nest = MatchRows(emitter.function(), emitter.facts(), loop))
    return EmitRows(emitter, loop, *nest);
  return false;
}

}  // namespace frazil::targets::native
