// Words in RAM: those of loops that come one after the other lie in the same places.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "ir/text/text.h"
#include "targets/tasm/tasm.h"
#include "targets/tasm/words/select.h"

namespace frazil::targets::tasm {
namespace {

constexpr int Live = 24;

// Reads 24 values a round and writes them again, the first first, in that many loops.
mt::Program Again(int loops) {
  std::string text =
      "frz 1\nfunc @main(%n: u32) {\n  %zero = const 0 : index\n  %end = cast %n : index\n";
  for (int loop = 0; loop < loops; ++loop) {
    text += fmt::format("  for %i{} = %zero to %end step 1 {{\n", loop);
    for (int k = 0; k < Live; ++k) text += fmt::format("    %v{}_{} = input : field\n", loop, k);
    for (int k = 0; k < Live; ++k) text += fmt::format("    output %v{}_{} : field\n", loop, k);
    text += "    yield\n  }\n";
  }
  const auto program = ir::ParseText(text + "  return\n}\n");
  EXPECT_TRUE(program.has_value()) << program.error().ToString();
  const auto lowered = Lower(*program);
  EXPECT_TRUE(lowered.has_value()) << lowered.error().ToString();
  return lowered->program;
}

std::set<uint64_t> SlotsIn(const mt::Program& program) {
  std::set<uint64_t> slots;
  for (const mt::Instruction& one : program.code)
    if (one.op == mt::Opcode::Push && one.argument >= SpillBase &&
        one.argument < SpillBase + (1 << 20))
      slots.insert(one.argument);
  return slots;
}

TEST(Slots, LoopsShareThem) {
  const mt::Program once = Again(1), thrice = Again(3);
  EXPECT_FALSE(SlotsIn(once).empty());
  EXPECT_EQ(SlotsIn(once), SlotsIn(thrice));
  mt::Inputs inputs;
  inputs.input = {2};
  std::vector<uint64_t> expected;
  for (uint64_t round = 0; round < 6; ++round)
    for (uint64_t k = 0; k < Live; ++k) {
      inputs.input.push_back(100 * round + k);
      expected.push_back(100 * round + k);
    }
  const mt::RunResult run = mt::Run(thrice, inputs);
  EXPECT_FALSE(run.crash.has_value());
  EXPECT_EQ(run.output, expected);
}

// Five words that are made together go and come by one instruction each.
TEST(Slots, DigestsMoveAsOne) {
  std::string text = "frz 1\nfunc @main() {\n";
  for (int k = 0; k < 5; ++k) {
    for (int i = 0; i < 5; ++i) text += fmt::format("  %w{}_{} = input : field\n", k, i);
    text += fmt::format("  %d{} = digest.make", k);
    for (int i = 0; i < 5; ++i) text += fmt::format("{} %w{}_{}", i > 0 ? "," : "", k, 4 - i);
    text += " : digest\n";
  }
  text +=
      "  %same = eq %d0, %d4 : digest\n  assert %same\n  %other = eq %d1, %d3 : digest\n  assert "
      "%other\n  output %d2 : digest\n  return\n}\n";
  const auto program = ir::ParseText(text);
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  const auto lowered = Lower(*program);
  ASSERT_TRUE(lowered.has_value()) << lowered.error().ToString();
  for (const mt::Instruction& one : lowered->program.code) {
    if (one.op == mt::Opcode::ReadMem || one.op == mt::Opcode::WriteMem) {
      EXPECT_EQ(one.argument, 5u);
    }
  }
  mt::Inputs inputs;
  for (int k : {1, 2, 3, 2, 1})
    for (int i = 0; i < 5; ++i) inputs.input.push_back(static_cast<uint64_t>(10 * k + i));
  const mt::RunResult run = mt::Run(lowered->program, inputs);
  EXPECT_FALSE(run.crash.has_value());
  EXPECT_EQ(run.output, (std::vector<uint64_t>{34, 33, 32, 31, 30}));
}

}  // namespace
}  // namespace frazil::targets::tasm
