// A plan where native code is wanted: a function of the uniform entry form that calls it. The few instructions that know which plan it
// is are made here, for this process; they are never kept.
#pragma once

#include "exec/plan/plan_code.h"

namespace frazil::exec {

// The plan must outlive it.
Result<std::shared_ptr<const NativeCode>> MakePlanEntry(const PlanCode& plan);

}  // namespace frazil::exec
