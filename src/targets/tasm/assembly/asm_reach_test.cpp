// Assembly in a program touches its own words only: the table of reaches against the machine, and what is refused.
#include "targets/tasm/assembly/asm_reach.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"
#include "machines/tasm/fragment.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {
namespace {

bool MovesOn(mt::Opcode op) {
  return op != mt::Opcode::Halt && op != mt::Opcode::Call && op != mt::Opcode::Return &&
         op != mt::Opcode::Recurse && op != mt::Opcode::RecurseOrReturn && op != mt::Opcode::Skiz;
}

// What lies below the reach stays as it is and changes nothing above.
TEST(AsmReach, IsTheMachines) {
  int ran = 0;
  for (int i = 0; i < mt::OpcodeCount; ++i) {
    const mt::Opcode op = static_cast<mt::Opcode>(i);
    const mt::OpcodeInfo& info = mt::Info(op);
    if (!MovesOn(op)) continue;
    for (uint64_t argument : {0, 1, 2, 5, 15}) {
      if (info.argument == mt::Argument::None ? argument != 0 : !mt::ArgumentFits(op, argument))
        continue;
      mt::Program program;
      program.profile = info.in_dot ? mt::Profile::Dot : mt::Profile::Horner;
      program.code = {{op, argument, -1, {}}};
      const uint32_t reach = Touches(program.code[0]);
      mt::Inputs inputs;
      inputs.input = inputs.secret = {1, 2, 3, 4, 5, 6};
      inputs.digests = {{1, 2, 3, 4, 5}};
      std::vector<std::vector<uint64_t>> tops;
      for (uint64_t below : {1, 77}) {
        mt::FragmentStart start;
        start.sponge = mt::Tip5State{};
        start.stack.assign(20, below);
        for (uint32_t k = 0; k < reach; ++k) start.stack.push_back(1);
        const mt::FragmentResult result = mt::RunFragment(program, start, inputs);
        ASSERT_FALSE(result.crash) << info.mnemonic;
        ASSERT_GE(result.stack.size(), 20u) << info.mnemonic;
        for (int k = 0; k < 20; ++k) ASSERT_EQ(result.stack[k], below) << info.mnemonic;
        tops.emplace_back(result.stack.begin() + 20, result.stack.end());
      }
      EXPECT_EQ(tops[0], tops[1]) << info.mnemonic;
      ++ran;
    }
  }
  EXPECT_GT(ran, 50);
}

TEST(AsmReach, WhatLiesBelowIsNotTouched) {
  // One result, in a program whose word %x must survive.
  auto lower = [](const std::string& assembly, bool operand) {
    std::string bytes;
    for (size_t i = 0; i < assembly.size(); ++i)
      bytes += fmt::format("{}{}", i ? ", " : "", static_cast<int>(assembly[i]));
    return Lower(*ir::ParseText(
        fmt::format("frz 1\ndata @code : u8 [{}]\nfunc @main(%x: field) -> (field, field) {{\n"
                    "  %z = tasm @code{}\n  return %x, %z\n}}\n",
                    bytes, operand ? ", %x" : "")));
  };
  EXPECT_TRUE(lower("push 1", false));
  EXPECT_TRUE(lower("pop 1 push 1", true));
  for (const char* assembly : {"pop 1 push 1 push 1", "dup 0", "push 1 swap 1 push 2 pop 1",
                               "push 3 hash push 1 push 1 push 1 push 1 push 1"}) {
    const auto refused = lower(assembly, false);
    ASSERT_FALSE(refused) << assembly;
    EXPECT_EQ(refused.error().diag, Diag::BadInlineAsm) << refused.error().ToString();
    EXPECT_EQ(refused.error().location.line, 4u);
    EXPECT_LT(refused.error().location.column, 20u);
  }
  // The place is the source's for what else is wrong with it, too.
  for (const char* assembly : {"halt", "pus 1", "call x", "push 1 push 1"}) {
    const auto refused = lower(assembly, false);
    ASSERT_FALSE(refused) << assembly;
    EXPECT_EQ(refused.error().location.line, 4u);
    EXPECT_LT(refused.error().location.column, 20u) << refused.error().ToString();
  }
}

}  // namespace
}  // namespace frazil::targets::tasm
