// Which nests are kernels.
#include "targets/native/kernels/kernel_loops.h"

#include <algorithm>

#include "targets/native/function_emitter.h"
#include "targets/native/kernels/kernel_match.h"
#include "targets/native/kernels/kernel_matmul.h"
#include "targets/native/kernels/kernel_matvec.h"
#include "targets/native/kernels/kernel_quantized.h"
#include "targets/native/kernels/kernel_rows.h"
#include "targets/native/vectors/vector_loop.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

bool IsInside(FunctionEmitter& emitter, const Inst& loop, ir::RegionId region) {
  const Function& function = emitter.function();
  return std::ranges::all_of(function.region(region).insts, [&](InstId id) {
    const Inst& inst = function.inst(id);
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      if (!IsInside(emitter, loop, Function::region_of(inst, i))) return false;
    return (inst.op != Op::Load && inst.op != Op::Store) ||
           IsInsideAt(function, emitter.facts(), id,
                      InstId(static_cast<uint32_t>(&loop - function.insts.data())));
  });
}

}  // namespace

bool IsAllInside(FunctionEmitter& emitter, const ir::Inst& loop) {
  return IsInside(emitter, loop, Function::region_of(loop, 0));
}

bool TryEmitKernelLoop(FunctionEmitter& emitter, const ir::Inst& loop) {
  // A kernel counts no fuel.
  if (emitter.shared().metered) return false;
  if (auto nest = MatchMatvec(emitter.function(), emitter.facts(), loop))
    if (EmitMatvec(emitter, loop, *nest)) return true;
  if (auto nest = MatchQuantized(emitter.function(), emitter.facts(), loop))
    if (EmitQuantized(emitter, loop, *nest)) return true;
  if (auto nest = MatchMatmul(QuestionOf(emitter), loop)) return EmitMatmul(emitter, loop, *nest);
  if (auto nest = MatchRows(emitter.function(), emitter.facts(), loop))
    return EmitRows(emitter, loop, *nest);
  return false;
}

}  // namespace frazil::targets::native
