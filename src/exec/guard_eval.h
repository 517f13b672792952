// Does a guard hold for a call? The slow, obvious form; a slot has its own, which is compared with
// this one.
#pragma once

#include <span>

#include "exec/value.h"
#include "ir/guard.h"

namespace frazil::exec {

// False also where the arguments do not fit the guard at all: then the fluid path answers.
bool Holds(const ir::Guard& guard, std::span<const Value> arguments);
bool Holds(const ir::GuardAtom& atom, std::span<const Value> arguments);

// Of the machine that runs this.
bool HostHas(ir::CpuFeature feature);

}  // namespace frazil::exec
