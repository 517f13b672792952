#include "verify/runs/one_run.h"

#include <gtest/gtest.h>

#include "ir/text/test_ops.h"
#include "ir/text/text.h"

namespace frazil::verify {
namespace {

const ir::Program& Count() {
  static const auto* program =
      new ir::Program(*ir::ParseText("frz 1\nfunc @main() -> (i64) {\n" +
                                     ir::SumLines("i64", "0", "1000") + "  return %sum\n}\n"));
  return *program;
}

exec::Outcome Gives(int64_t value) {
  exec::Outcome outcome;
  outcome.results.push_back(exec::Value::Int(ir::types::I64, value));
  return outcome;
}

TEST(OneRun, TheSameOutcomeIsAllThereIsToSee) {
  const Verdict verdict = JudgeRun(Count(), Gives(499500), {});
  const auto* proved = std::get_if<Proved>(&verdict);
  ASSERT_NE(proved, nullptr) << VerdictName(verdict);
  EXPECT_EQ(proved->evidence.grade, Grade::Exhaustive);
  EXPECT_EQ(proved->evidence.cases, 1u);
}

TEST(OneRun, AnotherOutcomeIsRefuted) {
  EXPECT_TRUE(std::holds_alternative<Refuted>(JudgeRun(Count(), Gives(499501), {})));
  exec::Outcome trapped;
  trapped.trap = exec::TrapInfo{ir::Trap::Overflow, ir::Op::AddChecked};
  EXPECT_TRUE(std::holds_alternative<Refuted>(JudgeRun(Count(), trapped, {})));
  exec::Outcome talks = Gives(499500);
  talks.output.push_back(exec::Value::Int(ir::types::I64, 1));
  EXPECT_TRUE(std::holds_alternative<Refuted>(JudgeRun(Count(), talks, {})));
}

TEST(OneRun, WhatTakesTooLongIsUnknown) {
  Limits limits;
  limits.fuel = 10;
  const Verdict verdict = JudgeRun(Count(), Gives(499500), limits);
  const auto* unknown = std::get_if<Unknown>(&verdict);
  ASSERT_NE(unknown, nullptr) << VerdictName(verdict);
  EXPECT_EQ(unknown->reason, "too long for the interpreter to judge");
}

TEST(OneRun, AProgramWithParametersHasMoreRuns) {
  const auto program = ir::ParseText("frz 1\nfunc @main(%x: i64) -> (i64) {\nreturn %x\n}\n");
  EXPECT_TRUE(std::holds_alternative<Unknown>(JudgeRun(*program, Gives(1), {})));
}

}  // namespace
}  // namespace frazil::verify
