// What the judge reads of a module, from bytes written by hand: blocks, branches, traps, and the copy with marks.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/op.h"
#include "verify/wasm/flow.h"
#include "verify/wasm/marked.h"

namespace frazil::verify::wasm {
namespace {

std::string SectionOf(char id, const std::string& content) {
  std::string out(1, id);
  AppendUnsigned(out, content.size());
  return out + content;
}

// Functions of no parameters and no results, the first one exported; globals as named, each an i64.
std::string ModuleOf(const std::vector<std::string>& bodies,
                     const std::vector<std::string>& globals = {}) {
  const char count = static_cast<char>(bodies.size());
  std::string code(1, count), exports(1, static_cast<char>(1 + globals.size())), variables;
  for (const std::string& body : bodies) {
    AppendUnsigned(code, body.size() + 2);
    code += '\0' + body + '\x0b';
  }
  exports += std::string("\4main\0\0", 7);
  variables += static_cast<char>(globals.size());
  for (size_t i = 0; i < globals.size(); ++i) {
    variables += std::string("\x7e\1\x42\0\x0b", 5);
    exports += static_cast<char>(globals[i].size());
    exports += globals[i] + '\3' + static_cast<char>(i);
  }
  return std::string("\0asm\1\0\0\0", 8) + SectionOf(1, std::string("\1\x60\0\0", 4)) +
         SectionOf(3, count + std::string(bodies.size(), '\0')) + SectionOf(6, variables) +
         SectionOf(7, exports) + SectionOf(10, code);
}

std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int byte : bytes) out += static_cast<char>(byte);
  return out;
}

// The instructions that blocks begin with, as opcodes.
std::vector<int> Begins(const std::string& bytes) {
  const Result<Module> module = ReadModule(bytes);
  EXPECT_TRUE(module) << module.error().message;
  std::vector<int> begins;
  for (const CodeBlock& block : ReadFlow(*module).parts.blocks)
    begins.push_back(static_cast<unsigned char>(bytes[block.begin]));
  return begins;
}

using Codes = std::vector<int>;
constexpr int NoType = 0x40;

TEST(Flow, BlocksBeginBehindWhatMayLeadElsewhere) {
  // const; if { const drop } else { global.get drop } const drop
  EXPECT_EQ(Begins(ModuleOf({Bytes({0x41, 1, 0x04, NoType, 0x42, 1, 0x1a, 0x05, 0x43, 0, 0, 0, 0,
                                    0x1a, 0x0b, 0x41, 2, 0x1a})})),
            (Codes{0x41, 0x42, 0x43, 0x41}));
  // block { loop { const br_if(1) nop const drop br(0) } } const drop
  EXPECT_EQ(Begins(ModuleOf({Bytes({0x02, NoType, 0x03, NoType, 0x41, 1, 0x0d, 1, 0x01, 0x42, 1,
                                    0x1a, 0x0c, 0, 0x0b, 0x0b, 0x41, 2, 0x1a})})),
            (Codes{0x41, 0x42, 0x41}));
  // A call may not come back; who is called has blocks of its own, who is not has none.
  EXPECT_EQ(Begins(ModuleOf({Bytes({0x10, 1, 0x41, 1, 0x1a}), Bytes({0x42, 1, 0x1a}),
                             Bytes({0x43, 0, 0, 0, 0, 0x1a})})),
            (Codes{0x10, 0x41, 0x42}));
}

TEST(Flow, WhatNoWayLeadsToIsNoBlock) {
  // block { br(0) const drop } const drop: the first constant is behind a jump.
  EXPECT_EQ(Begins(ModuleOf({Bytes({0x02, NoType, 0x0c, 0, 0x42, 1, 0x1a, 0x0b, 0x41, 2, 0x1a})})),
            (Codes{0x0c, 0x41}));
  // loop { br(0) } const drop: nothing leaves the loop.
  EXPECT_EQ(Begins(ModuleOf({Bytes({0x03, NoType, 0x0c, 0, 0x0b, 0x41, 2, 0x1a})})), (Codes{0x0c}));
  // const; if { return } else { unreachable } const drop: neither way comes out.
  EXPECT_EQ(
      Begins(ModuleOf({Bytes({0x41, 1, 0x04, NoType, 0x0f, 0x05, 0x00, 0x0b, 0x42, 2, 0x1a})})),
      (Codes{0x41, 0x0f, 0x00}));
}

