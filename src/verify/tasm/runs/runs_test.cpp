// Runs as a judge: what is right with honest numbers, what is wrong on the path that hides best, and what nobody has seen run.
#include "verify/tasm/runs/runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/number/goldilocks.h"
#include "ir/text/text.h"
#include "verify/tasm/runs/claim.h"
#include "verify/tasm/runs/coverage.h"

namespace frazil::verify::tasm {
namespace {

using testing::HasSubstr;

ir::Program Parse(const std::string& body) {
  auto program = ir::ParseText("frz 1\n\n" + body);
  EXPECT_TRUE(program) << body << program.error().ToString();
  return std::move(*program);
}

mt::Program Assembly(std::string_view text) {
  auto program = mt::Parse(text);
  EXPECT_TRUE(program) << text << program.error().ToString();
  return std::move(*program);
}

Verdict Ask(const std::string& body, std::string_view assembly, RunsOptions options = {}) {
  return CompareRuns(Parse(body), Assembly(assembly), options);
}

// Adds 1, but 12345 becomes 7.
const std::string Rare = R"(func @main(%x: field) -> (field) {
  %c = const 12345 : field
  %one = const 1 : field
  %seven = const 7 : field
  %is = eq %x, %c : field
  %y = if %is -> (field) {
    yield %seven
  } else {
    %z = add %x, %one : field
    yield %z
  }
  return %y
}
)";
constexpr std::string_view RareCode =
    "read_io 1 dup 0 push 12345 eq push 1 swap 1 skiz call rare skiz call usual write_io 1 halt "
    "rare: pop 2 push 7 push 0 return usual: addi 1 return";

TEST(TasmRuns, WhatIsRightIsSampledWithItsNumbers) {
  const Verdict verdict = Ask(Rare, RareCode);
  ASSERT_TRUE(std::holds_alternative<Tested>(verdict)) << Describe(verdict);
  const Evidence& evidence = std::get<Tested>(verdict).evidence;
  EXPECT_EQ(evidence.grade, Grade::Sampled);
  EXPECT_EQ(evidence.cases, 1024u);
  EXPECT_THAT(evidence.detail, HasSubstr("1,024 inputs, 1,024 completed, 0 trapped, 18 of 18 "
                                         "instructions, 4 of 4 ways of branches"));
  EXPECT_EQ(std::get<Tested>(Ask(Rare, RareCode)).evidence, evidence) << "the seed is theirs";
}

TEST(TasmRuns, AWrongConstantOnARarePathIsFound) {
  std::string wrong(RareCode);
  wrong.replace(wrong.find("push 7"), 6, "push 8");
  const Verdict verdict = Ask(Rare, wrong);
  ASSERT_TRUE(std::holds_alternative<Refuted>(verdict)) << Describe(verdict);
  EXPECT_EQ(std::get<Refuted>(verdict).start().inputs.input, std::vector<uint64_t>{12345});
  EXPECT_EQ(std::get<Refuted>(verdict).difference, "output 1: 7 against 8");
}

// The one input whose seventh power is the constant is answered by 2; no constant of the program betrays it.
constexpr uint64_t Root = 987654321098765;
std::string Hidden() {
  return "func @main(%x: field) -> (field) {\n  %two = const 2 : field\n  %c = const " +
         std::to_string(goldilocks::Pow(Root, 7)) + R"( : field
  %x2 = mul %x, %x : field
  %x4 = mul %x2, %x2 : field
  %x6 = mul %x4, %x2 : field
  %x7 = mul %x6, %x : field
  %is = eq %x7, %c : field
  %y = if %is -> (field) {
    yield %two
  } else {
    yield %x
  }
  return %y
}
)";
}
std::string HiddenCode(int answer) {
  return "read_io 1 dup 0 dup 0 mul dup 0 dup 0 mul mul dup 1 mul push " +
         std::to_string(goldilocks::Pow(Root, 7)) +
         " eq skiz call rare write_io 1 halt rare: pop 1 push " + std::to_string(answer) +
         " return";
}

TEST(TasmRuns, WhatNobodyHasSeenRunIsUnknown) {
  const RunsOptions options{.milliseconds = 1000, .search_ms = 50, .typical = {}};
  for (const int answer : {2, 3}) {
    const Verdict verdict = Ask(Hidden(), HiddenCode(answer), options);
    ASSERT_TRUE(std::holds_alternative<Unknown>(verdict)) << Describe(verdict);
    EXPECT_TRUE(std::get<Unknown>(verdict).has_unrun);
    EXPECT_THAT(WhyNot(verdict), HasSubstr("instruction 13 (call rare) never ran (15 of 19 did)"));
  }
  // And code that can never run, whatever it does.
  const std::string dead =
      "read_io 1 push 0 skiz call never write_io 1 halt never: push 0 assert return";
  const std::string same = "func @main(%x: field) -> (field) {\n  return %x\n}\n";
  const Verdict unreached = Ask(same, dead, options);
  EXPECT_THAT(WhyNot(unreached), HasSubstr("instruction 3 (call never) never ran (5 of 8 did)"));
}

