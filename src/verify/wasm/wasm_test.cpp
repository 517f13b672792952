// What the judge reads of a module, from bytes written by hand: blocks, branches, traps, and the copy with marks.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "ir/lower/lower.h"
#include "ir/text/text.h"
#include "verify/verify.h"
#include "verify/wasm/data.h"
#include "verify/wasm/flow.h"
#include "verify/wasm/marked.h"
#include "verify/wasm/watched_module.h"

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
  struct Branch {
    bool is_turn;
    int target, next, condition, bits;
  };
  const Branch expected[] = {{true, 0x41, 0x42, 2, 32},     // below
                             {false, 0x43, 0x44, 12, 64}};  // the opposite of not less
  for (size_t i = 0; i < 2; ++i) {
    const CodeBranch& branch = flow.parts.branches[i];
    EXPECT_EQ(branch.is_turn, expected[i].is_turn) << i;
    EXPECT_EQ(at(branch.target), expected[i].target) << i;
    EXPECT_EQ(at(branch.next), expected[i].next) << i;
    EXPECT_EQ(branch.condition, expected[i].condition) << i;
    ASSERT_TRUE(flow.compares[i]) << i;
    EXPECT_EQ(flow.compares[i]->bits, expected[i].bits) << i;
  }
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

// A value of a stream may have another type only where the program reads one: else there is no such trap.
TEST(Flow, TrapsOfStreamsAreTheProgramsOwn) {
  constexpr int Wrong = 0xff;
  for (const ir::Op op : {ir::Op::Input, ir::Op::Hint}) {
    std::string number;
    AppendSigned(number, Wrong | static_cast<int64_t>(op) << 8);
    const std::string bytes =
        ModuleOf({Bytes({0x41, 1, 0x04, NoType, 0x41}) + number + Bytes({0x10, 1, 0x00, 0x0b}),
                  Bytes({0x20, 0, 0xad, 0x24, 0, 0x00})},
                 {"trap"});
    const Result<Module> module = ReadModule(bytes);
    ASSERT_TRUE(module) << module.error().message;
    const auto is_plain = [&](StreamReads reads) {
      return ReadFlow(*module, reads).parts.blocks[1].is_jump;
    };
    const bool is_input = op == ir::Op::Input;
    EXPECT_FALSE(is_plain({}));
    EXPECT_TRUE(is_plain({is_input, !is_input}));
    EXPECT_FALSE(is_plain({!is_input, is_input}));
  }
}

