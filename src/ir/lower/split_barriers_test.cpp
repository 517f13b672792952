// Structure of what SplitBarriers gives; that it means the same is for exec/meaning/lowering_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/check/check.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

Result<Program> Split(std::string_view body) {
  Result<Program> program = ParseText(
      "frz 1\nfunc @g(%b: buffer<i64>) {\nreturn\n}\n"
      "func @main(%n: index, %c: bool, %x: buffer<i64>) {\n  %zero = const 0 : index\n" +
      std::string(body) + "  return\n}\n");
  EXPECT_TRUE(program) << program.error().ToString();
  Result<Program> split = SplitBarriers(*program);
  if (!split) return split;
  std::string printed = PrintText(*split);
  Result<void> checked = Check(*split);
  EXPECT_TRUE(checked) << checked.error().ToString() << "\n" << printed;
  EXPECT_TRUE(ParseText(printed)) << printed;
  return split;
}

int Count(const Program& program, Op op) {
  int count = 0;
  for (const Function& function : program.functions)
    count += static_cast<int>(std::ranges::count(function.insts, op, &Inst::op));
  return count;
}

TEST(SplitBarriers, OneParallelForEachPhase) {
  Result<Program> split = Split(R"(
  parallel %i = %zero to %n {
    %v = load %x, %i : i64
    barrier
    store %x, %zero, %v : i64
    barrier
    store %x, %i, %v : i64
    yield
  }
)");
  ASSERT_TRUE(split);
  EXPECT_EQ(Count(*split, Op::Barrier), 0);
  EXPECT_EQ(Count(*split, Op::Parallel), 3);
  EXPECT_EQ(Count(*split, Op::Alloc), 1);
}

TEST(SplitBarriers, EmptyPhasesVanishAndUniformValuesNeedNoPlace) {
  Result<Program> split = Split(R"(
  parallel %i = %zero to %n {
    barrier
    %k = const 3 : i64
    %m = add %k, %k : i64
    barrier
    store %x, %i, %m : i64
    barrier
    yield
  }
)");
  ASSERT_TRUE(split);
  EXPECT_EQ(Count(*split, Op::Parallel), 1);
  EXPECT_EQ(Count(*split, Op::Alloc), 0);
}

TEST(SplitBarriers, UniformStructureMovesOut) {
  Result<Program> split = Split(R"(
  parallel %i = %zero to %n {
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
    yield
  }
)");
  ASSERT_TRUE(split);
  EXPECT_EQ(Count(*split, Op::Barrier), 0);
  EXPECT_EQ(Count(*split, Op::For), 1);
  for (const Inst& inst : split->entry_function().insts) {
    if (inst.op != Op::For) continue;
    EXPECT_EQ(inst.results.count, 0u);
  }
}

TEST(SplitBarriers, NestedParallelsSplitOnTheirOwn) {
  Result<Program> split = Split(R"(
  parallel %i = %zero to %n {
    %v = load %x, %i : i64
    barrier
    parallel %j = %zero to %n {
      %w = load %x, %j : i64
      barrier
      %s = add %v, %w : i64
      store %x, %j, %s : i64
      yield
    }
    yield
  }
)");
  ASSERT_TRUE(split);
  EXPECT_EQ(Count(*split, Op::Parallel), 4);
  EXPECT_EQ(Count(*split, Op::Alloc), 2);
}

TEST(SplitBarriers, ScratchAcrossABarrier) {
  Result<Program> split = Split(R"(
  parallel %i = %zero to %n {
    %four = const 4 : index
    %b = alloc %four : i64
    barrier
    %v = load %b, %i : i64
    store %x, %i, %v : i64
    yield
  }
)");
  ASSERT_TRUE(split) << split.error().ToString();
  EXPECT_EQ(Count(*split, Op::Alloc), 2);
}

TEST(SplitBarriers, ScratchOfUnequalLengthIsRefused) {
  Result<Program> split = Split(R"(
  parallel %i = %zero to %n {
    %b = alloc %i : i64
    barrier
    %v = load %b, %zero : i64
    yield
  }
)");
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().diag, Diag::Unsupported);
  EXPECT_EQ(split.error().location.line, 9u);
}

TEST(SplitBarriers, ScratchThatIsPassedOnIsCopied) {
  Result<Program> split = Split(R"(
  parallel %i = %zero to %n {
    %b = alloc %n : i64
    barrier
    call @g(%b)
    yield
  }
)");
  ASSERT_TRUE(split) << split.error().ToString();
  EXPECT_EQ(Count(*split, Op::Call), 1);
  // The pool, its place in the first phase, and the copy.
  EXPECT_EQ(Count(*split, Op::Alloc), 3);
}

}  // namespace
}  // namespace frazil::ir