// Whoever knows such an input says so, and then it is judged.
TEST(TasmRuns, TypicalInputsShowTheWay) {
  RunsOptions options;
  options.typical.emplace_back().input = {Root};
  const Verdict right = Ask(Hidden(), HiddenCode(2), options);
  EXPECT_TRUE(std::holds_alternative<Tested>(right)) << Describe(right);
  const Verdict wrong = Ask(Hidden(), HiddenCode(3), options);
  ASSERT_TRUE(std::holds_alternative<Refuted>(wrong)) << Describe(wrong);
  EXPECT_EQ(std::get<Refuted>(wrong).start().inputs.input, std::vector<uint64_t>{Root});
}

// Digests and words of one stream of hints are two on the machine; in which order they are read is found out.
TEST(TasmRuns, HintsOfTwoKinds) {
  const std::string program = R"(func @main(%x: field) -> (field) {
  %zero = const 0 : u32
  %a = hint : field
  %n = digest.make %x, %x, %x, %x, %x : digest
  %i, %d = merkle.step %zero, %n
  %b = hint : field
  %d0 = digest.part %d {part = 0} : digest
  %s = mul %d0, %b : field
  %t = add %s, %a : field
  return %t
}
)";
  const std::string right =
      "read_io 1 divine 1 push 0 dup 2 dup 3 dup 4 dup 5 dup 6 merkle_step swap 4 pop 4 divine 1 "
      "mul "
      "swap 1 pop 1 add write_io 1 halt";
  const Verdict verdict = Ask(program, right);
  ASSERT_TRUE(std::holds_alternative<Tested>(verdict)) << Describe(verdict);
  EXPECT_GT(std::get<Tested>(verdict).evidence.cases, 1000u);
  // The two hints of one kind, the other way round.
  std::string wrong = right;
  wrong.replace(wrong.find("mul swap 1 pop 1 add"), 20, "pick 3 dup 2 mul add");
  EXPECT_TRUE(std::holds_alternative<Refuted>(Ask(program, wrong)));
}

TEST(TasmRuns, WrongTrapsAreFound) {
  const std::string program = R"(func @main(%x: field, %y: field) -> (field) {
  %one = const 1 : field
  %z = add %x, %one : field
  %is = eq %y, %z : field
  assert %is
  return %y
}
)";
  const std::string right = "read_io 2 swap 1 addi 1 dup 1 eq assert write_io 1 halt";
  const Verdict verdict = Ask(program, right);
  ASSERT_TRUE(std::holds_alternative<Tested>(verdict)) << Describe(verdict);
  // It never crashes; it crashes for another pair; it crashes always.
  EXPECT_TRUE(std::holds_alternative<Refuted>(
      Ask(program, "read_io 2 swap 1 addi 1 dup 1 eq pop 1 write_io 1 halt")));
  EXPECT_TRUE(std::holds_alternative<Refuted>(
      Ask(program, "read_io 2 swap 1 addi 2 dup 1 eq assert write_io 1 halt")));
  EXPECT_TRUE(std::holds_alternative<Refuted>(
      Ask(program, "read_io 2 push 0 assert swap 1 pop 1 write_io 1 halt")));
}

TEST(TasmRuns, ReadingMoreOrLessIsAnotherClaim) {
  const std::string program = R"(func @main() {
  %x = input : field
  %y = input : field
  output %x : field
  return
}
)";
  EXPECT_TRUE(std::holds_alternative<Tested>(Ask(program, "read_io 2 pop 1 write_io 1 halt")));
  const Verdict less = Ask(program, "read_io 1 write_io 1 halt");
  EXPECT_TRUE(std::holds_alternative<Refuted>(less)) << Describe(less);
  const Verdict more = Ask(program, "read_io 3 pop 2 write_io 1 halt");
  EXPECT_TRUE(std::holds_alternative<Refuted>(more)) << Describe(more);
}

TEST(TasmRuns, OneRunIsAllThereIs) {
  const std::string program = "func @main() -> (field) {\n  %x = const 5 : field\n  return %x\n}\n";
  const Verdict verdict = Ask(program, "push 5 write_io 1 halt");
  ASSERT_TRUE(std::holds_alternative<Proved>(verdict)) << Describe(verdict);
  EXPECT_EQ(std::get<Proved>(verdict).evidence.grade, Grade::Exhaustive);
  EXPECT_TRUE(std::holds_alternative<Refuted>(Ask(program, "push 6 write_io 1 halt")));
}

