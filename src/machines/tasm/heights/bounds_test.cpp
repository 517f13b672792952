// Static bounds against runs: they hold for every input, and are exact where nothing depends on inputs.
#include "machines/tasm/heights/bounds.h"

#include <gtest/gtest.h>

#include <random>

namespace frazil::machines::tasm {
namespace {

HeightBounds BoundsOf(std::string_view text) {
  const Result<Program> program = Parse(text);
  EXPECT_TRUE(program) << program.error().ToString();
  return StaticBounds(*program);
}

TEST(Bounds, ProgramsWithoutInputsAreExact) {
  for (const std::string_view text : {
           "halt",
           "push 10 push 1 call f write_io 1 halt f: dup 1 push 0 eq skiz return dup 1 mul swap 1 "
           "addi -1 swap 1 recurse",
           "push 40 call a halt a: push 30 call b addi -1 dup 0 skiz recurse return b: addi -1 dup "
           "0 skiz recurse pop 1 return",
           "push 0 push 7 push 0 push 0 push 0 push 0 push 0 call f halt f: pick 6 addi 1 place 6 "
           "recurse_or_return",
           "push 1311768464867721216 split push 13387 push 78810 lt push 5 push 7 pow push 3 push "
           "9 xor push 3 push 9 and halt",
           "push 5 push 100 write_mem 1 pop 1 call f halt f: push 100 read_mem 1 pop 1 addi -1 dup "
           "0 push 100 write_mem 1 "
           "pop 1 skiz recurse return",
       }) {
    const Program program = *Parse(text);
    const HeightBounds bounds = StaticBounds(program);
    EXPECT_TRUE(bounds.Exact()) << text << ": " << bounds.reason;
    EXPECT_EQ(bounds.lower, Trace(program, {}).profile) << text;
  }
}

TEST(Bounds, BranchesGiveRanges) {
  // Either side of an unknown branch: a call of four instructions, or nothing.
  const HeightBounds bounds = BoundsOf("read_io 1 skiz call f halt f: push 1 pop 1 nop return");
  EXPECT_EQ(bounds.lower[Table::Processor], 3u);
  EXPECT_EQ(bounds.upper[Table::Processor], 8u);
  // A loop after the branch is still counted exactly.
  const HeightBounds after =
      BoundsOf("read_io 1 skiz nop push 100 call f halt f: addi -1 dup 0 skiz recurse return");
  EXPECT_EQ(after.upper[Table::Processor] - after.lower[Table::Processor], 1u);
  EXPECT_GT(after.lower[Table::Processor], 400u);
  // A path that surely crashes does not count.
  EXPECT_EQ(
      BoundsOf("read_io 1 skiz call f push 0 assert f: push 1 assert halt").upper[Table::Processor],
      6u);
  EXPECT_TRUE(BoundsOf("read_io 1 skiz call f push 0 assert f: push 1 assert halt").Exact());
  EXPECT_FALSE(BoundsOf("push 0 assert halt").halts);
}

TEST(Bounds, UnknownLoopsAreUnbounded) {
  const HeightBounds bounds =
      BoundsOf("read_io 1 call f halt f: addi -1 dup 0 skiz recurse return");
  EXPECT_EQ(bounds.lower[Table::Processor], 7u);
  EXPECT_EQ(bounds.upper[Table::Processor], Unbounded);
  EXPECT_EQ(bounds.upper[Table::OpStack], Unbounded);
  EXPECT_EQ(bounds.upper[Table::Ram], 0u);
  EXPECT_EQ(bounds.upper[Table::U32], 0u);
  EXPECT_EQ(bounds.reason, "the loop at `f` turns an unknown number of times");
  // Recursion that is not followed to its end.
  const HeightBounds deep = BoundsOf("call f halt f: read_io 1 skiz call f return");
  EXPECT_EQ(deep.upper[Table::Processor], Unbounded);
  EXPECT_LE(deep.lower[Table::Processor], 5u);
}

// Knowledge is limited, not the program: deep stacks, many cells and many branches take a moment.
TEST(Bounds, LargeStatesAreQuick) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += "push 1 push 1 push " + std::to_string(i) + " write_mem 1 pop 1 ";
  for (int i = 0; i < 3000; ++i) text += "read_io 1 skiz halt read_io 1 skiz nop ";
  const HeightBounds bounds = BoundsOf(text + "halt");
  EXPECT_EQ(bounds.lower[Table::Processor], 15'003u);
  EXPECT_EQ(bounds.upper[Table::Processor], 15'000u + 3000 * 5 + 1);
}

// Random programs over a few inputs: every run that halts is within the bounds.
TEST(Bounds, RunsAreWithin) {
  constexpr std::string_view pieces[] = {
      "read_io 1",   "push 3",      "push 0",       "dup 0",         "dup 1",
      "swap 1",      "add",         "addi -1",      "skiz nop",      "skiz call f",
      "skiz halt",   "call g",      "call f",       "pop 1",         "split",
      "eq",          "skiz return", "skiz recurse", "return",        "recurse",
      "lt",          "hash",        "write_mem 1",  "read_mem 1",    "xor",
      "skiz push 1", "div_mod",     "merkle_step",  "pow",           "mul",
      "divine 2",    "sponge_init", "pick 3",       "sponge_squeeze"};
  std::mt19937_64 random(9);
  int halted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = "push 2 push 1 push 0 push 5 ";
    const auto some = [&](uint64_t most) {
      for (uint64_t i = random() % most; i > 0; --i)
        text += std::string(pieces[random() % std::size(pieces)]) + " ";
    };
    some(10);
    text += "halt f: ";
    some(8);
    text += "return g: ";
    some(6);
    text += "return";
    const Program program = *Parse(text);
    const HeightBounds bounds = StaticBounds(program, 20'000);
    for (int inputs = 0; inputs < 4; ++inputs) {
      Inputs given;
      for (int i = 0; i < 40; ++i) {
        given.input.push_back(random() % 3);
        given.secret.push_back(random() % 3);
      }
      given.digests.resize(10);
      const TraceResult trace = Trace(program, given, {.cycles = 20'000}, false);
      if (trace.run.crash) continue;
      ++halted;
      ASSERT_TRUE(bounds.halts) << text;
      for (int i = 0; i < TableCount; ++i) {
        const auto table = static_cast<Table>(i);
        ASSERT_LE(bounds.lower[table], trace.profile[table]) << TableName(table) << ": " << text;
        ASSERT_GE(bounds.upper[table], trace.profile[table]) << TableName(table) << ": " << text;
      }
    }
  }
  EXPECT_GT(halted, 500);
}

}  // namespace
}  // namespace frazil::machines::tasm
