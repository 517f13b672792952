// Closed forms against the loops themselves.
#include "optimize/loops/closed_form.h"

#include <gtest/gtest.h>

#include <chrono>

#include "ir/text/test_ops.h"
#include "optimize/loops/test_loops.h"
#include "optimize/optimize.h"
#include "optimize/test_same.h"

namespace frazil::optimize {
namespace {

size_t Loops(const ir::Program& program) {
  size_t count = 0;
  for (const ir::Inst& inst : program.entry_function().insts)
    count += inst.op == ir::Op::For ? 1 : 0;
  return count;
}

std::string Answer(const ir::Program& program) {
  Result<exec::Outcome> outcome = exec::Interpret(program, {});
  if (!outcome) return outcome.error().ToString();
  if (outcome->trap) return outcome->trap->ToString();
  return exec::PrintValue(outcome->results[0]);
}

TEST(ClosedForm, TenToTheEighteenAtOnce) {
  ir::Program source =
      Parse("frz 1\nfunc @main() -> (int<2>) {\n" +
            ir::SumLines("int<2>", "1", "1000000000000000001", "i64") + "  return %sum\n}\n");
  auto start = std::chrono::steady_clock::now();
  Result<ir::Candidate> candidate = Optimize(source);
  double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(candidate);
  EXPECT_EQ(Loops(candidate->program), 0u);
  EXPECT_EQ(Answer(candidate->program), "500000000000000000500000000000000000");
  EXPECT_LT(ms, 500);
  ASSERT_EQ(candidate->certificate.closed_forms.size(), 1u);
  EXPECT_EQ(candidate->certificate.closed_forms[0].inst, 3u);
}

TEST(ClosedForm, WhatMightTrapStays) {
  // The sum does not fit.
  ir::Program source = Parse(R"(frz 1
func @main() -> (i64) {
  %0 = const 1 : i64
  %1 = const 10000000001 : i64
  %2 = const 0 : i64
  %3 = for %4 = %0 to %1 step 1 carry (%5 = %2) {
    %7 = add.checked %5, %4 : i64
    yield %7
  }
  return %3
}
)");
  Result<ir::Candidate> candidate = Optimize(source);
  ASSERT_TRUE(candidate);
  EXPECT_EQ(Loops(candidate->program), 1u);
}

// Closes most of the programs that `make` gives for a seed, and changes none of their results.
void ExpectClosed(const std::function<ir::Program(uint64_t)>& make, uint64_t runs) {
  int closed = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    ir::Program source = make(seed);
    ASSERT_TRUE(ir::Check(source)) << ir::PrintText(source) << ir::Check(source).error().ToString();
    Unit unit = MakeUnit(source);
    Proof proof;
    Result<bool> changed = CloseLoops(unit, &proof);
    ASSERT_TRUE(changed) << changed.error().ToString();
    closed += *changed ? 1 : 0;
    ASSERT_EQ(Compare(source, unit.program, seed, runs), "");
  }
  EXPECT_GT(closed, 1500);
}

TEST(ClosedForm, RandomLoopsGiveTheirOwnResults) { ExpectClosed(RandomLoop, 1); }
TEST(ClosedForm, SumsWithBoundsThatAreValues) { ExpectClosed(RandomSum, 4); }

}  // namespace
}  // namespace frazil::optimize