// Each branch leads over all of what does nothing: looked over once, not once for each (which would take minutes).
TEST(Flow, LongRunsOfNothingCostNoTime) {
  constexpr size_t Count = 200'000;
  std::string body = Bytes({0x02, NoType});
  for (size_t i = 0; i < Count; ++i) body += Bytes({0x41, 1, 0x0d, 0});
  const std::string bytes =
      ModuleOf({body + '\x0b' + std::string(Count, '\1') + Bytes({0x42, 1, 0x1a})});
  const Result<Module> module = ReadModule(bytes);
  ASSERT_TRUE(module) << module.error().message;
  const Flow flow = ReadFlow(*module);
  ASSERT_EQ(flow.parts.branches.size(), Count);
  EXPECT_EQ(flow.parts.branches[0].target, flow.parts.blocks.back().begin);
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

TEST(Reader, ElseBelongsToAnIf) {
  EXPECT_FALSE(ReadModule(ModuleOf({Bytes({0x05})})));
  EXPECT_FALSE(ReadModule(ModuleOf({Bytes({0x02, NoType, 0x05, 0x0b})})));
  const Codes two = {0x41, 1, 0x04, NoType, 0x05, 0x05, 0x0b};
  EXPECT_FALSE(ReadModule(ModuleOf({std::string(two.begin(), two.end())})));
  EXPECT_TRUE(ReadModule(ModuleOf({Bytes({0x41, 1, 0x04, NoType, 0x05, 0x0b})})));
}

// A type that takes two bytes (a reference) would hide an instruction from whoever reads one.
TEST(Reader, OnlyTypesOfValuesThatCompiledCodeHas) {
  for (const int type : {0x7f, 0x7e, 0x7d, 0x7c, NoType})
    EXPECT_TRUE(ReadModule(ModuleOf({Bytes({0x02, type, 0x0b})}))) << type;
  for (const int type : {0x7b, 0x70, 0x6f, 0x64, 0x63, 0x00, 0x28, 0x80})
    EXPECT_FALSE(ReadModule(ModuleOf({Bytes({0x02, type, 0, 0x0b})}))) << type;
  // One local of that type.
  const auto with_local = [](int type) {
    return std::string("\0asm\1\0\0\0", 8) + SectionOf(1, std::string("\1\x60\0\0", 4)) +
           SectionOf(3, std::string("\1\0", 2)) + SectionOf(10, Bytes({1, 4, 1, 1, type, 0x0b}));
  };
  EXPECT_TRUE(ReadModule(with_local(0x7f)));
  EXPECT_FALSE(ReadModule(with_local(0x7b)));
  EXPECT_FALSE(ReadModule(with_local(0x63)));
}

TEST(Reader, SectionsAreReadToTheirEnd) {
  const std::string head("\0asm\1\0\0\0", 8);
  const auto types = [&](const std::string& list) { return head + SectionOf(1, list); };
  EXPECT_TRUE(ReadModule(types(Bytes({1, 0x60, 1, 0x7f, 0}))));
  EXPECT_FALSE(ReadModule(types(Bytes({1, 0x60, 1, 0x7f, 0, 0})))) << "a byte more";
  EXPECT_FALSE(ReadModule(types(Bytes({1, 0x4e, 1, 0x60, 0, 0})))) << "a group of types";
  EXPECT_FALSE(ReadModule(types(Bytes({1, 0x60, 1, 0x70, 0})))) << "a reference";
  const auto memory = [&](const std::string& list) { return head + SectionOf(5, list); };
  EXPECT_TRUE(ReadModule(memory(Bytes({1, 0, 1}))));
  EXPECT_FALSE(ReadModule(memory(Bytes({1, 1, 1, 1})))) << "it cannot grow";
  EXPECT_FALSE(ReadModule(memory(Bytes({2, 0, 1, 0, 1})))) << "two";
  const auto data = [&](const std::string& list) { return head + SectionOf(11, list); };
  EXPECT_TRUE(ReadModule(data(Bytes({1, 0, 0x41, 16, 0x0b, 1, 7}))));
  EXPECT_FALSE(ReadModule(data(Bytes({1, 1, 1, 7})))) << "that code puts somewhere";
}

ir::Program Parse(const std::string& body) {
  Result<ir::Program> program = ir::ParseText("frz 1\n" + body);
  EXPECT_TRUE(program) << program.error().ToString();
  return std::move(*program);
}

constexpr char TwoTables[] =
    "data @a : u16 [1, 2, 770]\ndata @none : u8 [9]\ndata @b : u8 [5, 6]\n"
    "func @main(%i: index) -> (u16, u8, int<2>) {\n %x = lookup @a, %i : u16\n"
    " %y = lookup @b, %i : u8\n %c = const 7 : int<2>\n return %x, %y, %c\n}";

struct Piece {
  int address;
  std::string bytes;
};
Result<void> DataOf(const std::vector<Piece>& pieces) {
  std::string list(1, static_cast<char>(pieces.size()));
  for (const Piece& piece : pieces)
    list +=
        Bytes({0, 0x41, piece.address, 0x0b, static_cast<int>(piece.bytes.size())}) + piece.bytes;
  const std::string bytes = std::string("\0asm\1\0\0\0", 8) + SectionOf(11, list);
  const Result<Module> module = ReadModule(bytes);
  EXPECT_TRUE(module);
  return CheckData(*module, *ir::LowerForTarget(Parse(TwoTables)));
}

// A sample reads few entries of a large table.
TEST(Data, IsTheProgramsByteForByte) {
  const std::string a = Bytes({1, 0, 2, 0, 2, 3}), b = Bytes({5, 6});
  const std::string seven = Bytes({7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_TRUE(DataOf({{16, a}, {32, b}}));
  EXPECT_TRUE(DataOf({{16, a}, {32, b}, {48, seven}}));
  const Result<void> wrong = DataOf({{16, Bytes({1, 0, 2, 0, 3, 3})}, {32, b}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "+0xb: data that is not the table @a");
  EXPECT_FALSE(DataOf({{16, a}})) << "one is missing";
  EXPECT_FALSE(DataOf({{16, a}, {33, b}})) << "elsewhere";
  EXPECT_FALSE(DataOf({{32, b}, {16, a}})) << "another order";
  EXPECT_FALSE(DataOf({{16, a}, {32, b}, {48, Bytes({7, 0, 0, 0, 0, 0, 0, 1})}})) << "no constant";
  EXPECT_FALSE(DataOf({{16, a}, {32, b}, {18, seven}})) << "over a table";
  EXPECT_FALSE(DataOf({{16, a}, {32, b}, {48, seven}, {18, Bytes({9})}})) << "over a table";
}

// Answers what the test says, for the bytes that the test gives and for the copy.
class Answers final : public exec::Target {
 public:
  using Answer = std::function<Result<exec::Outcome>(const exec::RunContext&)>;
  Answers(std::string refused, Answer answer)
      : refused_(std::move(refused)), answer_(std::move(answer)) {}
  std::string_view name() const override { return "test"; }
  std::string Refuses(const ir::Program&) const override { return ""; }
  Result<exec::Artifact> Emit(const ir::Program&, const exec::EmitOptions&) const override {
    return Fail(Diag::Unsupported, "");
  }
  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    if (artifact.bytes == refused_) return Fail(Diag::BadArtifact, "it is none");
    return std::make_unique<One>(answer_);
  }

 private:
  struct One final : exec::Callable {
    explicit One(Answer answer) : answer(std::move(answer)) {}
    Result<exec::Outcome> Run(std::span<const exec::Value>,
                              const exec::RunContext& context) override {
      return answer(context);
    }
    Answer answer;
  };
  std::string refused_;
  Answer answer_;
};

constexpr char Five[] = "func @main() -> (i64) {\n %c = const 5 : i64\n return %c\n}";
exec::Outcome OutcomeOf(int64_t number) {
  exec::Outcome outcome;
  outcome.results.push_back(exec::Value::Int(ir::types::I64, number));
  return outcome;
}

TEST(Watched, TheBytesThemselvesMustBeAModule) {
  const auto verdict_of = [](const std::string& bytes, const std::string& refused) {
    const Answers target(refused, [](const exec::RunContext&) { return OutcomeOf(5); });
    exec::Artifact artifact;
    artifact.bytes = bytes;
    return *VerifyModule(Parse(Five), target, artifact, {}, {});
  };
  const std::string bytes = ModuleOf({Bytes({0x01})});
  EXPECT_EQ(VerdictName(verdict_of(bytes, "")), "proved");
  const Verdict verdict = verdict_of(bytes, bytes);
  ASSERT_EQ(VerdictName(verdict), "unknown");
  EXPECT_EQ(std::get<Unknown>(verdict).reason, "the module cannot be followed: it is none");
}

// Where a module has scratch or output, each input runs in all layouts.
TEST(Watched, AnswersDoNotDependOnTheLayout) {
  int runs = 0;
  const auto run = [&](const std::string& global, const Answers::Answer& answer) {
    const Answers target("", [&, answer](const exec::RunContext& context) {
      ++runs;
      return answer(context);
    });
    exec::Artifact artifact;
    artifact.bytes = ModuleOf({Bytes({0x01})}, {global});
    auto watched = WatchedModule::Load(Parse(Five), target, artifact);
    EXPECT_TRUE(watched);
    runs = 0;
    return (*watched)->code().Run({}, {});
  };
  const auto same = [](const exec::RunContext&) { return OutcomeOf(5); };
  EXPECT_TRUE(run("fuel", same));
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(run("heap", same));
  EXPECT_EQ(runs, 3) << "as usual, without room for output, without any";
  EXPECT_TRUE(run("output", same));
  EXPECT_EQ(runs, 3);
  int number = 0;
  for (int wrong = 1; wrong <= 3; ++wrong) {
    number = 0;
    const Result<exec::Outcome> outcome =
        run("heap", [&](const exec::RunContext&) { return OutcomeOf(++number == wrong ? 6 : 5); });
    ASSERT_FALSE(outcome) << wrong;
    EXPECT_EQ(ClassOf(outcome.error().diag), ErrorClass::User) << "a difference";
    // One that reaches a limit is told: nothing can be said then.
    number = 0;
    const Result<exec::Outcome> limited = run("heap", [&](const exec::RunContext&) {
      exec::Outcome answer = OutcomeOf(5);
      if (++number == wrong) answer.trap = exec::TrapInfo{ir::Trap::Memory, ir::Op::Alloc};
      return answer;
    });
    ASSERT_TRUE(limited);
    EXPECT_TRUE(limited->trap) << wrong;
  }
}

}  // namespace
}  // namespace frazil::verify::wasm
