// Structure of what SplitBarriers gives; that it means the same is for exec/meaning/lowering_test.cpp.
#include <gtest/gtest.h>

#include "ir/check/check.h"
#include "ir/lower/lower.h"
#include "ir/lower/test_count.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

// Of one parallel %i, in which these lines stand.
Result<Program> Split(std::string_view body) {
  Result<Program> program = ParseText(Lanes("%n: index, %c: bool, %x: buffer<i64>", body) +
                                      "func @g(%b: buffer<i64>) {\nreturn\n}\n");
  EXPECT_TRUE(program) << program.error().ToString();
  Result<Program> split = SplitBarriers(*program);
  if (!split) return split;
  std::string printed = PrintText(*split);
  Result<void> checked = Check(*split);
  EXPECT_TRUE(checked) << checked.error().ToString() << "\n" << printed;
  EXPECT_TRUE(ParseText(printed)) << printed;
  return split;
}

TEST(SplitBarriers, OneParallelForEachPhase) {
  Result<Program> split = Split(R"(
    %v = load %x, %i : i64
    barrier
    store %x, %zero, %v : i64
    barrier
    store %x, %i, %v : i64
)");
  ASSERT_TRUE(split);
  EXPECT_EQ(Count(*split, Op::Barrier), 0);
  EXPECT_EQ(Count(*split, Op::Parallel), 3);
  EXPECT_EQ(Count(*split, Op::Alloc), 1);
}

TEST(SplitBarriers, EmptyPhasesVanishAndUniformValuesNeedNoPlace) {
  Result<Program> split = Split(R"(
    barrier
    %k = const 3 : i64
    %m = add %k, %k : i64
    barrier
    store %x, %i, %m : i64
    barrier
)");
  ASSERT_TRUE(split);
  EXPECT_EQ(Count(*split, Op::Parallel), 1);
  EXPECT_EQ(Count(*split, Op::Alloc), 0);
}

TEST(SplitBarriers, UniformStructureMovesOut) {
  Result<Program> split = Split(R"(
    %v = load %x, %i : i64
    %r = for %k = %zero to %n step 1 carry (%a = %v) {
      %w = if %c -> (i64) {
        barrier
        %s = load %x, %zero : i64
        yield %s
      } else {
        yield %a
      }
      yield %w
    }
    store %x, %i, %r : i64
)");
  ASSERT_TRUE(split);
  EXPECT_EQ(Count(*split, Op::Barrier), 0);
  EXPECT_EQ(Count(*split, Op::For), 1);
  for (const Inst& inst : split->entry_function().insts) {
    if (inst.op != Op::For) continue;
    EXPECT_EQ(inst.results.count, 0u);
  }
}

TEST(SplitBarriers, WhatIsCheapToComputeAgainIsNotKept) {
  Result<Program> split = Split(R"(
    %one = const 1 : index
    %j = add %i, %one : index
    %v = load %x, %i : i64
    barrier
    store %x, %i, %v : i64
    barrier
    %k = mul %j, %n : index
    store %x, %k, %v : i64
)");
  ASSERT_TRUE(split) << split.error().ToString();
  EXPECT_EQ(Count(*split, Op::Alloc), 1);  // of what was loaded
  // In the phase that reads it, and where it stood.
  EXPECT_EQ(Count(*split, Op::Mul), 1);
  EXPECT_GE(Count(*split, Op::Add), 2);
}

TEST(SplitBarriers, NestedParallelsSplitOnTheirOwn) {
  Result<Program> split = Split(R"(
    %v = load %x, %i : i64
    barrier
    parallel %j = %zero to %n {
      %w = load %x, %j : i64
      barrier
      %s = add %v, %w : i64
      store %x, %j, %s : i64
      yield
    }
)");
  ASSERT_TRUE(split);
  EXPECT_EQ(Count(*split, Op::Parallel), 4);
  EXPECT_EQ(Count(*split, Op::Alloc), 2);
}

TEST(SplitBarriers, ScratchAcrossABarrier) {
  Result<Program> split = Split(R"(
    %four = const 4 : index
    %b = alloc %four : i64
    barrier
    %v = load %b, %i : i64
    store %x, %i, %v : i64
)");
  ASSERT_TRUE(split) << split.error().ToString();
  EXPECT_EQ(Count(*split, Op::Alloc), 2);
}

TEST(SplitBarriers, ScratchOfUnequalLengthIsRefused) {
  Result<Program> split = Split(R"(
    %b = alloc %i : i64
    barrier
    %v = load %b, %zero : i64
)");
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().diag, Diag::Unsupported);
  EXPECT_EQ(split.error().location.line, 5u);
}

TEST(SplitBarriers, ScratchThatIsPassedOnIsCopied) {
  Result<Program> split = Split(R"(
    %b = alloc %n : i64
    barrier
    call @g(%b)
)");
  ASSERT_TRUE(split) << split.error().ToString();
  EXPECT_EQ(Count(*split, Op::Call), 1);
  // The pool, its place in the first phase, and the copy.
  EXPECT_EQ(Count(*split, Op::Alloc), 3);
}

}  // namespace
}  // namespace frazil::ir
