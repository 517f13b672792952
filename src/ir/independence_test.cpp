// Which parallels may run in another order, under which conditions, and what is said of those that may not. That the
// answers are right in execution is for exec/independence_order_test.cpp.
#include "ir/independence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/check.h"
#include "ir/text.h"

namespace frazil::ir {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// %x %y %z: f32 buffers (ordinals 0 to 2), %k: u32 buffer (3), %n %m %ld: u32 (4 to 6), %g %b: index (7, 8), %s: i32 (9).
std::string Kernel(std::string_view body) {
  return "frz 1\nfunc @kernel(%x: in buffer<f32>, %y: buffer<f32>, %z: buffer<f32>, %k: "
         "buffer<u32>, %n: u32, %m: u32, "
         "%ld: u32, %g: index, %b: index, %s: i32) {\n  %0 = const 0 : index\n  %1 = const 1 : "
         "index\n"
         "  %2 = const 2 : index\n  %one = const 1 : u32\n  %f = const 1.5 : f32\n  %ni = cast %n "
         ": index\n"
         "  %mi = cast %m : index\n  %ldi = cast %ld : index\n" +
         std::string(body) + "  return\n}\n";
}

Program Parse(const std::string& text) {
  Result<Program> program = ParseText(text);
  EXPECT_TRUE(program) << program.error().ToString() << "\n" << text;
  return program ? *program : Program();
}

// The answer for the outermost parallel, or for the one inside.
Independence Judge(std::string_view body, int which = 0) {
  Program program = Parse(Kernel(body));
  if (program.functions.empty()) return {};
  const Function& function = program.entry_function();
  for (uint32_t i = 0; i < function.insts.size(); ++i)
    if (function.insts[i].op == Op::Parallel && which-- == 0)
      return IndependenceOf(program, function, InstId(i));
  ADD_FAILURE() << "no parallel";
  return {};
}

void ExpectFree(std::string_view body, Pairs disjoint = {}, Pairs at_most = {}, int which = 0) {
  Independence answer = Judge(body, which);
  EXPECT_TRUE(answer.independent) << answer.why_not << " at line " << answer.where.line << "\n"
                                  << body;
  EXPECT_EQ(answer.disjoint, disjoint) << body;
  EXPECT_EQ(answer.at_most, at_most) << body;
}

void ExpectBound(std::string_view body, std::string_view reason, int which = 0) {
  Independence answer = Judge(body, which);
  EXPECT_FALSE(answer.independent) << body;
  EXPECT_NE(answer.why_not.find(reason), std::string::npos) << answer.why_not << body;
  EXPECT_NE(answer.where.line, 0u) << body;
  EXPECT_TRUE(answer.disjoint.empty() && answer.at_most.empty());
}

TEST(Independence, EachIterationItsOwnElement) {
  ExpectFree(R"(
  parallel %i = %0 to %ni {
    %a = load %x, %i : f32
    %c = load %y, %i : f32
    %d = add %a, %c : f32
    store %y, %i, %d : f32
    yield
  }
)");
  ExpectFree(R"(
  parallel %i = %0 to %ni {
    %j = sub %ni, %i : index
    %l = sub %j, %1 : index
    store %y, %l, %f : f32
    yield
  }
)");
  // The index as a narrower type, where the bound says that nothing is lost.
  ExpectFree(R"(
  parallel %i = %0 to %ni {
    %j = cast %i : u32
    %l = cast %j : index
    store %y, %l, %f : f32
    yield
  }
)");
}

TEST(Independence, NeighborsDependOnEachOther) {
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %j = add %i, %1 : index
    %a = load %y, %i : f32
    store %y, %j, %a : f32
    yield
  }
)",
              "other iterations may reach the same element");
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    store %y, %0, %f : f32
    yield
  }
)",
              "not known to differ");
  // The same read from another buffer is only a question of which buffers they are.
  ExpectFree(R"(
  parallel %i = %0 to %ni {
    %j = add %i, %1 : index
    %a = load %x, %j : f32
    store %y, %i, %a : f32
    yield
  }
)",
             {{0, 1}});
}

