// The rows say what an op can do; constants say what it cannot.
#include "optimize/traps.h"

#include <algorithm>

namespace frazil::optimize {

bool MayTrap(const ir::Function& function, const ir::Inst& inst) {
  const ir::OpInfo& info = ir::Info(inst.op);
  if (info.traps == 0) return false;
  const ir::TrapSet by_divisor =
      ir::Only(ir::Trap::DivisionByZero) | ir::Only(ir::Trap::InvertOfZero);
  if ((info.traps & ~by_divisor) != 0 || inst.operands.count == 0) return true;
  const ir::ValueId divisor = function.operand(inst, inst.operands.count - 1);
  const ir::InstId def = function.values[divisor.index].def;
  if (!def.valid() || function.inst(def).op != ir::Op::Const) return true;
  return std::ranges::all_of(function.words_of(function.inst(def)),
                             [](uint64_t word) { return word == 0; });
}

}  // namespace frazil::optimize
