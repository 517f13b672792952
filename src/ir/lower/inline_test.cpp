// Calls in place: values, nesting, what must stay a call, what is dropped.
#include "ir/lower/inline.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "ir/check/check.h"
#include "ir/digest.h"
#include "ir/lower/lower.h"
#include "ir/lower/test_count.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

Program Parse(std::string_view text) { return ir::Parsed(text); }

Program Inlined(const char* text) {
  Result<Program> program = InlineCalls(Parse(text));
  EXPECT_TRUE(program) << program.error().ToString();
  Result<void> checked = Check(*program);
  EXPECT_TRUE(checked) << checked.error().ToString();
  return *program;
}

TEST(InlineCalls, PutsNestedCallsInPlace) {
  Program got = Inlined(R"(frz 1
func @square(%x: i32) -> (i32) {
  %r = mul %x, %x : i32
  return %r
}
func @quad(%x: i32) -> (i32) {
  %a = call @square(%x)
  %b = call @square(%a)
  return %b
}
func @main(%x: i32, %y: i32) -> (i32) {
  %a = call @quad(%x)
  %b = call @square(%y)
  %r = add %a, %b : i32
  return %r
}
)");
  Program want = Parse(R"(frz 1
func @main(%x: i32, %y: i32) -> (i32) {
  %a = mul %x, %x : i32
  %b = mul %a, %a : i32
  %c = mul %y, %y : i32
  %r = add %b, %c : i32
  return %r
}
)");
  EXPECT_EQ(PrintText(got).size(), PrintText(Parse(PrintText(got).c_str())).size());
  EXPECT_EQ(got.functions.size(), 1u);
  EXPECT_EQ(ExactDigest(got), ExactDigest(want));
}

TEST(InlineCalls, WorksInsideRegionsAndWithBuffers) {
  Program got = Inlined(R"(frz 1
func @put(%b: buffer<i32>, %i: index, %v: i32) {
  store %b, %i, %v : i32
  return
}
func @pair(%v: i32) -> (i32, i32) {
  %n = neg %v : i32
  return %v, %n
}
func @main(%b: buffer<i32>, %n: index) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %v = cast %i : i32
    %p, %q = call @pair(%v)
    call @put(%b, %i, %q)
    yield
  }
  return
}
)");
  EXPECT_EQ(Count(got, Op::Call), 0);
  EXPECT_EQ(got.functions.size(), 1u);
}

TEST(InlineCalls, KeepsRecursion) {
  Program got = Inlined(R"(frz 1
func @down(%x: i32) -> (i32) {
  %zero = const 0 : i32
  %t = gt %x, %zero : i32
  %r = if %t -> (i32) {
    %one = const 1 : i32
    %y = sub %x, %one : i32
    %z = call @down(%y)
    yield %z
  } else {
    yield %x
  }
  return %r
}
func @twice(%x: i32) -> (i32) {
  %a = call @down(%x)
  %b = call @down(%a)
  return %b
}
func @unused(%x: i32) -> (i32) {
  return %x
}
func @main(%x: i32) -> (i32) {
  %a = call @twice(%x)
  return %a
}
)");
  EXPECT_EQ(got.functions.size(), 2u);
  EXPECT_EQ(Count(got, Op::Call), 3);
  EXPECT_EQ(got.entry_function().name, "main");
}

TEST(InlineCalls, KeepsThePrelude) {
  Result<Program> expanded = ExpandPrelude(Parse(R"(frz 1
func @main(%x: f32) -> (f32) {
  %a = exp %x : f32
  return %a
}
)"));
  ASSERT_TRUE(expanded);
  Result<Program> got = InlineCalls(*expanded);
  ASSERT_TRUE(got) << got.error().ToString();
  EXPECT_TRUE(Check(*got));
  EXPECT_EQ(ExactDigest(*got), ExactDigest(*expanded));
}

TEST(InlineCalls, StopsAtTheLimit) {
  std::string text =
      "frz 1\nfunc @f0(%x: i32) -> (i32) {\n  %r = add %x, %x : i32\n  return %r\n}\n";
  for (int i = 1; i < 40; ++i)
    text += "func @f" + std::to_string(i) + "(%x: i32) -> (i32) {\n  %a = call @f" +
            std::to_string(i - 1) + "(%x)\n  %b = call @f" + std::to_string(i - 1) +
            "(%a)\n  return %b\n}\n";
  Limits limits;
  limits.program_insts = 1000;
  Result<Program> got = InlineCalls(Parse(text.c_str()), limits);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().diag, Diag::LimitReached);
}

}  // namespace
}  // namespace frazil::ir