TEST(Independence, SeveralElementsOfAnIteration) {
  ExpectFree(R"(
  parallel %i = %0 to %ni {
    %j = mul %i, %2 : index
    %l = add %j, %1 : index
    store %y, %j, %f : f32
    store %y, %l, %f : f32
    yield
  }
)");
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %j = mul %i, %2 : index
    %l = add %j, %2 : index
    store %y, %j, %f : f32
    store %y, %l, %f : f32
    yield
  }
)",
              "other iterations");
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %j = mul %i, %2 : index
    store %y, %j, %f : f32
    store %y, %i, %f : f32
    yield
  }
)",
              "another pace");
}

TEST(Independence, ADistanceThatWrapsKeepsNothingApart) {
  // The fourth power of 2^16 is 0.
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %n2 = mul %ni, %ni : index
    %n4 = mul %n2, %n2 : index
    %p = mul %i, %n4 : index
    %a = load %y, %p : f32
    store %y, %p, %a : f32
    yield
  }
)",
              "may wrap");
  // Lanes with a turn are far apart; those without one would have trapped.
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %t = load %k, %i : u32
    %turns = cast %t : index
    for %j = %0 to %turns step 1 {
      %n2 = mul %ni, %ni : index
      %n3 = mul %n2, %ni : index
      %p = mul %i, %n3 : index
      %a = load %y, %p : f32
      store %y, %p, %a : f32
      yield
    }
    yield
  }
)",
              "may wrap");
}

// Indices wrap; what is said of them as whole numbers must hold all the same.
TEST(Independence, AnIndexThatWrapsSaysNothing) {
  // j + b may pass the largest number: then j is any number, not less than n.
  constexpr std::string_view Guarded = R"(
  %eight = const 8 : index
  parallel %i = %0 to %mi {{
    %positive = ge %b, %0 : index
    if %positive {{
      for %j = %0 to %eight step 1 {{
        %jb = add %j, {0} : index
        %below = lt %jb, %ni : index
        if %below {{
          %r = mul %i, %ni : index
          %p = add %r, %j : index
          store %y, %p, %f : f32
          yield
        }} else {{
          yield
        }}
        yield
      }}
      yield
    }} else {{
      yield
    }}
    yield
  }}
)";
  ExpectBound(fmt::format(Guarded, "%b"), "other iterations");
  ExpectFree(fmt::format(Guarded, "%mi"));
  // The product of three is what it likes to be, -1 also: rows then reach back into those before.
  ExpectBound(R"(
  %w = mul %mi, %ldi : index
  %w3 = mul %w, %ldi : index
  parallel %i = %0 to %mi {
    for %j = %0 to %ldi step 1 {
      %jw = mul %j, %w3 : index
      %below = lt %jw, %ni : index
      if %below {
        %r = mul %i, %ni : index
        %p = add %r, %jw : index
        store %y, %p, %f : f32
        yield
      } else {
        yield
      }
      yield
    }
    yield
  }
)",
              "other iterations");
  // So is a bound of a loop.
  ExpectBound(R"(
  parallel %i = %0 to %mi {
    %positive = ge %b, %0 : index
    if %positive {
      %b2 = add %b, %b : index
      %hi = sub %ni, %b2 : index
      for %j = %0 to %hi step 1 {
        %r = mul %i, %ni : index
        %p = add %r, %j : index
        store %y, %p, %f : f32
        yield
      }
      yield
    } else {
      yield
    }
    yield
  }
)",
              "");
}

