// The reference interpreter: slow, obvious, never optimized. It *is* the meaning of the IR.
#pragma once

#include <memory>

#include "exec/target.h"

namespace frazil::exec {

// Runs the entry function. The program may still hold prelude ops and tensor ops.
Result<Outcome> Interpret(const ir::Program& program, std::span<const Value> arguments,
                          const RunContext& context = {});

// The interpreter as a target, under the name "interp".
std::unique_ptr<Target> MakeInterpreterTarget();

}  // namespace frazil::exec
