// Text and words: forms that are read, sentences about those that are not, and the way there and back.
#include "machines/tasm/program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/number/goldilocks.h"

namespace frazil::machines::tasm {
namespace {

std::string ErrorOf(std::string_view text, Profile profile = Profile::Dot) {
  const Result<Program> program = Parse(text, profile, "x.tasm");
  return program ? "" : program.error().ToString();
}

Program Read(std::string_view text, Profile profile = Profile::Dot) {
  Result<Program> program = Parse(text, profile);
  EXPECT_TRUE(program) << program.error().ToString();
  return program ? std::move(*program) : Program{};
}

void ExpectSame(const Program& a, const Program& b) {
  EXPECT_EQ(a.code, b.code);
  ASSERT_EQ(a.labels.size(), b.labels.size());
  for (size_t i = 0; i < a.labels.size(); ++i) {
    EXPECT_EQ(a.labels[i].name, b.labels[i].name);
    EXPECT_EQ(a.labels[i].instruction, b.labels[i].instruction);
  }
}

TEST(Text, EverythingThatIsRead) {
  const Program program = Read(R"(
    // a comment
    push -1 push 18446744069414584320 add  /* across
    lines */ pop 1 // and one more
    call next_one halt
    next_one : hint x: *Vec<u32, Digest> = stack[0..3] break
      assert error_id 7 assert_vector error_id 0 return
    end: //
  )");
  ASSERT_EQ(program.code.size(), 9u);
  EXPECT_EQ(program.code[0].argument, goldilocks::P - 1);
  EXPECT_EQ(program.code[1].argument, goldilocks::P - 1);
  EXPECT_EQ(program.code[4].argument, 6u);
  EXPECT_EQ(program.code[6].error_id, 7);
  EXPECT_EQ(program.code[7].error_id, 0);
  EXPECT_EQ(program.code[2].location.line, 3u);
  EXPECT_EQ(program.code[2].location.column, 39u);
  EXPECT_EQ(program.LabelAt(6), "next_one");
  EXPECT_EQ(program.LabelAt(9), "end");
  EXPECT_EQ(program.LabelAt(5), "");
  EXPECT_EQ(program.Words(), 13u);
  EXPECT_EQ(program.Addresses(), (std::vector<uint32_t>{0, 2, 4, 5, 7, 9, 10, 11, 12, 13}));
  ExpectSame(Read(Print(program)), program);
}

TEST(Text, StrangeBytesAreShownEscaped) {
  using namespace std::string_view_literals;
  EXPECT_EQ(ErrorOf("push 1\n  ad\0d\nhalt"sv),
            "x.tasm:2:5: error FRZ1201: `\\x00d` does not belong here (separate words by a space)");
  EXPECT_EQ(ErrorOf("push 1 \x1b[2Jhalt"),
            "x.tasm:1:8: error FRZ1201: expected an instruction or a label, not `\\x1b[2Jhalt`");
  EXPECT_EQ(ErrorOf("push \x01"),
            "x.tasm:1:6: error FRZ1201: push needs a number between -p and p, not `\\x01` (p = "
            "18446744069414584321)");
  EXPECT_EQ(ErrorOf("nop // \xff\nhalt"),
            "x.tasm:1:8: error FRZ0103: the text is not UTF-8 here: byte \\xff (save the file as "
            "UTF-8)");
  EXPECT_EQ(ErrorOf("nop // gr\xc3\xbc\xc3\x9f\0\nhalt"sv), "");
  const std::string cut = ErrorOf("push " + std::string(39, '*') + "\xe2\x82\xac");
  EXPECT_NE(cut.find("*`"), std::string::npos) << cut;
}

TEST(Text, WrongTextSaysWhatToWrite) {
  EXPECT_EQ(ErrorOf("push 0x10"),
            "x.tasm:1:6: error FRZ1201: `0x10` is no number (numbers are decimal)");
  EXPECT_EQ(ErrorOf("pop"),
            "x.tasm:1:4: error FRZ1201: pop needs a number from 1 to 5, not the end of the text");
  EXPECT_EQ(ErrorOf("PUSH 1"),
            "x.tasm:1:1: error FRZ1201: there is no instruction `PUSH` (did you mean `push`?)");
  EXPECT_EQ(ErrorOf("Sub"),
            "x.tasm:1:1: error FRZ1201: there is no instruction `Sub` (a - b is: push -1 mul add)");
}

TEST(Text, WrongTextIsLocated) {
  EXPECT_EQ(
      ErrorOf("nop\n  or"),
      "x.tasm:2:3: error FRZ1201: there is no instruction `or` (a or b is a + b - (a and b))");
  EXPECT_EQ(ErrorOf("dup 0/* top */halt"), "");
  // Text, and a part of what is said about it.
  const std::pair<const char*, const char*> cases[] = {
      {"halt\nswpa 1", "did you mean `swap`?"},
      {"dup 16", "x.tasm:1:5: error FRZ1201: dup needs a number from 0 to 15, not `16`"},
      {"pop 6", "from 1 to 5"},
      {"pop 0", "from 1 to 5"},
      {"pop -1", "from 1 to 5"},
      {"pop +1", "from 1 to 5"},
      {"dup 05", "from 0 to 15"},
      {"push", "push needs a number"},
      {"push x", "push needs a number"},
      {"push 18446744069414584321", "between -p and p"},
      {"push -18446744069414584321", "between -p and p"},
      {"push 99999999999999999999999999999", "between -p and p"},
      {"push 5halt", "does not belong here"},
      {"call", "call needs a label"},
      {"call 5", "call needs a label"},
      {"nop call f", "x.tasm:1:5: error FRZ1201: label `f` is called but stands nowhere"},
      {"f: nop\nf: nop",
       "x.tasm:2:1: error FRZ1201: label `f` stands twice (the first is on line 1)"},
      {"halt: nop", "cannot be a label"},
      {"call error_id", "cannot be a label"},
      {"nop error_id 3", "directly follow"},
      {"assert error_id 3 error_id 4", "directly follow"},
      {"assert error_id x", "needs a number"},
      {"nop /* x", "no end"},
      {"hint a: b", "malformed"},
      {"hint a = stack[3..3]", "malformed"},
      {"7", "expected an instruction or a label"},
      {"nop \xc2\xa7", "expected an instruction or a label"},
  };
  for (const auto& [text, part] : cases)
    EXPECT_NE(ErrorOf(text).find(part), std::string::npos) << text << ": " << ErrorOf(text);
}

TEST(Text, ProfilesDifferInTwoInstructions) {
  EXPECT_NE(ErrorOf("b_horner_step").find("is not in profile dot (profile horner has it)"),
            std::string::npos);
  EXPECT_NE(ErrorOf("xx_dot_step", Profile::Horner).find("(profile dot has it)"),
            std::string::npos);
  EXPECT_EQ(Encode(Read("b_horner_step x_horner_step", Profile::Horner)),
            (std::vector<uint64_t>{80, 88}));
  EXPECT_EQ(Encode(Read("xx_dot_step xb_dot_step")), (std::vector<uint64_t>{80, 88}));
}

TEST(Text, AMillionLines) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "push 1\n";
  const Program program = Read(text);
  EXPECT_EQ(program.Words(), 2'000'000u);
  EXPECT_EQ(program.code.back().location.line, 1'000'000u);
}

// Any program, with calls and labels, comes back from its text and from its words.
TEST(Text, RandomProgramsRoundTrip) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    Program program;
    program.profile = round % 2 == 0 ? Profile::Dot : Profile::Horner;
    const uint64_t size = random() % 60;
    for (uint64_t i = 0; i < size; ++i) {
      Instruction instruction{.op = static_cast<Opcode>(random() % OpcodeCount)};
      const OpcodeInfo& info = Info(instruction.op);
      if (!info.In(program.profile)) continue;
      switch (info.argument) {
        case Argument::None: break;
        case Argument::Element: instruction.argument = random() % goldilocks::P; break;
        case Argument::Count: instruction.argument = 1 + random() % 5; break;
        case Argument::Place: instruction.argument = random() % 16; break;
        case Argument::Target: instruction.argument = random() % (size + 1); break;
      }
      if (instruction.op == Opcode::Assert && random() % 2 == 0)
        instruction.error_id = static_cast<int64_t>(random() >> 1);
      program.code.push_back(instruction);
    }
    for (Instruction& instruction : program.code)
      if (instruction.op == Opcode::Call) instruction.argument %= program.code.size() + 1;
    const Program read = Read(Print(program), program.profile);
    EXPECT_EQ(read.code, program.code) << Print(program);
    ExpectSame(Read(Print(read), program.profile), read);
    Result<Program> decoded = Decode(Encode(program), program.profile);
    ASSERT_TRUE(decoded) << decoded.error().ToString();
    for (size_t i = 0; i < program.code.size(); ++i) program.code[i].error_id = -1;
    EXPECT_EQ(decoded->code, program.code);
  }
}

TEST(Words, WrongWordsAreRefused) {
  EXPECT_FALSE(Decode({5}));
  EXPECT_FALSE(Decode({1}));
  EXPECT_FALSE(Decode({3, 6}));
  EXPECT_FALSE(Decode({33, 16}));
  EXPECT_FALSE(Decode({1, goldilocks::P}));
  EXPECT_FALSE(Decode({49, 1, 0}));
  EXPECT_FALSE(Decode({49, 7, 0}));
  EXPECT_FALSE(Decode({uint64_t{1} << 40}));
  EXPECT_TRUE(Decode({49, 3, 0}));
}

// The bits of an opcode say what the table says.
TEST(Words, OpcodesAgreeWithTheTable) {
  for (int i = 0; i < OpcodeCount; ++i) {
    const OpcodeInfo& info = Info(static_cast<Opcode>(i));
    EXPECT_EQ((info.opcode & 1) != 0, info.argument != Argument::None) << info.mnemonic;
    EXPECT_EQ((info.opcode & 2) != 0, info.delta < 0) << info.mnemonic;
  }
}

}  // namespace
}  // namespace frazil::machines::tasm
