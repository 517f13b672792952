// What a plan does, step by step on plain memory, each form run by the interpreter: no code, no judge. It says what wrong plans
// are worth.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "exec/outcome.h"
#include "exec/plan/plan.h"
#include "exec/value.h"
#include "ir/program.h"

namespace frazil::plans_test {

// Nothing: the plan cannot be run at all (a place outside of its memory, a size that is none ...).
std::optional<exec::Outcome> RunPlan(const ir::Program& program, const exec::Plan& plan,
                                     std::span<const exec::Value> arguments);

}  // namespace frazil::plans_test
