// Loops with borders against the interpreter: clamps, rings, guards, and numbers at the ends of their type. What is split
// wrongly reads or stores something else, or traps elsewhere.
#include "targets/native/split_borders.h"

#include <fmt/format.h>

#include <limits>

#include "targets/native/hoist.h"
#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;
using ir::Op;

constexpr int64_t Least = std::numeric_limits<int64_t>::min();
constexpr int64_t Most = std::numeric_limits<int64_t>::max();

// A row of `w` elements: `index` is made of %x, and is read; what is read is stored if `guard` holds. %p and %q are
// arguments, of 32 bits (then bounds with them are known not to wrap) or any.
std::string Row(std::string_view index, std::string_view guard = "", bool is_short = true) {
  const std::string store = "      store %b, %x, %v : u8\n";
  const std::string guarded =
      fmt::format("{}      if %g {{\n{}      yield\n      }}\n", guard, store);
  return fmt::format(R"(frz 1
func @main(%w: u32, %pi: index, %qi: index, %ps: i32, %qs: i32, %a: in buffer<u8>, %b: buffer<u8>) {{
  %n = cast %w : index
  %zero = const 0 : index
  %one = const 1 : index
  %last = sub %n, %one : index
  %p = cast {} : index
  %q = cast {} : index
  parallel %x = %zero to %n {{
{}      %v = load %a, %i : u8
{}    yield
  }}
  return
}}
)",
                     is_short ? "%ps" : "%pi", is_short ? "%qs" : "%qi", index,
                     guard.empty() ? store : guarded);
}

exec::Value I32(int64_t n) { return exec::Value::Int(ir::types::I32, static_cast<int32_t>(n)); }

size_t CountParallel(const ir::Program& program) {
  return static_cast<size_t>(
      std::ranges::count_if(program.entry_function().insts,
                            [](const ir::Inst& inst) { return inst.op == Op::Parallel; }));
}

struct Found {
  size_t loops;
  size_t borders;
};

Found SplitOf(std::string_view text) {
  ir::Program program = Parse(text);
  HoistInvariants(program);
  Result<Borders> borders = SplitBorders(program);
  EXPECT_TRUE(borders.has_value());
  return {CountParallel(program), borders ? (*borders)[0].size() : 0};
}

void CheckWidths(const std::string& text) {
  Differential test(text);
  uint64_t seed = 1;
  auto check = [&](std::vector<int64_t> lengths, int64_t w, int64_t p, int64_t q,
                   std::vector<int> same_as = {}) {
    test.Check({std::move(lengths),
                {U32(w), Index(p), Index(q), I32(p), I32(q)},
                std::move(same_as),
                ++seed});
  };
  for (int64_t w : {0, 1, 2, 3, 7, 15, 16, 17, 63, 64, 65, 66, 67, 130, 257})
    for (auto [p, q] :
         {std::pair<int64_t, int64_t>{0, 0}, {1, w - 1}, {5, 9}, {w, 1}, {-3, w + 2}, {40, 20}}) {
      check({w, w}, w, p, q);
      // Buffers that end early, or are one.
      if (w > 1) check({w - 1, w}, w, p, q);
      if (w > 1) check({w, w / 2}, w, p, q);
      check({w, w}, w, p, q, {-1, 0});
    }
  for (int64_t p : {Least, Least + 1, -(int64_t{1} << 60), int64_t{1} << 60, int64_t{1} << 62,
                    Most - 1, Most, int64_t{INT32_MAX}, int64_t{INT32_MIN}})
    for (int64_t q : {Least, int64_t{3}, Most}) check({70, 70}, 70, p, q);
}

constexpr std::string_view Clamped = R"(    %m = sub %x, %one : index
      %h = max %m, %zero : index
      %i = min %h, %last : index
)";
constexpr std::string_view Ring = R"(    %m = add %x, %n : index
      %h = sub %m, %one : index
      %i = rem.floor %h, %n : index
)";
constexpr std::string_view Selected = R"(    %c = lt %x, %last : index
      %m = add %x, %one : index
      %i = select %c, %m, %zero : index
)";

