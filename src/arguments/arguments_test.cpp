#include "arguments/arguments.h"

#include <gtest/gtest.h>

#include <fstream>

#include "arguments/bind.h"
#include "arguments/npy.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::arguments {
namespace {

const std::string Saxpy = ir::Lanes("%a: f32, %n: index, %x: in buffer<f32>, %y: buffer<f32>", "",
                                    ir::SaxpyLanes, "%zero to %n", "saxpy");

const ir::Program& Program() {
  static const auto* program = new ir::Program(*ir::ParseText(Saxpy));
  return *program;
}

template <typename T>
std::string MessageOf(const Result<T>& result) {
  return result ? "taken" : result.error().message;
}

Result<std::vector<exec::Value>> BindTexts(const std::vector<std::string>& texts,
                                           uint64_t bytes = 1 << 20) {
  MemoryBudget budget(bytes);
  return Bind(ir::SignatureOf(Program()), Program().entry_function(),
              TRY(SplitPairs(texts, "--bind")), {}, budget, {});
}

TEST(Arguments, AreReadAndPrintedBack) {
  const std::vector<std::string> texts = {"0.5", "3", "[1, 2, 3]", "[10, 20, 30]"};
  const auto values = ParseArguments(Program(), texts, {});
  ASSERT_TRUE(values) << values.error().ToString();
  EXPECT_EQ((*values)[2].memory->length(), 3);
  const auto again =
      ParseArguments(Program(), PrintArguments(Program().entry_function(), *values), {});
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(*again, *values);
}

TEST(Arguments, ABufferMayBeAnEarlierOne) {
  const auto values = ParseArguments(Program(), {"1", "2", "[1, 2]", "x"}, {});
  ASSERT_TRUE(values) << values.error().ToString();
  EXPECT_EQ((*values)[2].memory, (*values)[3].memory);
  EXPECT_EQ(PrintArguments(Program().entry_function(), *values)[3], "x");
}

TEST(Arguments, WhatDoesNotFitIsNamed) {
  EXPECT_EQ(MessageOf(ParseArguments(Program(), {"1"}, {})), "@saxpy takes 4 arguments, 1 given");
  EXPECT_EQ(MessageOf(ParseArguments(Program(), {"1", "2", "[1,,2]", "[1]"}, {})),
            "argument 3: '[1,,2]' is no list of elements such as [1, 2, 3]");
  EXPECT_EQ(MessageOf(ParseStream({"5"}, {})),
            "'5': a stream element is written type:value, as in field:5");
  EXPECT_EQ(MessageOf(ParseStream({"buffer<f32>:5"}, {})), "streams carry scalars");
}

TEST(Arguments, StreamElementsCarryTheirType) {
  const auto values = ParseStream({"field:5", "i32:-7"}, {});
  ASSERT_TRUE(values) << values.error().ToString();
  EXPECT_EQ(PrintStreamElement((*values)[0]), "field:5");
  EXPECT_EQ(PrintStreamElement((*values)[1]), "i32:-7");
}

TEST(Arguments, LongBuffersAreShortened) {
  exec::Memory few(ir::types::I32, 3), many(ir::types::I32, 1000);
  EXPECT_EQ(PrintShortened(few), "[0, 0, 0]");
  EXPECT_EQ(PrintShortened(many), "[0, 0, 0, 0, 0, 0, 0, 0, .. 1000 elements]");
}

TEST(Bind, NamesListsAndMadeBuffers) {
  const auto values = BindTexts({"a=2,x=[1,2,3]", "y=ones:3"});
  ASSERT_TRUE(values) << values.error().ToString();
  EXPECT_EQ((*values)[1].word, 3u) << "the extent follows from the buffers";
  EXPECT_EQ(PrintShortened(*(*values)[3].memory), "[1, 1, 1]");
  const auto random = BindTexts({"a=2,x=random:5,y=random:5"});
  ASSERT_TRUE(random);
  EXPECT_FALSE((*random)[2] == (*random)[3]) << "by name";
  EXPECT_EQ(*BindTexts({"a=2,x=random:5,y=random:5"}), *random);
}

TEST(Bind, WhatCannotBeBoundIsRefused) {
  EXPECT_EQ(MessageOf(BindTexts({"a"})), "--bind takes name=value, 'a' is none");
  EXPECT_EQ(MessageOf(BindTexts({"a=1,a=2"})), "'a' is given twice");
  EXPECT_EQ(MessageOf(BindTexts({"a=1,x=[1],y=[1],z=3"})),
            "saxpy has no parameter 'z'; it has a, n, x, y");
  EXPECT_EQ(MessageOf(BindTexts({"a=1,x=zeros:-1,y=[1]"})),
            "'x': 'zeros:-1': a length is a number from 0 to 2^36");
  const auto large = BindTexts({"a=1,x=zeros:100,y=[1]"}, 100);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().diag, Diag::LimitReached);
}

TEST(Bind, OnlyBuffersAreSaved) {
  const ir::KernelSignature signature = ir::SignatureOf(Program());
  EXPECT_EQ(SplitBufferPairs({"y=out.npy"}, "--save", signature)->at("y"), "out.npy");
  EXPECT_EQ(MessageOf(SplitBufferPairs({"a=out.npy"}, "--save", signature)),
            "--save a: saxpy has no such buffer");
}

TEST(Bind, ALaunchIsShapedByItsFlags) {
  LaunchFlags flags;
  flags.grid = {2, 3};
  flags.block = {64};
  flags.lanes = {100, 7};
  const exec::LaunchShape shape = ShapeOf(flags);
  EXPECT_EQ(shape.n, 100);
  EXPECT_EQ(shape.grid[1], 3);
  EXPECT_FALSE(shape.grid[2]);
  EXPECT_EQ(shape.block[0], 64);
  EXPECT_EQ(shape.lanes[1], 7);
  flags.n = 5;
  EXPECT_EQ(ShapeOf(flags).n, 5);
}

TEST(Npy, IsReadAsItWasWritten) {
  const std::string path = testing::TempDir() + "arguments_test.npy";
  exec::Memory memory(ir::types::U16, 5);
  for (int64_t i = 0; i < 5; ++i) memory.Set(i, std::vector<uint64_t>{uint64_t(i) * 1000});
  ASSERT_TRUE(WriteNpy(path, memory));
  MemoryBudget budget(1000);
  const auto read = ReadNpy(path, ir::types::U16, budget, {});
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(PrintShortened(**read), "[0, 1000, 2000, 3000, 4000]");
  EXPECT_EQ(budget.left(), 990u);
  EXPECT_EQ(MessageOf(ReadNpy(path, ir::types::I32, budget, {})),
            path + ": it holds '<u2', the parameter takes '<i4' (i32)");
  std::ofstream(path, std::ios::binary | std::ios::app) << "x";
  EXPECT_EQ(MessageOf(ReadNpy(path, ir::types::U16, budget, {})),
            path + ": 1 bytes follow behind its last element");
}

}  // namespace
}  // namespace frazil::arguments
