// The gate of answers: a plan becomes a form of its target, the form is judged by its one run and admitted, and only what it
// gave then is made into an answer.
#pragma once

#include "engine/admit_run.h"
#include "frazil/ask.h"
#include "frazil/ask/plan.h"
#include "frontends/words/words.h"

namespace frazil::ask {

// An error where there is none to give: it was refuted, a limit ended the run, or nobody can judge it within its limits.
struct Run {
  engine::AdmittedRun admitted;
  double milliseconds = 0;
};
Result<Run> RunPlan(const ir::Program& read, const Plan& plan, const AskOptions& options);

// The one maker of answers.
class Maker {
 public:
  static Result<Answer> Make(const frontends::words::Reading& reading, const Plan& plan,
                             const engine::AdmittedRun& run);
};

}  // namespace frazil::ask
