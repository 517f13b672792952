#include "arguments/typical.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace frazil::arguments {
namespace {

ir::Program Parse(const std::string& body) { return *ir::ParseText("frz 1\n" + body); }

const ir::Program& Buffers() {
  static const auto* program = new ir::Program(
      Parse("func @main(%a: f32, %n: index, %x: in buffer<f32>, %y: buffer<i32>) {\nreturn\n}\n"));
  return *program;
}

TEST(Typical, BuffersHaveTheLengthThatTheIndexSays) {
  const auto values = TypicalArguments(Buffers().entry_function(), 100, {});
  ASSERT_TRUE(values) << values.error().ToString();
  ASSERT_EQ(values->size(), 4u);
  EXPECT_EQ((*values)[1], exec::Value::Int(ir::types::Index, 100));
  EXPECT_EQ((*values)[2].memory->length(), 100);
  EXPECT_EQ((*values)[3].memory->length(), 100);
  EXPECT_EQ(ShowArguments(Buffers().entry_function(), *values),
            "a = 0.25, n = 100, x = [0.3125, 0.53125, 0.75, ... 100 elements], y = [4, 11, 18, ... "
            "100 elements]");
  EXPECT_TRUE(std::ranges::equal(*TypicalArguments(Buffers().entry_function(), 100, {}), *values))
      << "the same ones every time";
}

// The product of the symbols of one tensor is about the length.
TEST(Typical, TensorsHaveAboutSoManyElements) {
  const ir::Program program = Parse(
      "func @main(%n: index, %m: index, %x: tensor<f32, [%n, %m]>) -> (tensor<f32, [%n, %m]>) {\n"
      "return %x\n}\n");
  const auto values = TypicalArguments(program.entry_function(), 4096, {});
  ASSERT_TRUE(values) << values.error().ToString();
  EXPECT_EQ((*values)[0], exec::Value::Int(ir::types::Index, 64));
  EXPECT_EQ((*values)[2].dims, (std::vector<int64_t>{64, 64}));
}

TEST(Typical, WhatDoesNotFitIsALimit) {
  Limits limits;
  limits.memory_bytes = 1000;
  const auto values = TypicalArguments(Buffers().entry_function(), 200, limits);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().diag, Diag::LimitReached);
  EXPECT_EQ(values.error().message, "made-up arguments of --n 200 do not fit --memory 1000 bytes");
  EXPECT_FALSE(TypicalArguments(Buffers().entry_function(), UINT64_MAX, {}));
}

TEST(Typical, CopiesShareNothingButWhatWasOne) {
  std::vector<exec::Value> values = *TypicalArguments(Buffers().entry_function(), 10, {});
  values.push_back(values[2]);
  const std::vector<exec::Value> copies = CopyArguments(values);
  EXPECT_TRUE(std::ranges::equal(copies, values));
  EXPECT_NE(copies[2].memory, values[2].memory);
  EXPECT_EQ(copies[4].memory, copies[2].memory);
}

}  // namespace
}  // namespace frazil::arguments
