// Which parallels may run in another order, under which conditions, and what is said of those that may not. That the
// answers are right in execution is for exec/meaning/independence_order_test.cpp.
#include "ir/lanes/independence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/check/check.h"
#include "ir/text/text.h"

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

// --- bodies: statements with "; " between them, and what stands around them ---------------------------------------

std::string Lines(std::string_view statements) {
  std::string lines(statements);
  for (size_t at; (at = lines.find("; ")) != std::string::npos;) lines.replace(at, 2, "\n");
  if (!lines.ends_with('\n')) lines += '\n';
  return lines;
}

std::string Block(std::string_view head, std::string_view body) {
  return fmt::format("{} {{\n{}yield\n}}\n", head, Lines(body));
}
std::string Parallel(std::string_view range, std::string_view body) {
  return Block(fmt::format("parallel {}", range), body);
}
std::string For(std::string_view range, std::string_view body) {
  return Block(fmt::format("for {} step 1", range), body);
}
std::string If(std::string_view condition, std::string_view body) {
  return fmt::format("if {} {{\n{}yield\n}} else {{\nyield\n}}\n", condition, Lines(body));
}
// Every %i below n.
std::string Each(std::string_view body) { return Parallel("%i = %0 to %ni", body); }

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
  ExpectFree(
      Each("%a = load %x, %i : f32; %c = load %y, %i : f32; %d = add %a, %c : f32; "
           "store %y, %i, %d : f32"));
  ExpectFree(Each("%j = sub %ni, %i : index; %l = sub %j, %1 : index; store %y, %l, %f : f32"));
  // The index as a narrower type, where the bound says that nothing is lost.
  ExpectFree(Each("%j = cast %i : u32; %l = cast %j : index; store %y, %l, %f : f32"));
}

TEST(Independence, NeighborsDependOnEachOther) {
  ExpectBound(Each("%j = add %i, %1 : index; %a = load %y, %i : f32; store %y, %j, %a : f32"),
              "other iterations may reach the same element");
  ExpectBound(Each("store %y, %0, %f : f32"), "not known to differ");
  // The same read from another buffer is only a question of which buffers they are.
  ExpectFree(Each("%j = add %i, %1 : index; %a = load %x, %j : f32; store %y, %i, %a : f32"),
             {{0, 1}});
}

TEST(Independence, SeveralElementsOfAnIteration) {
  constexpr std::string_view Two =
      "%j = mul %i, %2 : index; %l = add %j, {} : index; store %y, %j, %f : f32; "
      "store %y, %l, %f : f32";
  ExpectFree(Each(fmt::format(Two, "%1")));
  ExpectBound(Each(fmt::format(Two, "%2")), "other iterations");
  ExpectBound(Each("%j = mul %i, %2 : index; store %y, %j, %f : f32; store %y, %i, %f : f32"),
              "another pace");
}

TEST(Independence, ADistanceThatWrapsKeepsNothingApart) {
  constexpr std::string_view Copy = "; %a = load %y, %p : f32; store %y, %p, %a : f32";
  // The fourth power of 2^16 is 0.
  ExpectBound(Each(fmt::format("%n2 = mul %ni, %ni : index; %n4 = mul %n2, %n2 : index; "
                               "%p = mul %i, %n4 : index{}",
                               Copy)),
              "may wrap");
  // Lanes with a turn are far apart; those without one would have trapped.
  const std::string turn = fmt::format(
      "%n2 = mul %ni, %ni : index; %n3 = mul %n2, %ni : index; %p = mul %i, %n3 : index{}", Copy);
  ExpectBound(
      Each("%t = load %k, %i : u32; %turns = cast %t : index; " + For("%j = %0 to %turns", turn)),
      "may wrap");
}

// Indices wrap; what is said of them as whole numbers must hold all the same.
TEST(Independence, AnIndexThatWrapsSaysNothing) {
  auto store_at = [](std::string_view column) {
    return fmt::format("%r = mul %i, %ni : index; %p = add %r, {} : index; store %y, %p, %f : f32",
                       column);
  };
  // j + b may pass the largest number: then j is any number, not less than n.
  auto guarded = [&](std::string_view b) {
    const std::string turn =
        fmt::format("%jb = add %j, {} : index; %below = lt %jb, %ni : index; ", b) +
        If("%below", store_at("%j"));
    return "%eight = const 8 : index\n" +
           Parallel("%i = %0 to %mi", "%positive = ge %b, %0 : index; " +
                                          If("%positive", For("%j = %0 to %eight", turn)));
  };
  ExpectBound(guarded("%b"), "other iterations");
  ExpectFree(guarded("%mi"));
  // The product of three is what it likes to be, -1 also: rows then reach back into those before.
  const std::string far =
      "%jw = mul %j, %w3 : index; %below = lt %jw, %ni : index; " + If("%below", store_at("%jw"));
  ExpectBound(Lines("%w = mul %mi, %ldi : index; %w3 = mul %w, %ldi : index") +
                  Parallel("%i = %0 to %mi", For("%j = %0 to %ldi", far)),
              "other iterations");
  // So is a bound of a loop.
  ExpectBound(
      Parallel("%i = %0 to %mi",
               "%positive = ge %b, %0 : index; " +
                   If("%positive", "%b2 = add %b, %b : index; %hi = sub %ni, %b2 : index; " +
                                       For("%j = %0 to %hi", store_at("%j")))),
      "");
}

