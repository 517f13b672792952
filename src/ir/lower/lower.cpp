// The way from any checked program to what a target takes, top to bottom.
#include "ir/lower/lower.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ir/check/check.h"

namespace frazil::ir {
namespace {

// In builds with asserts: a pass that gives something ill-formed is our bug, not the user's.
void CheckPass([[maybe_unused]] const Program& program) {
#ifndef NDEBUG
  // Loops around loops are not the user's nesting.
  Limits limits;
  limits.nesting *= 4;
  Result<void> checked = Check(program, limits);
  CHECK(checked.has_value());
#endif
}

}  // namespace

Result<Program> LowerForTarget(const Program& program, const Limits& limits, Folds folds) {
  Program lowered = TRY(LowerTensors(program, folds));
  CheckPass(lowered);
  lowered = TRY(ExpandPrelude(lowered));
  CheckPass(lowered);
  lowered = TRY(SplitBarriers(lowered));
  CheckPass(lowered);
  uint64_t insts = 0;
  for (const Function& function : lowered.functions) insts += function.insts.size();
  if (insts > limits.program_insts)
    return Fail(Diag::LimitReached,
                fmt::format("the lowered program has {} instructions, more than --max-insts {}",
                            insts, limits.program_insts));
  return lowered;
}

std::string WhyNotLowered(const Program& program) {
  const Result<Program> lowered = LowerForTarget(program);
  return lowered ? "" : lowered.error().message;
}

}  // namespace frazil::ir
