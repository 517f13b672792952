// A step of a plan as a program: its form, called with what the step gives it.
#pragma once

#include <span>
#include <vector>

#include "exec/plan/plan.h"

namespace frazil::verify::plans {

// What a step reads, found by whoever followed memory and scalars: for each parameter of the form the value of the planned
// program; none where the step has a constant.
struct StepReads {
  std::vector<ir::ValueId> given;      // distinct, the parameters of the instance in this order
  std::vector<uint32_t> of_parameter;  // by parameter of the form: which of these
  static constexpr uint32_t Constant = UINT32_MAX;
};

// `planned`: the entry of the planned program, of which the values are; `made`: what the results are to be, as types of it.
// Tensors whose shapes differ are reshaped on the way. Fails where the form does not fit; whoever believes the result checks it
// (ir::Check).
Result<ir::Program> InstanceOf(const exec::PlanForm& form, const exec::PlanStep& step,
                               const ir::Function& planned, const StepReads& reads,
                               std::span<const ir::Type> made);

}  // namespace frazil::verify::plans