TEST(Independence, CoefficientsThatWrapSayNothing) {
  // 2^24 * (2^40 - 8) is -2^27.
  ExpectBound(
      Lines("%far = const 1099511627768 : index; %many = const 16777216 : index; "
            "%8 = const 8 : index; %turns = mul %ni, %many : index") +
          Parallel("%i = %0 to %mi", For("%j = %0 to %turns",
                                         "%r = mul %i, %8 : index; %l = mul %j, %far : index; "
                                         "%p = add %r, %l : index; store %y, %p, %f : f32")),
      "other iterations");
  // Each part of the distance fits, their sum is 2^64: 2^31 * (n + m + ld + 1).
  ExpectBound(Lines("%half = const 2147483648 : index; %nm = add %ni, %mi : index; "
                    "%sum = add %nm, %ldi : index; %sum1 = add %sum, %1 : index; "
                    "%d = mul %sum1, %half : index") +
                  Parallel("%i = %0 to %mi", "%p = mul %i, %d : index; store %y, %p, %f : f32"),
              "may wrap");
}

TEST(Independence, IterationsAreCountedFromTheFirst) {
  // %i between bounds; an access that not every iteration makes, in steps of some size.
  auto sparse = [](std::string_view low, std::string_view high, std::string_view step) {
    const std::string copy = fmt::format(
        "%p = mul %i, {} : index; %a = load %y, %p : f32; store %y, %p, %a : f32", step);
    return Lines("%low = const -64 : index; %3 = const 3 : index") +
           Parallel(fmt::format("%i = {} to {}", low, high),
                    fmt::format("%positive = ge {}, %1 : index\n{}", step, If("%positive", copy)));
  };
  ExpectFree(sparse("%0", "%2", "%g"));
  ExpectBound(sparse("%low", "%2", "%g"), "may wrap");
  ExpectBound(sparse("%b", "%2", "%g"), "may wrap");
  ExpectFree(sparse("%low", "%2", "%ni"));
  // As many iterations as their distance: together they are its square.
  ExpectBound(sparse("%0", "%g", "%g"), "may wrap");
}

TEST(Independence, TurnsAreCountedFromTheFirst) {
  // Few turns below a large n, which the distance is made of.
  auto turns = [](int64_t low) {
    const std::string store = If("%is",
                                 "%r = mul %i, %far : index; %l = add %r, %j : index; "
                                 "%p = sub %l, %low : index; store %y, %p, %f : f32");
    return Lines(fmt::format("%low = const {} : index; %2p16 = const 65536 : index; "
                             "%far = mul %g, %2p16 : index",
                             low)) +
           Each(For("%j = %low to %g",
                    "%some = load %k, %j : u32; %is = eq %some, %one : u32; " + store));
  };
  ExpectFree(turns(0), {{1, 3}});
  ExpectBound(turns(int64_t{1} << 39), "may wrap");
}

TEST(Independence, ADivisorThatWrapsTakesNothingApart) {
  ExpectBound(Lines("%w = mul %mi, %ldi : index; %w3 = mul %w, %mi : index; "
                    "%hi = mul %w3, %ni : index") +
                  Parallel("%i = %0 to %hi",
                           "%q = div.floor %i, %w3 : index; %r = rem.floor %i, %w3 : index; "
                           "%l = mul %r, %ni : index; %p = add %l, %q : index; "
                           "store %y, %p, %f : f32"),
              "not known to differ");
  ExpectBound("%w = mul %mi, %ldi : index\n" +
                  Each("%q = div.floor %i, %w : index; %r = rem.floor %i, %w : index; "
                       "%l = mul %q, %w : index; %p = add %l, %r : index; store %y, %p, %f : f32"),
              "not known to differ");
}

TEST(Independence, RowsNeedTheirLength) {
  auto rows = [](std::string_view length) {
    return Parallel(
        "%i = %0 to %mi",
        For("%j = %0 to %ni", fmt::format("%r = mul %i, {} : index; %l = add %r, %j : index; "
                                          "%a = load %x, %l : f32; store %y, %l, %a : f32",
                                          length)));
  };
  ExpectFree(rows("%ni"));
  ExpectFree(rows("%ldi"), {}, {{4, 6}});
  ExpectFree(rows("%g"), {}, {{4, 7}});
  ExpectBound(rows("%1"), "other iterations");
}