TEST(Flow, BranchesKnowWhereTheyLeadAndWhatTheyCompare) {
  // loop { const const i32.lt_u br_if(0) } const const i64.ge_s eqz if { const drop } const drop
  const std::string bytes =
      ModuleOf({Bytes({0x03, NoType, 0x41, 1,    0x41, 2,      0x49, 0x0d, 0, 0x0b, 0x42, 1,
                       0x42, 2,      0x59, 0x45, 0x04, NoType, 0x43, 0,    0, 0,    0,    0x1a,
                       0x0b, 0x44,   0,    0,    0,    0,      0,    0,    0, 0,    0x1a})});
  const Result<Module> module = ReadModule(bytes);
  ASSERT_TRUE(module) << module.error().message;
  const Flow flow = ReadFlow(*module);
  ASSERT_EQ(flow.parts.branches.size(), 2u);
  const auto at = [&](uint32_t place) { return static_cast<unsigned char>(bytes[place]); };
  const CodeBranch& turn = flow.parts.branches[0];
  EXPECT_TRUE(turn.is_turn);
  EXPECT_EQ(at(turn.target), 0x41);
  EXPECT_EQ(at(turn.next), 0x42);
  EXPECT_EQ(turn.condition, 2) << "below";
  ASSERT_TRUE(flow.compares[0]);
  EXPECT_EQ(flow.compares[0]->bits, 32);
  const CodeBranch& test = flow.parts.branches[1];
  EXPECT_FALSE(test.is_turn);
  EXPECT_EQ(at(test.target), 0x43);
  EXPECT_EQ(at(test.next), 0x44);
  EXPECT_EQ(test.condition, 12) << "the opposite of not less";
  ASSERT_TRUE(flow.compares[1]);
  EXPECT_EQ(flow.compares[1]->bits, 64);
}

TEST(Flow, TrapsAreReadOnlyWhereNothingElseIsDone) {
  constexpr int Memory = static_cast<int>(ir::Trap::Memory) + 1;
  constexpr auto Op = static_cast<uint32_t>(ir::Op::Alloc);
  std::string number;
  AppendSigned(number, Memory | static_cast<int64_t>(Op) << 8);
  const std::string trap = Bytes({0x20, 0, 0xad, 0x24, 0, 0x00});  // trap := parameter; stop
  const auto exit_of = [&](const std::string& behind_if, const std::string& callee,
                           const std::string& global) {
    const std::string bytes = ModuleOf(
        {Bytes({0x41, 1, 0x04, NoType}) + behind_if + Bytes({0x0b, 0x42, 1, 0x1a}), callee},
        {global});
    const Result<Module> module = ReadModule(bytes);
    EXPECT_TRUE(module) << module.error().message;
    return ReadFlow(*module).parts.blocks[1].exit;
  };
  const std::string call = '\x41' + number + Bytes({0x10, 1, 0x00});
  const auto exit = exit_of(call, trap, "trap");
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status, static_cast<uint32_t>(Memory));
  EXPECT_EQ(exit->op, Op);
  EXPECT_FALSE(exit_of(call, trap, "fuel")) << "another global";
  EXPECT_FALSE(exit_of(call, Bytes({0x20, 0, 0xac, 0x24, 0, 0x00}), "trap")) << "another number";
  EXPECT_FALSE(exit_of(call, Bytes({0x20, 0, 0xad, 0x24, 0}), "trap")) << "it comes back";
  EXPECT_FALSE(exit_of(Bytes({0x01, 0x41, 1, 0x24, 0}) + call, trap, "trap")) << "it does more";
}

// The copy is the original with insertions: what was there stands in it, in its order.
TEST(Marked, NothingIsLeftOut) {
  const std::string bytes = ModuleOf(
      {Bytes({0x41, 1, 0x41, 2, 0x48, 0x04, NoType, 0x42, 1, 0x1a, 0x05, 0x42, 2, 0x1a, 0x0b})});
  const Result<Module> module = ReadModule(bytes);
  ASSERT_TRUE(module) << module.error().message;
  const Flow flow = ReadFlow(*module);
  const Result<std::string> marked = MakeMarked(bytes, *module, flow);
  ASSERT_TRUE(marked) << marked.error().message;
  const std::string code = bytes.substr(module->functions[0].begin,
                                        module->functions[0].end - module->functions[0].begin);
  // Three marks of blocks, the compared numbers, the way.
  const size_t at = marked->find(std::string("frazil.marks\2\0", 14));
  ASSERT_NE(at, std::string::npos) << "the first memory is that of the marks";
  size_t next = 0;
  for (const char c : marked->substr(at))
    if (next < code.size() && c == code[next]) ++next;
  EXPECT_EQ(next, code.size());
  EXPECT_EQ(MarkLayout(flow).bytes(), 8u + 24u);
}

TEST(Reader, WhatItDoesNotKnowIsRefused) {
  const std::string good = ModuleOf({Bytes({0x41, 1, 0x1a})});
  ASSERT_TRUE(ReadModule(good));
  for (size_t length = 0; length < good.size(); ++length)
    if (const Result<Module> cut = ReadModule(std::string_view(good).substr(0, length)))
      EXPECT_TRUE(cut->functions.empty()) << length;
  EXPECT_FALSE(ReadModule(ModuleOf({Bytes({0x11, 0, 0})}))) << "call_indirect";
  EXPECT_FALSE(ReadModule(ModuleOf({Bytes({0x10, 1})}))) << "a function that is not there";
  EXPECT_FALSE(ReadModule(ModuleOf({Bytes({0x0c, 1})}))) << "a label that is not there";
  EXPECT_FALSE(ReadModule(good + SectionOf(2, std::string(1, '\0')))) << "imports";
}

}  // namespace
}  // namespace frazil::verify::wasm