TEST(Independence, CoefficientsThatWrapSayNothing) {
  // 2^24 * (2^40 - 8) is -2^27.
  ExpectBound(R"(
  %far = const 1099511627768 : index
  %many = const 16777216 : index
  %8 = const 8 : index
  %turns = mul %ni, %many : index
  parallel %i = %0 to %mi {
    for %j = %0 to %turns step 1 {
      %r = mul %i, %8 : index
      %l = mul %j, %far : index
      %p = add %r, %l : index
      store %y, %p, %f : f32
      yield
    }
    yield
  }
)",
              "other iterations");
  // Each part of the distance fits, their sum is 2^64: 2^31 * (n + m + ld + 1).
  ExpectBound(R"(
  %half = const 2147483648 : index
  %nm = add %ni, %mi : index
  %sum = add %nm, %ldi : index
  %sum1 = add %sum, %1 : index
  %d = mul %sum1, %half : index
  parallel %i = %0 to %mi {
    %p = mul %i, %d : index
    store %y, %p, %f : f32
    yield
  }
)",
              "may wrap");
}

// %i from {0} to {1}; an access that not every iteration makes, in steps of {2}.
constexpr std::string_view Sparse = R"(
  %low = const -64 : index
  %3 = const 3 : index
  parallel %i = {0} to {1} {{
    %positive = ge {2}, %1 : index
    if %positive {{
      %p = mul %i, {2} : index
      %a = load %y, %p : f32
      store %y, %p, %a : f32
      yield
    }} else {{
      yield
    }}
    yield
  }}
)";

TEST(Independence, IterationsAreCountedFromTheFirst) {
  ExpectFree(fmt::format(Sparse, "%0", "%2", "%g"));
  ExpectBound(fmt::format(Sparse, "%low", "%2", "%g"), "may wrap");
  ExpectBound(fmt::format(Sparse, "%b", "%2", "%g"), "may wrap");
  ExpectFree(fmt::format(Sparse, "%low", "%2", "%ni"));
  // As many iterations as their distance: together they are its square.
  ExpectBound(fmt::format(Sparse, "%0", "%g", "%g"), "may wrap");
}

TEST(Independence, TurnsAreCountedFromTheFirst) {
  // Few turns below a large n, which the distance is made of.
  constexpr std::string_view Turns = R"(
  %low = const {0} : index
  %2p16 = const 65536 : index
  %far = mul %g, %2p16 : index
  parallel %i = %0 to %ni {{
    for %j = %low to %g step 1 {{
      %some = load %k, %j : u32
      %is = eq %some, %one : u32
      if %is {{
        %r = mul %i, %far : index
        %l = add %r, %j : index
        %p = sub %l, %low : index
        store %y, %p, %f : f32
        yield
      }} else {{
        yield
      }}
      yield
    }}
    yield
  }}
)";
  ExpectFree(fmt::format(Turns, 0), {{1, 3}});
  ExpectBound(fmt::format(Turns, int64_t{1} << 39), "may wrap");
}

TEST(Independence, ADivisorThatWrapsTakesNothingApart) {
  ExpectBound(R"(
  %w = mul %mi, %ldi : index
  %w3 = mul %w, %mi : index
  %hi = mul %w3, %ni : index
  parallel %i = %0 to %hi {
    %q = div.floor %i, %w3 : index
    %r = rem.floor %i, %w3 : index
    %l = mul %r, %ni : index
    %p = add %l, %q : index
    store %y, %p, %f : f32
    yield
  }
)",
              "not known to differ");
  ExpectBound(R"(
  %w = mul %mi, %ldi : index
  parallel %i = %0 to %ni {
    %q = div.floor %i, %w : index
    %r = rem.floor %i, %w : index
    %l = mul %q, %w : index
    %p = add %l, %r : index
    store %y, %p, %f : f32
    yield
  }
)",
              "not known to differ");
}

constexpr std::string_view Rows = R"(
  parallel %i = %0 to %mi {{
    for %j = %0 to %ni step 1 {{
      %r = mul %i, {0} : index
      %l = add %r, %j : index
      %a = load %x, %l : f32
      store %y, %l, %a : f32
      yield
    }}
    yield
  }}
)";

TEST(Independence, RowsNeedTheirLength) {
  ExpectFree(fmt::format(Rows, "%ni"));
  ExpectFree(fmt::format(Rows, "%ldi"), {}, {{4, 6}});
  ExpectFree(fmt::format(Rows, "%g"), {}, {{4, 7}});
  ExpectBound(fmt::format(Rows, "%1"), "other iterations");
}