TEST(Independence, NestedParallels) {
  const std::string body =
      Parallel("%i = %0 to %mi",
               Parallel("%j = %0 to %ni",
                        "%r = mul %i, %ldi : index; %l = add %r, %j : index; "
                        "%a = load %y, %l : f32; %c = load %x, %j : f32; %d = mul %a, %c : f32; "
                        "store %y, %l, %d : f32"));
  ExpectFree(body, {{0, 1}}, {{4, 6}}, 0);
  ExpectFree(body, {{0, 1}}, {}, 1);
}

TEST(Independence, PartsOfAFlatCounter) {
  auto flat = [](std::string_view body, std::string_view extent = "%g") {
    return Parallel(fmt::format("%i = %0 to {}", extent),
                    fmt::format("%r = div.floor %i, %ni : index; %c = rem.floor %i, %ni : index; "
                                "{}",
                                body));
  };
  // Written at the counter itself, read anywhere.
  ExpectFree(flat("%t = mul %c, %mi : index; %l = add %t, %r : index; %a = load %x, %l : f32; "
                  "store %y, %i, %a : f32"),
             {{0, 1}});
  // Written at the parts put together again.
  ExpectFree(flat("%t = mul %r, %ni : index; %l = add %t, %c : index; store %y, %l, %f : f32"));
  // A transposed matrix; its extent as a product of u32, which may have wrapped to something smaller.
  ExpectFree(
      Lines("%nm = mul %n, %m : u32; %e = cast %nm : index") +
      flat("%t = mul %c, %mi : index; %l = add %t, %r : index; store %y, %l, %f : f32", "%e"));
  ExpectBound(Parallel("%i = %0 to %g", "%c = rem.floor %i, %ni : index; store %y, %c, %f : f32"),
              "not known to differ");
  // Rows back to front are still rows; two parts that go opposite ways in steps of one meet.
  ExpectFree(flat("%t = mul %r, %ni : index; %l = sub %t, %c : index; store %y, %l, %f : f32"));
  ExpectBound(flat("%l = sub %r, %c : index; store %y, %l, %f : f32"), "");
  // That rows are long enough is known at one place and not at the other.
  ExpectFree(flat("%t = mul %r, %mi : index; %l = add %t, %c : index; "
                  "%long = ge %mi, %ni : index; " +
                      If("%long", "%a = load %y, %l : f32") +
                      "%v = load %y, %l : f32; store %y, %l, %v : f32",
                  "%ldi"),
             {}, {{4, 5}});
}

TEST(Independence, ThreePartsInAnyNotation) {
  for (std::string_view parts : {"%r = rem.floor %i, %ni : index; %h = div.floor %i, %ni : index; "
                                 "%q = rem.floor %h, %mh : index; %p = div.floor %h, %mh : index",
                                 "%r = rem.floor %i, %ni : index; %h = div.floor %i, %ni : index; "
                                 "%q = rem.floor %h, %mh : index; %p = div.floor %i, %a : index",
                                 "%p = div.floor %i, %a : index; %h = rem.floor %i, %a : index; "
                                 "%q = div.floor %h, %ni : index; %r = rem.floor %i, %ni : index"})
    ExpectFree(Lines("%narrow = cast %m : u16; %mh = cast %narrow : index; "
                     "%a = mul %ni, %mh : index; %e = mul %a, %ldi : index") +
               Parallel("%i = %0 to %e",
                        fmt::format("{}; %t0 = mul %p, %mh : index; %t1 = add %t0, %q : index; "
                                    "%t2 = mul %t1, %ni : index; %l = add %t2, %r : index; "
                                    "store %y, %l, %f : f32",
                                    parts)));
}

TEST(Independence, Atomics) {
  ExpectFree(Each("%v = load %x, %i : f32; %l = cast %v : index; "
                  "%o = atomic %k, %l, %one {kind = add} : u32"),
             {{0, 3}});
  for (std::string_view body :
       {"%o = atomic %k, %0, %one {kind = add} : u32; %l = cast %o : index; "
        "store %y, %l, %f : f32",
        "%o = atomic %k, %0, %one {kind = add} : u32; "
        "%p = atomic %k, %0, %one {kind = max} : u32",
        "%o = atomic %k, %0, %one {kind = exchange} : u32"})
    ExpectBound(Each(body), "not known to differ");
}

