#include "exec/meaning/trap_place.h"

#include <gtest/gtest.h>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

constexpr std::string_view Text = R"(frz 1
func @main(%i: index, %x: buffer<f32>, %y: buffer<f32>) {
  %v = load %x, %i : f32
  %w = load %y, %i : f32
  store %x, %i, %w : f32
  return
}
)";

Value Zeros(int64_t length) {
  return Value::Buffer(std::make_shared<Memory>(ir::types::F32, length));
}

Outcome RunOn(const ir::Program& program, int64_t i, int64_t x, int64_t y) {
  const std::vector<Value> arguments = {Value::Int(ir::types::Index, i), Zeros(x), Zeros(y)};
  Result<Outcome> outcome = Interpret(program, arguments, {});
  EXPECT_TRUE(outcome && outcome->trap);
  return *outcome;
}

using Lines = std::vector<uint32_t>;

TEST(TrapPlace, TheInterpreterSaysWhere) {
  const ir::Program program = *ir::ParseText(Text);
  const TrapPlace first = FindTrapPlace(program, RunOn(program, 2, 1, 9));
  EXPECT_EQ(first.lines, Lines{3});
  EXPECT_EQ(first.buffer, "x");
  const TrapPlace second = FindTrapPlace(program, RunOn(program, 2, 9, 1));
  EXPECT_EQ(second.lines, Lines{4});
  EXPECT_EQ(second.buffer, "y");
}

TEST(TrapPlace, TheOpAloneSaysAsMuchAsItCan) {
  const ir::Program program = *ir::ParseText(Text);
  Outcome outcome;
  outcome.trap = TrapInfo{ir::Trap::OutOfBounds, ir::Op::Load, -1};
  EXPECT_EQ(FindTrapPlace(program, outcome).lines, (Lines{3, 4}));
  EXPECT_EQ(FindTrapPlace(program, outcome).buffer, "");
  outcome.trap->op = ir::Op::Store;
  EXPECT_EQ(FindTrapPlace(program, outcome).lines, Lines{5});
  EXPECT_EQ(FindTrapPlace(program, outcome).buffer, "x");
  outcome.trap->op = ir::Op::Alloc;
  EXPECT_TRUE(FindTrapPlace(program, outcome).lines.empty());
}

}  // namespace
}  // namespace frazil::exec
