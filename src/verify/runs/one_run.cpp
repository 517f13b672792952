#include "verify/runs/one_run.h"

#include "exec/meaning/interpreter.h"

namespace frazil::verify {

Verdict JudgeRun(const ir::Program& program, const exec::Outcome& outcome, const Limits& limits) {
  if (program.entry_function().param_count() != 0)
    return Unknown{"a program with parameters has more than one run"};
  exec::RunContext context;
  context.limits = limits;
  Result<exec::Outcome> expected = exec::Interpret(program, {}, context);
  if (!expected || (expected->trap && expected->trap->kind == ir::Trap::Fuel))
    return Unknown{"too long for the interpreter to judge"};
  if (expected->trap == outcome.trap && expected->results == outcome.results &&
      expected->output == outcome.output)
    return Proved{{Grade::Exhaustive, "interpreter", "the interpreter gives the same", 1}};
  return Refuted{ProgramCall{{}, context, std::move(*expected), outcome},
                 "the interpreter differs"};
}

}  // namespace frazil::verify