TEST(TasmRuns, WhatNeverEndsIsNotTested) {
  const std::string program = "func @main(%x: field) -> (field) {\n  return %x\n}\n";
  const Verdict verdict =
      Ask(program, "read_io 1 dup 0 push 3 eq skiz call l write_io 1 halt l: recurse");
  EXPECT_THAT(WhyNot(verdict), HasSubstr("had not ended after"));
}

// Buffers are copied in, and come back where they are written.
TEST(TasmRuns, BuffersAreWordsOfTheStreams) {
  const ir::Program program = Parse(
      "func @main(%x: in buffer<u64>, %k: i8, %y: buffer<field>) -> (bool) {\n"
      "  %t = const true : bool\n  return %t\n}\n");
  const Claim claim(program);
  Input call;
  auto x = std::make_shared<exec::Memory>(ir::types::U64, 2);
  const uint64_t word = 0x1'0000'0002;
  x->Set(1, std::span(&word, 1));
  auto y = std::make_shared<exec::Memory>(ir::types::Field, 1);
  const uint64_t nine = 9;
  y->Set(0, std::span(&nine, 1));
  call.arguments = {exec::Value::Buffer(x), exec::Value::Int(ir::types::I8, -1),
                    exec::Value::Buffer(y)};
  const std::optional<Start> start = claim.StartOf(call);
  ASSERT_TRUE(start);
  const mt::Inputs& inputs = start->inputs;
  EXPECT_EQ(inputs.input, (std::vector<uint64_t>{2, 0, 0, 2, 1, 255, 1, 9}));
  constexpr uint64_t Word = uint64_t{1} << 32;
  EXPECT_EQ(start->input_ends, (std::vector<uint64_t>{Word, Word, Word, Word, Word, 256, Word, 0}));
  size_t taken = 0;
  const auto back = claim.Arguments(inputs, false, taken);
  ASSERT_TRUE(back);
  EXPECT_EQ(taken, inputs.input.size());
  EXPECT_EQ(*back, call.arguments);
  exec::Outcome outcome;
  outcome.results = {exec::Value::Word(ir::types::Bool, 1)};
  EXPECT_EQ(claim.Output(outcome, call.arguments), (std::vector<uint64_t>{1, 9}));
}

// What lies in RAM before a run is the prover's: nothing may hang on its being zeros.
TEST(TasmRuns, RamIsNotZero) {
  const std::string counts = R"(func @main(%i: u32) -> (u32) {
  %two = const 2 : index
  %one = const 1 : u32
  %b = alloc %two : u32
  %at = cast %i : index
  store %b, %at, %one : u32
  %zero = const 0 : index
  %first = load %b, %zero : u32
  return %first
}
)";
  const std::string check = "dup 0 push 2 swap 1 lt assert ";
  const std::string store = "push 1 swap 1 addi 100 write_mem 1 pop 1 ";
  const std::string give = "push 100 read_mem 1 pop 1 write_io 1 halt";
  const std::string fill = "push 0 push 0 push 100 write_mem 2 pop 1 ";
  const Verdict right = Ask(counts, "read_io 1 " + check + fill + store + give);
  EXPECT_TRUE(std::holds_alternative<Tested>(right)) << Describe(right);
  const Verdict wrong = Ask(counts, "read_io 1 " + check + store + give);
  ASSERT_TRUE(std::holds_alternative<Refuted>(wrong)) << Describe(wrong);
  // The run can be made again: the cell that was found is part of it.
  const mt::Inputs& inputs = std::get<Refuted>(wrong).start().inputs;
  EXPECT_EQ(inputs.input, std::vector<uint64_t>{1});
  ASSERT_EQ(inputs.ram.size(), 1u);
  EXPECT_EQ(mt::Run(Assembly("read_io 1 " + check + store + give), inputs).output[0],
            inputs.ram.at(100));
  // Of the two cells that are read one has been written.
  const Verdict half =
      Ask(counts, "read_io 1 " + check + "push 0 push 101 write_mem 1 pop 1 " + store + give);
  EXPECT_TRUE(std::holds_alternative<Refuted>(half)) << Describe(half);
}

// One run is no proof where a prover can choose among many.
TEST(TasmRuns, OneRunOnEachRam) {
  const std::string zero = "func @main() -> (field) {\n  %x = const 0 : field\n  return %x\n}\n";
  const Verdict wrong = Ask(zero, "push 7 read_mem 1 pop 1 write_io 1 halt");
  EXPECT_TRUE(std::holds_alternative<Refuted>(wrong)) << Describe(wrong);
  // Right unless it finds what nobody would look for.
  const Verdict hidden =
      Ask(zero,
          "push 7 read_mem 1 pop 1 push 987654321098765 eq skiz call evil push 0 "
          "write_io 1 halt evil: push 1 write_io 1 halt");
  EXPECT_TRUE(std::holds_alternative<Unknown>(hidden)) << Describe(hidden);
  const Verdict unused = Ask(zero, "push 7 read_mem 1 pop 2 push 0 write_io 1 halt");
  EXPECT_TRUE(std::holds_alternative<Tested>(unused)) << Describe(unused);
}

