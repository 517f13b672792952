// The judge of a single run: a program without parameters and streams has one outcome, so that one run of the interpreter is
// all there is to compare.
#pragma once

#include "exec/outcome.h"
#include "ir/program.h"
#include "verify/verdict.h"

namespace frazil::verify {

// Proved (exhaustive, by the interpreter), Refuted, or Unknown where the interpreter would need more than `limits`.
Verdict JudgeRun(const ir::Program& program, const exec::Outcome& outcome, const Limits& limits);

}  // namespace frazil::verify