TEST(Independence, FloatAtomicsOnlyIfSaid) {
  ExpectFree(Each("%v = load %x, %i : f32; "
                  "%o = atomic %z, %0, %v {kind = add, unordered} : f32"),
             {{0, 2}});
}

TEST(Independence, Blocks) {
  // With what stands between writing what a block shares and reading it backwards.
  auto reverse = [](std::string_view between) {
    return Parallel(
        "%block = %0 to %g",
        "%shared = alloc %b : f32\n" +
            Parallel("%lane = %0 to %b",
                     fmt::format("%base = mul %block, %b : index; %i = add %base, %lane : index; "
                                 "%v = load %x, %i : f32; store %shared, %lane, %v : f32; {}"
                                 "%last = sub %b, %1 : index; %other = sub %last, %lane : index; "
                                 "%w = load %shared, %other : f32; store %y, %i, %w : f32",
                                 between)));
  };
  ExpectFree(reverse("barrier; "), {}, {}, 0);
  ExpectFree(reverse("barrier; "), {}, {}, 1);
  // Without its barrier the inner one has an order.
  ExpectBound(reverse(""), "another pace", 1);
  ExpectFree(reverse(""), {}, {}, 0);
}

TEST(Independence, AGuardInABlock) {
  ExpectFree(Parallel("%block = %0 to %g",
                      Parallel("%lane = %0 to %b",
                               "%base = mul %block, %b : index; %i = add %base, %lane : index; "
                               "%in = lt %i, %ni : index; " +
                                   If("%in", "store %y, %i, %f : f32"))));
  // Tiles of a matrix: columns stay inside of their row because of the guard.
  const std::string tile =
      "%c0 = mul %bx, %ldi : index; %col = add %c0, %lane : index; %in = lt %col, %ni : index; " +
      If("%in", "%r0 = mul %by, %ni : index; %i = add %r0, %col : index; store %y, %i, %f : f32");
  ExpectFree(Parallel("%by = %0 to %mi",
                      Parallel("%bx = %0 to %ni", Parallel("%lane = %0 to %ldi", tile))));
}

TEST(Independence, TurnsOfALoopAroundABarrierArePhases) {
  ExpectFree(Parallel("%lane = %0 to %ni",
                      For("%t = %0 to %mi",
                          "%base = mul %t, %ni : index; %i = add %base, %lane : index; "
                          "%v = load %z, %lane : f32; store %y, %i, %v : f32; barrier; "
                          "%j = sub %ni, %lane : index; store %z, %j, %v : f32")),
             {{1, 2}});
}

// -2^63 has no negative in a word.
TEST(Independence, TheLeastIndexOfAll) {
  ExpectBound("%low = const -9223372036854775808 : index\n" +
                  Parallel("%i = %low to %ni",
                           "%in = ge %i, %low : index; " +
                               If("%in", "%j = and %i, %1 : index; store %y, %j, %f : f32")),
              "not known to differ");
}

TEST(Independence, WhatCannotBeSeen) {
  ExpectBound(Each("%v = load %k, %i : u32; %l = cast %v : index; store %y, %l, %f : f32"),
              "not known to differ");
  ExpectBound(Each("output %f : f32"), "stream");
  // A u32 sum of an index may wrap.
  ExpectBound(Each("%j = cast %i : u32; %h = mul %j, %m : u32; %l = cast %h : index; "
                   "store %y, %l, %f : f32"),
              "not known to differ");
  // Distances of any size in an access that not every iteration makes.
  ExpectBound(
      Parallel("%i = %0 to %g", "%in = lt %i, %ni : index; " +
                                    If("%in", "%l = mul %i, %b : index; store %y, %l, %f : f32")),
      "reach the same element");
}

TEST(MakeRanged, PiecesAndTrips) {
  Program program = Parse(Kernel("%h = div.floor %ni, %2 : index\n" +
                                 Parallel("%i = %1 to %h", "store %y, %i, %f : f32")));
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
  const std::string fill = Each("store %y, %i, %f : f32");
  ExpectWhole("  store %y, %0, %f : f32\n" + fill, "store outside");
  ExpectWhole(fill + fill, "more than one");
  ExpectWhole("", "no outermost parallel");
  ExpectWhole("  %v = load %y, %0 : f32\n" + fill, "writes what it reads");
  ExpectWhole(Each("store %y, %i, %f : f32; barrier; %j = sub %ni, %i : index; "
                   "%v = load %y, %j : f32"),
              "barriers");
  Result<RangedKernel> reads = MakeRanged(Parse(Kernel("  %v = load %x, %0 : f32\n" + fill)));
  ASSERT_TRUE(reads) << reads.error().ToString();
  EXPECT_EQ(reads->conditions.disjoint, (Pairs{{0, 1}}));
}

}  // namespace
}  // namespace frazil::ir
