#include "exec/kernel_launch.h"

#include <gtest/gtest.h>

#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

Value Floats(int64_t n) { return Value::Buffer(std::make_shared<Memory>(ir::types::F32, n)); }

Result<std::vector<Value>> Complete(std::vector<std::optional<Value>> given,
                                    LaunchShape shape = {}) {
  return CompleteLaunch(ir::SignatureOf(*ir::ParseText(ir::SaxpyText)), given, shape);
}

std::string Refusal(const Result<std::vector<Value>>& result) {
  return result ? "accepted" : result.error().message;
}

const Value A = Value::Float(ir::types::F32, 2);

TEST(KernelLaunch, AnExtentIsTheCommonLength) {
  auto values = Complete({A, Floats(7), Floats(7), {}});
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[3], Value::Int(ir::types::U32, 7));
  EXPECT_EQ(Refusal(Complete({A, Floats(7), Floats(8), {}})),
            "'n' is not given, and 'y' has 8 elements where 'x' has 7");
}

TEST(KernelLaunch, AnExtentBeyondABufferIsSaidBeforehand) {
  EXPECT_EQ(Refusal(Complete({A, Floats(7), Floats(9), Value::Int(ir::types::U32, 8)})),
            "'n' is 8, but 'x' has 7 elements");
  LaunchShape shape;
  shape.n = int64_t{1} << 33;
  EXPECT_EQ(Refusal(Complete({A, Floats(7), Floats(9), {}}, shape)),
            "'n' would be 8589934592, which does not fit u32");
}

TEST(KernelLaunch, IntegersOfAnotherTypeAreTakenWhereTheyFit) {
  auto values = Complete({A, Floats(7), Floats(7), Value::Int(ir::types::I32, 5)});
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[3], Value::Int(ir::types::U32, 5));
  EXPECT_EQ(Refusal(Complete({A, Floats(7), Floats(7), Value::Int(ir::types::I64, -1)})),
            "'n' is -1, which does not fit u32");
  using ir::Scalar;
  constexpr int64_t Numbers[] = {0,   1,     -1,     127,     128,       -128,      -129,     255,
                                 256, 32767, -32769, 1 << 30, INT32_MIN, INT64_MIN, INT64_MAX};
  for (const ir::Type from : {ir::types::I8, ir::types::U8, ir::types::I32, ir::types::I64,
                              ir::types::U64, ir::types::Index}) {
    for (const ir::Type to : {ir::types::I8, ir::types::U8, ir::types::I16, ir::types::U32,
                              ir::types::I64, ir::types::U64, ir::types::Index}) {
      for (const int64_t number : Numbers) {
        // The number that the word of the source type stands for, and whether the target has it.
        const uint64_t word = Value::Int(from, number).word;
        __extension__ using int128 = __int128;
        auto meaning = [](ir::Type type, uint64_t w) {
          return ir::IsSigned(type.scalar) ? int128{static_cast<int64_t>(w)} : int128{w};
        };
        const uint64_t as_target = Value::Int(to, static_cast<int64_t>(word)).word;
        const bool fits = meaning(to, as_target) == meaning(from, word);
        EXPECT_EQ(FitsInteger(from.scalar, word, to.scalar), fits) << number;
        if (fits) EXPECT_EQ(as_target, word);
      }
    }
  }
  EXPECT_TRUE(FitsInteger(Scalar::I32, 7, Scalar::Field));
  EXPECT_FALSE(FitsInteger(Scalar::I32, ~uint64_t{0}, Scalar::Field));
  EXPECT_FALSE(FitsInteger(Scalar::U64, ~uint64_t{0}, Scalar::Field));
  EXPECT_FALSE(FitsInteger(Scalar::Bool, 1, Scalar::I32));
  EXPECT_FALSE(FitsInteger(Scalar::I32, 1, Scalar::F32));
}

TEST(KernelLaunch, WhatIsMissingIsNamed) {
  EXPECT_EQ(Refusal(Complete({A, {}, Floats(9), {}})), "'x' is not given");
  EXPECT_EQ(Refusal(Complete({A})), "saxpy takes 4 arguments, 1 given");
}

TEST(KernelLaunch, BlocksFollowFromLanes) {
  auto program = *ir::ParseText(R"(frz 1
func @k(%grid.x: index, %grid.y: index, %block.x: index, %lanes.x: index) {
  return
}
)");
  LaunchShape shape;
  shape.n = 1000;
  shape.grid = {std::nullopt, 3, 1};
  auto values =
      CompleteLaunch(ir::SignatureOf(program), std::vector<std::optional<Value>>(4), shape);
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[0].word, 4u);
  EXPECT_EQ((*values)[1].word, 3u);
  EXPECT_EQ((*values)[2].word, 256u);
  EXPECT_EQ((*values)[3].word, 1000u);
  shape.n.reset();
  EXPECT_FALSE(
      CompleteLaunch(ir::SignatureOf(program), std::vector<std::optional<Value>>(4), shape));
  auto completed = [&] {
    return CompleteLaunch(ir::SignatureOf(program), std::vector<std::optional<Value>>(4), shape);
  };
  // No blocks at all are no blocks, and so many that a sum would wrap are still so many.
  shape.n = 5;
  shape.grid[0] = 0;
  EXPECT_EQ((*completed())[0].word, 0u);
  shape.grid[0].reset();
  shape.n = INT64_MAX;
  EXPECT_EQ((*completed())[0].word, uint64_t{1} << 55);
  shape.n = -5;
  EXPECT_EQ(Refusal(completed()), "a launch cannot have -5 lanes");
  shape.n = 5;
  shape.grid[1] = -3;
  EXPECT_EQ(Refusal(completed()), "a launch cannot have -3 blocks");
  shape.grid[1] = 3;
  shape.block[1] = 0;
  EXPECT_FALSE(
      CompleteLaunch(ir::SignatureOf(program), std::vector<std::optional<Value>>(4), shape));
}

}  // namespace
}  // namespace frazil::exec
