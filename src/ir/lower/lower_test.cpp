#include "ir/lower/lower.h"

#include <gtest/gtest.h>

#include "ir/check/check.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

constexpr std::string_view Everything = R"(frz 1
func @main(%n: index, %t: tensor<f32, [%n]>, %x: buffer<f32>, %seed: u64) -> (tensor<f32, [%n]>) {
  %r = tensor.normal %seed, %seed : tensor<f32, [%n]>
  %u = map (%a = %t, %b = %r) -> tensor<f32, [%n]> {
    %c = tanh %a : f32
    %d = mul %b, %c : f32
    yield %d
  }
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %v = extract %u, %i : f32
    barrier
    store %x, %i, %v : f32
    yield
  }
  return %u
}
)";

TEST(LowerForTarget, LeavesNothingThatATargetMayNotSee) {
  Result<Program> program = ParseText(Everything);
  ASSERT_TRUE(program) << program.error().ToString();
  Result<Program> lowered = LowerForTarget(*program);
  ASSERT_TRUE(lowered) << lowered.error().ToString();
  ASSERT_TRUE(Check(*lowered)) << PrintText(*lowered);
  for (const Function& function : lowered->functions) {
    for (const ValueInfo& value : function.values) EXPECT_FALSE(value.type.is_tensor());
    for (const Inst& inst : function.insts) {
      EXPECT_NE(Info(inst.op).law, Law::Prelude);
      EXPECT_NE(inst.op, Op::Barrier);
    }
  }
  EXPECT_EQ(lowered->entry_function().name, "main");
}

TEST(LowerForTarget, SizeLimitHasAName) {
  Result<Program> program = ParseText(Everything);
  ASSERT_TRUE(program);
  Limits limits;
  limits.program_insts = 20;
  Result<Program> lowered = LowerForTarget(*program, limits);
  ASSERT_FALSE(lowered);
  EXPECT_EQ(lowered.error().diag, Diag::LimitReached);
  EXPECT_NE(lowered.error().message.find("--max-insts"), std::string::npos);
}

}  // namespace
}  // namespace frazil::ir