TEST(Independence, NestedParallels) {
  constexpr std::string_view Body = R"(
  parallel %i = %0 to %mi {
    parallel %j = %0 to %ni {
      %r = mul %i, %ldi : index
      %l = add %r, %j : index
      %a = load %y, %l : f32
      %c = load %x, %j : f32
      %d = mul %a, %c : f32
      store %y, %l, %d : f32
      yield
    }
    yield
  }
)";
  ExpectFree(Body, {{0, 1}}, {{4, 6}}, 0);
  ExpectFree(Body, {{0, 1}}, {}, 1);
}

TEST(Independence, PartsOfAFlatCounter) {
  // Written at the counter itself, read anywhere.
  ExpectFree(R"(
  parallel %i = %0 to %g {
    %r = div.floor %i, %ni : index
    %c = rem.floor %i, %ni : index
    %t = mul %c, %mi : index
    %l = add %t, %r : index
    %a = load %x, %l : f32
    store %y, %i, %a : f32
    yield
  }
)",
             {{0, 1}});
  // Written at the parts put together again.
  ExpectFree(R"(
  parallel %i = %0 to %g {
    %r = div.floor %i, %ni : index
    %c = rem.floor %i, %ni : index
    %t = mul %r, %ni : index
    %l = add %t, %c : index
    store %y, %l, %f : f32
    yield
  }
)");
  // A transposed matrix; its extent as a product of u32, which may have wrapped to something smaller.
  ExpectFree(R"(
  %nm = mul %n, %m : u32
  %e = cast %nm : index
  parallel %i = %0 to %e {
    %r = div.floor %i, %ni : index
    %c = rem.floor %i, %ni : index
    %t = mul %c, %mi : index
    %l = add %t, %r : index
    store %y, %l, %f : f32
    yield
  }
)");
  ExpectBound(R"(
  parallel %i = %0 to %g {
    %c = rem.floor %i, %ni : index
    store %y, %c, %f : f32
    yield
  }
)",
              "not known to differ");
  // Rows back to front are still rows; two parts that go opposite ways in steps of one meet.
  ExpectFree(R"(
  parallel %i = %0 to %g {
    %r = div.floor %i, %ni : index
    %c = rem.floor %i, %ni : index
    %t = mul %r, %ni : index
    %l = sub %t, %c : index
    store %y, %l, %f : f32
    yield
  }
)");
  ExpectBound(R"(
  parallel %i = %0 to %g {
    %r = div.floor %i, %ni : index
    %c = rem.floor %i, %ni : index
    %l = sub %r, %c : index
    store %y, %l, %f : f32
    yield
  }
)",
              "");
  // That rows are long enough is known at one place and not at the other.
  ExpectFree(R"(
  parallel %i = %0 to %ldi {
    %r = div.floor %i, %ni : index
    %c = rem.floor %i, %ni : index
    %t = mul %r, %mi : index
    %l = add %t, %c : index
    %long = ge %mi, %ni : index
    if %long {
      %a = load %y, %l : f32
      yield
    } else {
      yield
    }
    %v = load %y, %l : f32
    store %y, %l, %v : f32
    yield
  }
)",
             {}, {{4, 5}});
}

TEST(Independence, ThreePartsInAnyNotation) {
  constexpr std::string_view Body = R"(
  %narrow = cast %m : u16
  %mh = cast %narrow : index
  %a = mul %ni, %mh : index
  %e = mul %a, %ldi : index
  parallel %i = %0 to %e {{
    {}
    %t0 = mul %p, %mh : index
    %t1 = add %t0, %q : index
    %t2 = mul %t1, %ni : index
    %l = add %t2, %r : index
    store %y, %l, %f : f32
    yield
  }}
)";
  ExpectFree(fmt::format(Body,
                         "%r = rem.floor %i, %ni : index\n %h = div.floor %i, %ni : index\n"
                         "%q = rem.floor %h, %mh : index\n %p = div.floor %h, %mh : index"));
  ExpectFree(fmt::format(Body,
                         "%r = rem.floor %i, %ni : index\n %h = div.floor %i, %ni : index\n"
                         "%q = rem.floor %h, %mh : index\n %p = div.floor %i, %a : index"));
  ExpectFree(fmt::format(Body,
                         "%p = div.floor %i, %a : index\n %h = rem.floor %i, %a : index\n"
                         "%q = div.floor %h, %ni : index\n %r = rem.floor %i, %ni : index"));
}