TEST(SplitBorders, Splits) {
  EXPECT_EQ(SplitOf(Row(Clamped)).borders, 2u);
  EXPECT_EQ(SplitOf(Row(Clamped)).loops, 3u);
  EXPECT_EQ(SplitOf(Row(Ring)).borders, 2u);
  // One question: both sides are loops.
  EXPECT_EQ(SplitOf(Row(Selected)).loops, 2u);
  EXPECT_EQ(SplitOf(Row(Selected)).borders, 0u);
  // Most turns would be a border.
  EXPECT_EQ(SplitOf(Row("      %h = max %x, %p : index\n      %i = min %h, %q : index\n")).loops,
            1u);
  EXPECT_EQ(SplitOf(Row("      %i = rem.floor %x, %p : index\n")).loops, 1u);
  // Bounds of 32 bits do not wrap; of others nobody knows.
  const std::string guard = "      %g = ge %x, %p : index\n";
  const std::string same = "      %i = add %x, %zero : index\n";
  EXPECT_EQ(SplitOf(Row(same, guard)).loops, 2u);
  EXPECT_EQ(SplitOf(Row(same, guard, /*is_short=*/false)).loops, 1u);
  EXPECT_EQ(SplitOf(Row("      %i = add %x, %zero : index\n")).loops, 1u);
}

TEST(SplitBorders, ClampsAndRings) {
  CheckWidths(Row(Clamped));
  CheckWidths(Row(Ring));
  CheckWidths(Row(Selected));
  CheckWidths(Row(R"(    %m = add %x, %one : index
      %i = rem.floor %m, %n : index
)"));
  CheckWidths(Row(R"(    %two = const 2 : index
      %m = add %x, %two : index
      %i = rem.floor %m, %n : index
)"));
  CheckWidths(Row(R"(    %i = rem.trunc %x, %n : index
)"));
}

// Bounds that are arguments: below the first turn, behind the last, and where sums with them would wrap.
TEST(SplitBorders, BoundsAreArguments) {
  constexpr std::string_view Same = "      %i = add %x, %zero : index\n";
  for (const bool is_short : {true, false}) {
    for (std::string_view op : {"lt", "le", "gt", "ge"})
      for (std::string_view order : {"%x, %p", "%p, %x"}) {
        SCOPED_TRACE(fmt::format("{} {}", op, order));
        const std::string guard = fmt::format("      %g = {} {} : index\n", op, order);
        CheckWidths(Row(Same, guard, is_short));
      }
    CheckWidths(Row(R"(    %h = max %x, %p : index
      %i = min %h, %q : index
)",
                    "", is_short));
    CheckWidths(Row(R"(    %m = add %x, %p : index
      %h = max %m, %zero : index
      %i = min %h, %last : index
)",
                    "", is_short));
  }
}

// The second question rests on the first one's answer; the first holds on one side only.
TEST(SplitBorders, QuestionsThatLeanOnOthers) {
  CheckWidths(Row(R"(    %five = const 5 : index
      %c = ge %x, %five : index
      %d = sub %x, %five : index
      %i = select %c, %d, %last : index
)",
                  "      %g = ge %i, %zero : index\n"));
  CheckWidths(Row(R"(    %five = const 5 : index
      %c = ge %x, %five : index
      %d = sub %x, %five : index
      %i = select %c, %d, %x : index
)",
                  "      %g = lt %i, %five : index\n"));
  CheckWidths(Row("      %i = add %x, %zero : index\n",
                  R"(      %u = ge %x, %one : index
      %s = lt %x, %last : index
      %t = lt %p, %q : index
      %us = and %u, %s : bool
      %g = and %us, %t : bool
)"));
}

