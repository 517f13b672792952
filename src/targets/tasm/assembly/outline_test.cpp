// Programs with shared blocks do what they did.
#include "targets/tasm/assembly/outline.h"

#include <gtest/gtest.h>

#include "ir/text/test_ops.h"
#include "ir/text/text.h"
#include "machines/tasm/vm.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {
namespace {

TEST(Outline, SharedBlocks) {
  const auto program = mt::Parse(R"(
push 9 push 9 push 9 read_io 1 push 3 push 5 mul add dup 0 write_io 1
call twice
dup 0 push 3 push 5 mul add write_io 1
push 0 skiz push 3 push 5 mul write_io 1
push 1 skiz push 3 push 5 mul write_io 1 write_io 1
halt
twice: push 3 push 5 mul add push 3 push 5 mul add return
)");
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  mt::Inputs inputs;
  inputs.input = {7};
  const mt::RunResult before = mt::Run(*program, inputs);
  ASSERT_FALSE(before.crash.has_value());
  const std::vector<Repeated> found = FindRepeated(*program, 100);
  ASSERT_FALSE(found.empty());
  // push 3 push 5 mul add, four times; what follows skiz begins none.
  EXPECT_EQ(found[0].length, 4u);
  EXPECT_EQ(found[0].places.size(), 4u);
  EXPECT_EQ(found[0].saved, 4 * 6 - (6 + 1 + 2 * 4));
  for (const Repeated& repeated : found) {
    const mt::Program other = Outline(*program, repeated);
    EXPECT_EQ(other.Words() + repeated.saved, program->Words());
    EXPECT_EQ(mt::Run(other, inputs).output, before.output);
    // It can be read back.
    const auto again = mt::Parse(mt::Print(other));
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->code, other.code);
  }
}

// The same instruction at two traps of different kinds is not shared, or the trap could not be told.
TEST(Outline, TrapsStayApart) {
  const auto program = ir::ParseText(R"(frz 1
func @main(%a: u32, %b: u32) -> (u32, u32) {
  %s = add.checked %a, %b : u32
  %p = mul.checked %a, %b : u32
  %t = add.checked %s, %a : u32
  %q = mul.checked %p, %b : u32
  return %t, %q
}
)");
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  const auto lowered = Lower(*program);
  ASSERT_TRUE(lowered.has_value());
  for (uint64_t a : {1u, 65536u, 4294967295u}) {
    std::vector<exec::Value> values = {exec::Value::Int(ir::types::U32, static_cast<int64_t>(a)),
                                       exec::Value::Int(ir::types::U32, 40000)};
    const auto inputs = ToInputs(*program, values, {});
    const auto outcome = ToOutcome(*program, *lowered, mt::Run(lowered->program, *inputs), values);
    ASSERT_TRUE(outcome.has_value());
    if (a == 1) {
      EXPECT_FALSE(outcome->trap.has_value());
      continue;
    }
    ASSERT_TRUE(outcome->trap.has_value());
    EXPECT_EQ(outcome->trap->op, a == 65536 ? ir::Op::MulChecked : ir::Op::AddChecked);
  }
}

// What is typical decides how the program is written; each way it does the same.
TEST(Outline, TypicalInputsDecide) {
  const auto program = ir::ParseText(R"(frz 1
func @main(%n: u32) -> (field) {
  %zero = const 0 : index
  %end = cast %n : index
  %one = const 1 : field
  %three = const 3 : field
  %r = for %i = %zero to %end step 1 carry (%s = %three) {
    %u = call @f(%s, %one)
    %v = call @f(%u, %s)
    %w = call @f(%v, %u)
    yield %w
  }
  return %r
}
)" + ir::OpsFunction("field", "x y",
                     "a = mul x y; b = add a x; c = mul b a; d = add c y; e = mul d c", "f"));
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  auto lower = [&](uint64_t rounds) {
    TasmOptions options;
    mt::Inputs typical;
    typical.input = {rounds};
    options.typical = {typical};
    auto lowered = Lower(*program, options);
    EXPECT_TRUE(lowered.has_value());
    return lowered->program;
  };
  const mt::Program rarely = lower(1), often = lower(500);
  EXPECT_LT(rarely.Words(), often.Words());
  for (uint64_t rounds : {0u, 1u, 7u}) {
    mt::Inputs inputs;
    inputs.input = {rounds};
    EXPECT_EQ(mt::Run(rarely, inputs).output, mt::Run(often, inputs).output);
  }
}

}  // namespace
}  // namespace frazil::targets::tasm