TEST(Independence, Atomics) {
  ExpectFree(R"(
  parallel %i = %0 to %ni {
    %v = load %x, %i : f32
    %l = cast %v : index
    %o = atomic %k, %l, %one {kind = add} : u32
    yield
  }
)",
             {{0, 3}});
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %o = atomic %k, %0, %one {kind = add} : u32
    %l = cast %o : index
    store %y, %l, %f : f32
    yield
  }
)",
              "not known to differ");
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %o = atomic %k, %0, %one {kind = add} : u32
    %p = atomic %k, %0, %one {kind = max} : u32
    yield
  }
)",
              "not known to differ");
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %o = atomic %k, %0, %one {kind = exchange} : u32
    yield
  }
)",
              "not known to differ");
}

TEST(Independence, FloatAtomicsOnlyIfSaid) {
  ExpectFree(R"(
  parallel %i = %0 to %ni {
    %v = load %x, %i : f32
    %o = atomic %z, %0, %v {kind = add, unordered} : f32
    yield
  }
)",
             {{0, 2}});
}

TEST(Independence, Blocks) {
  constexpr std::string_view Reverse = R"(
  parallel %block = %0 to %g {
    %shared = alloc %b : f32
    parallel %lane = %0 to %b {
      %base = mul %block, %b : index
      %i = add %base, %lane : index
      %v = load %x, %i : f32
      store %shared, %lane, %v : f32
      barrier
      %last = sub %b, %1 : index
      %other = sub %last, %lane : index
      %w = load %shared, %other : f32
      store %y, %i, %w : f32
      yield
    }
    yield
  }
)";
  ExpectFree(Reverse, {}, {}, 0);
  ExpectFree(Reverse, {}, {}, 1);
  // Without its barrier the inner one has an order.
  std::string racing(Reverse);
  racing.erase(racing.find("      barrier\n"), 14);
  ExpectBound(racing, "another pace", 1);
  ExpectFree(racing, {}, {}, 0);
}

TEST(Independence, AGuardInABlock) {
  ExpectFree(R"(
  parallel %block = %0 to %g {
    parallel %lane = %0 to %b {
      %base = mul %block, %b : index
      %i = add %base, %lane : index
      %in = lt %i, %ni : index
      if %in {
        store %y, %i, %f : f32
        yield
      } else {
        yield
      }
      yield
    }
    yield
  }
)");
  // Tiles of a matrix: columns stay inside of their row because of the guard.
  ExpectFree(R"(
  parallel %by = %0 to %mi {
    parallel %bx = %0 to %ni {
      parallel %lane = %0 to %ldi {
        %c0 = mul %bx, %ldi : index
        %col = add %c0, %lane : index
        %in = lt %col, %ni : index
        if %in {
          %r0 = mul %by, %ni : index
          %i = add %r0, %col : index
          store %y, %i, %f : f32
          yield
        } else {
          yield
        }
        yield
      }
      yield
    }
    yield
  }
)");
}

TEST(Independence, TurnsOfALoopAroundABarrierArePhases) {
  constexpr std::string_view Body = R"(
  parallel %lane = %0 to %ni {
    for %t = %0 to %mi step 1 {
      %base = mul %t, %ni : index
      %i = add %base, %lane : index
      %v = load %z, %lane : f32
      store %y, %i, %v : f32
      barrier
      %j = sub %ni, %lane : index
      store %z, %j, %v : f32
      yield
    }
    yield
  }
)";
  ExpectFree(Body, {{1, 2}});
}

