// Hand-picked programs: every instruction at its edges, every crash at its exact place, and the protocol itself on
// bad input.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "compare.h"
#include "oracle_fixture.h"

namespace frazil::tests {
namespace {

namespace tasm = machines::tasm;
using tasm::CrashKind;

constexpr uint64_t P = 0xffffffff00000001;

oracle::Job JobOf(std::string_view text) {
  Result<oracle::Job> job = ReadJob(text, "hand");
  EXPECT_TRUE(job.has_value()) << text << "\n" << (job ? "" : job.error().ToString());
  return job ? *job : oracle::Job{};
}

class Hand : public OracleTest {
 protected:
  // Both machines on all texts; how each ended.
  std::vector<tasm::RunResult> Compare(const std::vector<std::string>& texts) {
    std::vector<oracle::Job> jobs;
    for (const std::string& text : texts) jobs.push_back(JobOf(text));
    Comparison comparison;
    const Result<void> compared = CompareAll(session_, jobs, texts, comparison);
    EXPECT_TRUE(compared.has_value()) << compared.error().ToString();
    for (const std::string& difference : comparison.differences) ADD_FAILURE() << difference;
    for (const oracle::Job& job : jobs)
      for (const tasm::Instruction& instruction : job.program.code) used_.insert(instruction.op);
    std::vector<tasm::RunResult> runs;
    for (const oracle::Job& job : jobs)
      runs.push_back(tasm::Run(job.program, job.inputs, {.cycles = job.cycles}));
    return runs;
  }
  std::set<tasm::Opcode> used_;
};

const std::vector<uint64_t> Edges = {0,          1,           2,     3,     0x7fffffff, 0x80000000,
                                     0xffffffff, 0x100000000, P / 2, P - 2, P - 1};

TEST_F(Hand, EveryInstructionFinishes) {
  const std::string ten = "push 1 push 2 push 3 push 4 push 5 push 6 push 7 push 8 push 9 push 10 ";
  const std::vector<std::string> texts = {
      "halt",
      "nop nop nop halt",
      "push 5 push 4 push 3 push 2 push 1 pop 5 halt",
      "push 1 pop 1 push 1 push 2 pop 2 push 1 push 2 push 3 pop 3 push 1 push 2 push 3 push 4 pop "
      "4 halt",
      "// secret: 1,2,3,4,5,6\ndivine 1 divine 5 write_io 5 write_io 1 halt",
      "// input: 9,8,7,6,5,4\nread_io 5 read_io 1 write_io 1 write_io 5 halt",
      ten +
          "pick 0 pick 1 pick 9 pick 15 place 0 place 1 place 9 place 15 write_io 5 write_io 5 "
          "halt",
      ten + "dup 0 dup 7 dup 15 swap 0 swap 1 swap 15 write_io 5 write_io 5 halt",
      "push 0 skiz push 7 push 1 skiz nop push 0 skiz nop halt",
      "push 3 call f pop 1 halt f: dup 0 push 0 eq skiz return addi -1 recurse",
      "push 9 push 2 push 0 push 0 push 0 push 0 push 0 call f halt f: pick 5 addi 1 place 5 "
      "recurse_or_return",
      "push 1 assert push 1 assert error_id 17 halt",
      ten +
          "push 1 push 2 push 3 push 4 push 5 push 1 push 2 push 3 push 4 push 5 assert_vector "
          "halt",
      "push 0 push 0 push 0 push 0 push 0 assert_vector error_id 3 halt",
      ten +
          "push 100 write_mem 5 write_mem 3 pop 1 push 107 read_mem 5 read_mem 4 write_io 5 "
          "write_io 5 halt",
      "push 7 push 18446744069414584320 write_mem 1 write_io 1 push 0 read_mem 2 write_io 3 halt",
      "// ram: 5=50,4=40,18446744069414584320=1\npush 5 read_mem 5 read_mem 2 write_io 5 write_io "
      "3 halt",
      ten + "hash write_io 5 halt",
      ten + "sponge_init sponge_absorb sponge_squeeze write_io 5 write_io 5 sponge_squeeze halt",
      "// ram: 1=11,2=12,9=19\nsponge_init push 4 push 3 push 2 push 1 push 0 sponge_absorb_mem "
      "write_io 5 "
      "sponge_squeeze write_io 5 halt",
      "push 2 push 3 add push 4 mul push 5 addi -6 eq halt",
      "push 2 invert write_io 1 push 18446744069414584320 invert write_io 1 push 1 invert halt",
      "push 1 push 2 push 3 push 4 push 5 push 6 xx_add write_io 3 halt",
      "push 1 push 2 push 3 push 4 push 5 push 6 xx_mul write_io 3 halt",
      "push 1 push 2 push 3 x_invert write_io 3 push 0 push 0 push 5 x_invert push 7 push 0 push 0 "
      "x_invert halt",
      "push 1 push 2 push 3 push 4 xb_mul write_io 3 halt",
      "// digest: 1,2,3,4,5\n// digest: 6,7,8,9,10\npush 6 push 5 push 4 push 3 push 2 push 1 "
      "merkle_step merkle_step "
      "write_io 5 write_io 1 halt",
      "// ram: 20=1,21=2,22=3,23=4,24=5\npush 20 push 0 push 4294967295 push 5 push 4 push 3 push "
      "2 push 1 "
      "merkle_step_mem merkle_step_mem write_io 5 write_io 3 halt",
      "// ram: 1=2,2=3,3=4,10=5,11=6,12=7\npush 9 push 8 push 7 push 1 push 10 xx_dot_step "
      "xx_dot_step write_io 5 halt",
      "// ram: 1=2,2=3,3=4,10=5,11=6,12=7\npush 9 push 8 push 7 push 1 push 10 xb_dot_step "
      "xb_dot_step write_io 5 halt",
      "push 1 push 1 push 18446744069414584320 push 18446744069414584320 push 18446744069414584320 "
      "xx_dot_step halt",
      "push 0 split push 7 push 3 lt push 7 push 3 and push 7 push 3 xor push 9 log_2_floor push 3 "
      "push 5 pow "
      "push 3 push 17 div_mod push 255 pop_count halt",
  };
  for (const tasm::RunResult& run : Compare(texts))
    EXPECT_FALSE(run.crash.has_value()) << run.crash->sentence;
  for (int i = 0; i < tasm::OpcodeCount; ++i) {
    const auto op = static_cast<tasm::Opcode>(i);
    if (tasm::Info(op).In(tasm::Profile::Dot))
      EXPECT_TRUE(used_.contains(op)) << tasm::Info(op).mnemonic;
  }
}

TEST_F(Hand, EveryPairOfEdges) {
  std::vector<std::string> texts;
  for (const uint64_t a : Edges) {
    for (const char* op : {"split", "invert", "log_2_floor", "pop_count"})
      texts.push_back(fmt::format("push {} {} write_io 2 halt", a, op));
    for (const uint64_t b : Edges)
      for (const char* op : {"add", "mul", "eq", "lt", "and", "xor", "pow", "div_mod"})
        texts.push_back(fmt::format("push {} push {} {} write_io 2 push 0 push 0 halt", a, b, op));
  }
  Compare(texts);
}

// Rows of the u32 table are shared between equal entries, and only between those.
TEST_F(Hand, U32EntriesAreSharedExactly) {
  const std::vector<std::string> operations = {
      "push 5 push 9 and pop 1 ",  "push 5 push 9 xor pop 1 ", "push 9 push 5 and pop 1 ",
      "push 5 push 9 lt pop 1 ",   "push 5 push 9 pow pop 1 ", "push 5 push 9 div_mod pop 2 ",
      "push 4 push 5 lt pop 1 ",   "push 4 split pop 2 ",      "push 5 pop_count pop 1 ",
      "push 5 log_2_floor pop 1 ", "push 4 push 9 lt pop 1 ",  "push 38654705664 split pop 2 "};
  std::vector<std::string> texts;
  for (const std::string& a : operations)
    for (const std::string& b : operations) texts.push_back(a + b + "halt");
  for (const tasm::RunResult& run : Compare(texts)) EXPECT_FALSE(run.crash.has_value());
}

TEST_F(Hand, EveryCrashAtItsPlace) {
  const std::vector<std::pair<CrashKind, std::string>> cases = {
      {CrashKind::InstructionPointer, "nop"},
      {CrashKind::InstructionPointer, "push 0 skiz halt"},
      {CrashKind::InstructionPointer, "nop push 0 skiz"},
      {CrashKind::InstructionPointer, "nop push 1 skiz"},
      {CrashKind::InstructionPointer, "call f f: push 1 write_io 1"},
      {CrashKind::OpStackTooShallow, "pop 1 halt"},
      {CrashKind::OpStackTooShallow, "push 1 pop 2 halt"},
      {CrashKind::OpStackTooShallow, "hash halt"},
      {CrashKind::OpStackTooShallow, "push 1 push 1 push 1 push 1 hash halt"},
      {CrashKind::OpStackTooShallow, "sponge_absorb halt"},
      {CrashKind::OpStackTooShallow, "write_io 1 halt"},
      {CrashKind::OpStackTooShallow, "push 1 write_mem 2 halt"},
      {CrashKind::OpStackTooShallow, "add halt"},
      {CrashKind::OpStackTooShallow, "assert halt"},
      {CrashKind::OpStackTooShallow, "assert error_id 5 halt"},
      {CrashKind::OpStackTooShallow, "skiz halt"},
      {CrashKind::OpStackTooShallow, "xx_mul halt"},
      {CrashKind::OpStackTooShallow, "lt halt"},
      {CrashKind::OpStackTooShallow, "assert_vector halt"},
      {CrashKind::JumpStackEmpty, "nop return"},
      {CrashKind::JumpStackEmpty, "recurse"},
      {CrashKind::JumpStackEmpty, "recurse_or_return"},
      {CrashKind::JumpStackEmpty, "call f return f: return"},
      {CrashKind::AssertionFailed, "push 0 assert halt"},
      {CrashKind::AssertionFailed, "push 2 assert error_id 12 halt"},
      {CrashKind::VectorAssertionFailed,
       "push 1 push 0 push 0 push 0 push 0 assert_vector error_id 44 halt"},
      {CrashKind::VectorAssertionFailed, "push 0 push 0 push 0 push 0 push 1 assert_vector halt"},
      {CrashKind::InverseOfZero, "push 0 invert halt"},
      {CrashKind::InverseOfZero, "push 0 push 0 push 0 x_invert halt"},
      {CrashKind::DivisionByZero, "push 0 push 5 div_mod halt"},
      {CrashKind::LogarithmOfZero, "push 0 log_2_floor halt"},
      {CrashKind::NotU32, "push 0 push 4294967296 div_mod halt"},
      {CrashKind::NotU32, "push 4294967296 push 1 lt halt"},
      {CrashKind::NotU32, "push 1 push 4294967296 and halt"},
      {CrashKind::NotU32, "push -1 push 1 xor halt"},
      {CrashKind::NotU32, "push -1 push 1 pow halt"},
      {CrashKind::NotU32, "push -1 pop_count halt"},
      {CrashKind::NotU32, "push -1 log_2_floor halt"},
      {CrashKind::NotU32, "push -1 push 1 push 2 push 3 push 4 push 5 merkle_step halt"},
      {CrashKind::NotU32, "push -1 push 1 push 2 push 3 push 4 push 5 merkle_step_mem halt"},
      {CrashKind::SpongeNotInitialized, "sponge_squeeze halt"},
      {CrashKind::SpongeNotInitialized, "sponge_absorb_mem halt"},
      {CrashKind::SpongeNotInitialized,
       "push 1 push 2 push 3 push 4 push 5 push 1 push 2 push 3 push 4 push 5 sponge_absorb halt"},
      {CrashKind::InputEmpty, "read_io 1 halt"},
      {CrashKind::InputEmpty, "// input: 1,2\nread_io 3 halt"},
      {CrashKind::InputEmpty, "// input: 1,2\nread_io 2 write_io 2 read_io 1 halt"},
      {CrashKind::SecretEmpty, "// secret: 1,2\ndivine 3 halt"},
      {CrashKind::DigestsEmpty, "push 1 push 2 push 3 push 4 push 5 merkle_step halt"},
      {CrashKind::Cycles, "// cycles: 100\ncall f f: recurse"},
      {CrashKind::Cycles, "// cycles: 0\nhalt"},
      {CrashKind::Cycles, "// cycles: 2\npush 1 nop halt"},
      {CrashKind::Cycles, "// cycles: 1000\ncall f f: push 1 call f"},
  };
  std::vector<std::string> texts;
  std::set<CrashKind> seen;
  for (const auto& [kind, text] : cases) texts.push_back(text);
  const std::vector<tasm::RunResult> runs = Compare(texts);
  for (size_t i = 0; i < runs.size(); ++i) {
    ASSERT_TRUE(runs[i].crash.has_value()) << texts[i];
    EXPECT_EQ(runs[i].crash->kind, cases[i].first) << texts[i] << ": " << runs[i].crash->sentence;
    seen.insert(runs[i].crash->kind);
  }
  // A pointer into RAM cannot be wrong, and memory is our own limit; all others are here.
  EXPECT_EQ(seen.size(), 14u);
}

TEST_F(Hand, DigestsAndWordsAgree) {
  const std::string text = "start: push -1 push 0 call start dup 15 halt";
  const oracle::Job job = JobOf(text);
  const Result<tasm::Digest> digest = session_.ProgramDigest(job.program);
  ASSERT_TRUE(digest.has_value()) << digest.error().ToString();
  EXPECT_EQ(*digest, tasm::ProgramDigest(job.program));
  const Result<std::vector<uint64_t>> words = session_.Assemble(text);
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(*words, tasm::Encode(job.program));
}

// The real machine's profiler counts what a call and its callees add; ours attributes each row to one label.
TEST_F(Hand, ProfileOfCallsAgrees) {
  const oracle::Job job = JobOf(
      "push 3 call f pop 1 halt f: dup 0 push 0 eq skiz return call g addi -1 recurse "
      "g: push 5 push 9 and pop 1 return");
  const Result<oracle::ProfileAnswer> theirs = session_.Profile(job);
  ASSERT_TRUE(theirs.has_value()) << theirs.error().ToString();
  const tasm::TraceResult ours = tasm::Trace(job.program, job.inputs);
  ASSERT_TRUE(theirs->answer.profile.has_value());
  EXPECT_EQ(*theirs->answer.profile, ours.profile);
  uint64_t processor = 0;
  for (const tasm::FunctionRows& function : ours.functions)
    processor += function.rows[tasm::Table::Processor];
  EXPECT_EQ(processor, ours.profile[tasm::Table::Processor]);
  // Lines of g are leaves: their sum is what we attribute to g.
  uint64_t theirs_g = 0;
  uint64_t ours_g = 0;
  for (const oracle::ProfileLine& line : theirs->lines)
    if (line.label == "g") theirs_g += line.rows[tasm::Table::OpStack];
  for (const tasm::FunctionRows& function : ours.functions)
    if (function.label == "g") ours_g = function.rows[tasm::Table::OpStack];
  EXPECT_EQ(theirs_g, ours_g);
  EXPECT_GT(ours_g, 0u);
}

TEST_F(Hand, BadRequestsAreAnsweredWithSentences) {
  const std::vector<std::string> lines = {
      "",  // skipped, and the next line is answered
      "nonsense",
      "{}",
      "[1,2]",
      R"({"do":"fly"})",
      R"({"do":"run"})",
      R"({"do":"run","code":"fly"})",
      R"({"do":"run","words":["3"]})",
      R"({"do":"run","words":["49","77"]})",
      R"({"do":"run","words":[-1]})",
      R"({"do":"run","code":"halt","input":["18446744069414584321"]})",
      R"({"do":"run","code":"halt","input":["x"]})",
      R"({"do":"run","code":"halt","digests":[["1"]]})",
      R"({"do":"run","code":"halt","ram":[["1"]]})",
      R"({"do":"trace","items":7})",
      R"({"do":"verify","file":"/nowhere/at/all"})",
      R"({"do":"prove","code":"halt","max_padded_height":16})",
      "\"\\ud800\"",
  };
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    const Result<std::string> answer = session_.Raw(line);
    ASSERT_TRUE(answer.has_value()) << line << ": " << answer.error().ToString();
    const bool told =
        answer->find("error") != std::string::npos || answer->find("crash") != std::string::npos;
    EXPECT_TRUE(told) << line << "\n" << *answer;
  }
  const Result<std::string> answer = session_.Raw(R"({"do":"run","code":"halt","id":5})");
  ASSERT_TRUE(answer.has_value());
  EXPECT_NE(answer->find("\"id\":5"), std::string::npos);
}

TEST(Client, MissingProgramIsASentence) {
  oracle::Session session(
      {.program = "/nowhere/frazil-oracle", .timeout = std::chrono::seconds(5)});
  const Result<oracle::Version> version = session.GetVersion();
  ASSERT_FALSE(version.has_value());
  EXPECT_EQ(ClassOf(version.error().diag), ErrorClass::Environment);
}

TEST(Client, SilentAndDyingProgramsAreErrors) {
  oracle::Session silent({.program = "/usr/bin/yes", .timeout = std::chrono::milliseconds(300)});
  EXPECT_FALSE(silent.GetVersion().has_value());  // answers that are no JSON
  oracle::Session dying({.program = "/bin/true", .timeout = std::chrono::seconds(5)});
  EXPECT_FALSE(dying.GetVersion().has_value());
  EXPECT_FALSE(dying.GetVersion().has_value());
}

TEST_F(Hand, TimeoutEndsTheProcessAndTheNextRequestWorks) {
  oracle::Session hasty({.program = "", .timeout = std::chrono::milliseconds(150)});
  const Result<tasm::RunResult> run = hasty.Run([] {
    oracle::Job job = JobOf("call f f: nop nop nop nop recurse");
    job.cycles = 1ull << 31;
    return job;
  }());
  ASSERT_FALSE(run.has_value());
  EXPECT_NE(run.error().message.find("150 ms"), std::string::npos);
  EXPECT_TRUE(session_.GetVersion().has_value());
}

}  // namespace
}  // namespace frazil::tests
