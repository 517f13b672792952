// May a region trap, whatever it is given? Where it may, its elements come one after the other. Internal to this folder.
#pragma once

#include "ir/program.h"

namespace frazil::ir {

// Fuel is a limit of the run: who takes it may come to an end anywhere.
inline bool CanTrap(const Function& function, RegionId id) {
  for (InstId inst_id : function.region(id).insts) {
    const Inst& inst = function.inst(inst_id);
    if ((inst.op != Op::Fold && Info(inst.op).traps != 0)) return true;
    // A tensor made in a region needs scratch, and `alloc` traps.
    for (uint32_t i = 0; i < inst.results.count; ++i)
      if (!function.type(Function::result_of(inst, i)).is_scalar()) return true;
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      if (CanTrap(function, Function::region_of(inst, i))) return true;
  }
  return false;
}

}  // namespace frazil::ir