// -2^63 has no negative in a word.
TEST(Independence, TheLeastIndexOfAll) {
  ExpectBound(R"(
  %low = const -9223372036854775808 : index
  parallel %i = %low to %ni {
    %in = ge %i, %low : index
    if %in {
      %j = and %i, %1 : index
      store %y, %j, %f : f32
      yield
    } else {
      yield
    }
    yield
  }
)",
              "not known to differ");
}

TEST(Independence, WhatCannotBeSeen) {
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %v = load %k, %i : u32
    %l = cast %v : index
    store %y, %l, %f : f32
    yield
  }
)",
              "not known to differ");
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    output %f : f32
    yield
  }
)",
              "stream");
  // A u32 sum of an index may wrap.
  ExpectBound(R"(
  parallel %i = %0 to %ni {
    %j = cast %i : u32
    %h = mul %j, %m : u32
    %l = cast %h : index
    store %y, %l, %f : f32
    yield
  }
)",
              "not known to differ");
  // Distances of any size in an access that not every iteration makes.
  ExpectBound(R"(
  parallel %i = %0 to %g {
    %in = lt %i, %ni : index
    if %in {
      %l = mul %i, %b : index
      store %y, %l, %f : f32
      yield
    } else {
      yield
    }
    yield
  }
)",
              "reach the same element");
}

TEST(MakeRanged, PiecesAndTrips) {
  Program program = Parse(Kernel(R"(
  %h = div.floor %ni, %2 : index
  parallel %i = %1 to %h {
    store %y, %i, %f : f32
    yield
  }
)"));
  Result<RangedKernel> ranged = MakeRanged(program);
  ASSERT_TRUE(ranged) << ranged.error().ToString();
  EXPECT_TRUE(ranged->conditions.unconditional());
  EXPECT_TRUE(Check(ranged->program)) << PrintText(ranged->program);
  EXPECT_TRUE(Check(ranged->trips)) << PrintText(ranged->trips);
  const Function& piece = ranged->program.entry_function();
  ASSERT_EQ(piece.param_count(), 12u);
  EXPECT_EQ(piece.value_names[piece.param(10).index], "range.lo");
  EXPECT_EQ(piece.value_names[piece.param(11).index], "range.hi");
  const Function& trips = ranged->trips.entry_function();
  ASSERT_EQ(trips.param_count(), 10u);
  EXPECT_EQ(trips.param_type(1), types::Index);
  EXPECT_EQ(trips.param_type(4), types::U32);
  EXPECT_EQ(trips.results, std::vector<Type>{types::Index});
  EXPECT_EQ(std::ranges::count(trips.insts, Op::Parallel, &Inst::op), 0);
}

void ExpectWhole(std::string_view body, std::string_view reason) {
  Result<RangedKernel> ranged = MakeRanged(Parse(Kernel(body)));
  ASSERT_FALSE(ranged) << body;
  EXPECT_EQ(ClassOf(ranged.error().diag), ErrorClass::Limit);
  EXPECT_NE(ranged.error().message.find(reason), std::string::npos) << ranged.error().message;
}

TEST(MakeRanged, WhatRunsInOnePiece) {
  constexpr std::string_view Fill = R"(
  parallel %i = %0 to %ni {
    store %y, %i, %f : f32
    yield
  }
)";
  ExpectWhole("  store %y, %0, %f : f32\n" + std::string(Fill), "store outside");
  ExpectWhole(std::string(Fill) + std::string(Fill), "more than one");
  ExpectWhole("", "no outermost parallel");
  ExpectWhole("  %v = load %y, %0 : f32\n" + std::string(Fill), "writes what it reads");
  ExpectWhole(R"(
  parallel %i = %0 to %ni {
    store %y, %i, %f : f32
    barrier
    %j = sub %ni, %i : index
    %v = load %y, %j : f32
    yield
  }
)",
              "barriers");
  Result<RangedKernel> reads =
      MakeRanged(Parse(Kernel("  %v = load %x, %0 : f32\n" + std::string(Fill))));
  ASSERT_TRUE(reads) << reads.error().ToString();
  EXPECT_EQ(reads->conditions.disjoint, (Pairs{{0, 1}}));
}

}  // namespace
}  // namespace frazil::ir