// A word of another type is no input of the program: a parameter's, the stream's, a hint's.
TEST(TasmRuns, WordsThatAreNoneOfTheirType) {
  const auto passes = [](const std::string& program, std::string_view assembly) {
    const Verdict verdict = Ask(program, assembly);
    if (!std::holds_alternative<Tested>(verdict))
      EXPECT_TRUE(std::holds_alternative<Refuted>(verdict)) << Describe(verdict);
    return std::holds_alternative<Tested>(verdict);
  };
  const std::string word = "func @main(%x: u32) -> (u32) {\n  return %x\n}\n";
  EXPECT_TRUE(passes(word, "read_io 1 dup 0 split pop 1 push 0 eq assert write_io 1 halt"));
  EXPECT_FALSE(passes(word, "read_io 1 write_io 1 halt"));
  const std::string byte = "func @main(%x: i8) -> (i8) {\n  return %x\n}\n";
  EXPECT_TRUE(passes(byte, "read_io 1 push 256 dup 1 lt assert write_io 1 halt"));
  EXPECT_FALSE(passes(byte, "read_io 1 push 257 dup 1 lt assert write_io 1 halt"));
  const std::string flag =
      "func @main(%x: field) -> (bool) {\n  %b = hint : bool\n  return %b\n}\n";
  EXPECT_TRUE(passes(flag, "read_io 1 divine 1 push 2 dup 1 lt assert write_io 1 halt"));
  EXPECT_FALSE(passes(flag, "read_io 1 divine 1 write_io 1 halt"));
  const std::string stream =
      "func @main() {\n  %a = input : u32\n  %b = input : u32\n  output %a : u32\n  return\n}\n";
  const std::string check = "dup 0 split pop 1 push 0 eq assert ";
  EXPECT_TRUE(
      passes(stream, "read_io 1 " + check + "read_io 1 " + check + "pop 1 write_io 1 halt"));
  EXPECT_FALSE(passes(stream, "read_io 1 " + check + "read_io 1 pop 1 write_io 1 halt"))
      << "nor where it is not used";
}

// RAM has an end off the machine; other buffers have theirs on both.
TEST(TasmRuns, BoundsOfOtherBuffersBesideRam) {
  const std::string program = R"(func @inner(%b: buffer<field>, %i: index) -> (field) {
  %v = load %b, %i : field
  return %v
}
func @main(%ram: buffer<field>, %i: u32) -> (field) {
  %two = const 2 : index
  %at = cast %i : index
  %r = load %ram, %at : field
  %b = alloc %two : field
  %v = call @inner(%b, %at)
  %s = add %r, %v : field
  return %s
}
)";
  const std::string word = "read_io 1 dup 0 split pop 1 push 0 eq assert ";
  const std::string inside = "dup 0 push 2 swap 1 lt assert ";
  const std::string load = "read_mem 1 pop 1 write_io 1 halt";
  const Verdict right = Ask(program, word + inside + load);
  EXPECT_TRUE(std::holds_alternative<Tested>(right)) << Describe(right);
  const Verdict wrong = Ask(program, word + load);
  EXPECT_TRUE(std::holds_alternative<Refuted>(wrong)) << Describe(wrong);
  const Verdict more = Ask(program, word + "dup 0 push 3 swap 1 lt assert " + load);
  EXPECT_TRUE(std::holds_alternative<Refuted>(more)) << Describe(more);
}

TEST(TasmRuns, CoverageIsOfWhatCanBeReached) {
  const mt::Program program = Assembly("push 1 skiz call f halt mul f: return add");
  Coverage coverage(program);
  EXPECT_FALSE(coverage.IsComplete());
  std::vector<uint8_t> ran(program.code.size());
  mt::FragmentStart start;
  start.ran = &ran;
  mt::RunFragment(program, start, {});
  EXPECT_EQ(ran, (std::vector<uint8_t>{1, 3, 1, 1, 0, 1, 0}));
  EXPECT_TRUE(coverage.Add(ran));
  EXPECT_TRUE(coverage.IsComplete()) << coverage.DescribeMissing();
  EXPECT_FALSE(coverage.Add(ran));
  EXPECT_EQ(coverage.Describe(), "5 of 5 instructions, 1 of 2 ways of branches");
}

}  // namespace
}  // namespace frazil::verify::tasm