// A condition that only the loop itself can answer, beside those that are answered before.
TEST(SplitBorders, GuardsOfTheLoopItself) {
  CheckWidths(Row("      %i = add %x, %zero : index\n",
                  R"(      %u = ge %x, %one : index
      %s = lt %x, %last : index
      %odd = and %x, %one : index
      %t = eq %odd, %zero : index
      %us = and %u, %s : bool
      %g = and %us, %t : bool
)"));
}

// Counters at the end of their type: the sum of one and a number wraps.
TEST(SplitBorders, CountersThatAreFar) {
  Differential test(R"(frz 1
func @main(%p: index, %q: index, %b: buffer<u8>) {
  %zero = const 0 : index
  %nine = const 9 : index
  %one = const 1 : u8
  %two = const 2 : u8
  %from = max %p, %zero : index
  parallel %x = %from to %q {
    %sum = add %x, %nine : index
    %c = ge %sum, %nine : index
    %i = sub %x, %from : index
    if %c {
      store %b, %i, %one : u8
      yield
    } else {
      store %b, %i, %two : u8
      yield
    }
    yield
  }
  return
}
)");
  uint64_t seed = 1;
  for (int64_t p : {Least, int64_t{-4}, int64_t{0}, int64_t{5}, Most - 100, Most - 12, Most - 3})
    for (int64_t q : {Least, int64_t{0}, int64_t{70}, Most - 10, Most - 1, Most})
      if (q < 100 || p > 100) test.Check({{101}, {Index(p), Index(q)}, {}, ++seed});
}

// Scratch that a loop has filled: an index among its turns is inside, another is not.
TEST(SplitBorders, WhatALoopHasTouched) {
  Differential test(R"(frz 1
func @main(%n: index, %k: i32, %m: index, %out: buffer<i32>) {
  %zero = const 0 : index
  %size = const 40 : index
  %seven = const 7 : i32
  %d = cast %k : index
  %tile = alloc %size : i32
  parallel %t = %zero to %n {
    store %tile, %t, %seven : i32
    yield
  }
  parallel %t = %zero to %n {
    %i = sub %t, %d : index
    %v = load %tile, %i : i32
    store %out, %t, %v : i32
    yield
  }
  parallel %t = %zero to %m {
    %v = load %tile, %t : i32
    store %out, %t, %v : i32
    yield
  }
  return
}
)");
  uint64_t seed = 1;
  for (int64_t n : {0, 1, 17, 39, 40, 41, 60})
    for (int64_t k : {-25, -1, 0, 1, 3, 40})
      for (int64_t m : {int64_t{0}, n, n + 1, int64_t{40}, int64_t{41}})
        test.Check({{64}, {Index(n), I32(k), Index(m)}, {}, ++seed});
}

// Every turn reads an element that one of them writes, and a row that may be the one that is written.
TEST(SplitBorders, ElementThatALoopWrites) {
  for (const bool is_later : {false, true}) {
    const std::string load = "      %s = load %d, %e : i32\n";
    Differential test(fmt::format(R"(frz 1
func @main(%n: u32, %r: index, %k: index, %c: index, %d: buffer<i32>) {{
  %w = cast %n : index
  %zero = const 0 : index
  %from = mul %r, %w : index
  %other = mul %k, %w : index
  parallel %j = %zero to %w {{
      %o = add %from, %j : index
      %t = add %other, %j : index
      %e = add %from, %c : index
      %old = load %d, %o : i32
      %x = load %d, %t : i32
{}      %sum = add %x, %old : i32
      store %d, %o, %sum : i32
{}      %both = add %sum, %s : i32
      store %d, %o, %both : i32
    yield
  }}
  return
}}
)",
                                  is_later ? "" : load, is_later ? load : ""));
    uint64_t seed = 1;
    for (int64_t w : {1, 2, 5, 16, 17, 33, 64, 65, 100})
      for (int64_t r : {0, 1, 2})
        for (int64_t k : {0, 1, 2})
          for (int64_t c : {int64_t{0}, int64_t{1}, w / 2, w - 1, w, 2 * w, -w, -int64_t{1}})
            test.Check({{3 * w}, {U32(w), Index(r), Index(k), Index(c)}, {}, ++seed});
  }
}

// Rows that overlap, by less than they are long.
TEST(SplitBorders, RowsThatOverlap) {
  // Read before the row is written, or between two that write it.
  for (std::string_view before : {"", "    store %d, %o, %seven : i32\n"}) {
    Differential test(fmt::format(R"(frz 1
func @main(%n: index, %p: index, %q: index, %d: buffer<i32>) {{
  %zero = const 0 : index
  %seven = const 7 : i32
  parallel %j = %zero to %n {{
    %o = add %p, %j : index
    %t = add %q, %j : index
{}    %x = load %d, %t : i32
    %y = add %x, %x : i32
    store %d, %o, %y : i32
    yield
  }}
  return
}}
)",
                                  before));
    uint64_t seed = 1;
    for (int64_t n : {0, 1, 3, 16, 40, 65, 130})
      for (int64_t p : {0, 1, 7, 20, 65, 129, 130})
        for (int64_t q : {0, 1, 8, 19, 64, 130, 131})
          test.Check({{261}, {Index(n), Index(p), Index(q)}, {}, ++seed});
  }
}

}  // namespace
}  // namespace frazil::targets::native
