// From a program to a plan that answers as the interpreter does, with forms that are made once.
#include <gmock/gmock.h>

#include "engine/calls.h"
#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "optimize/calls/cut.h"
#include "programs.h"
#include "targets/native/native.h"
#include "verify/plans/plans.h"
#include "verify/x86/x86.h"

namespace frazil::plans_test {
namespace {

TEST(Calls, AnMlpIsProved) {
  const ir::Program program = Parse(Mlp(64, {64, 128, 64, 64}));
  const auto cut = optimize::CutIntoCalls(program);
  ASSERT_TRUE(cut) << cut.error().message;
  std::printf("%s\n", exec::PrintPlan(cut->plan).c_str());
  const verify::Verdict verdict = verify::VerifyPlan(cut->program, cut->plan);
  EXPECT_EQ(verify::VerdictName(verdict), "proved") << verify::Describe(verdict);
}

}  // namespace
}  // namespace frazil::plans_test
