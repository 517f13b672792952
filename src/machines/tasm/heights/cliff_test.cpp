// Cliff reports against what really happens to longer and shorter programs.
#include "machines/tasm/heights/cliff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace frazil::machines::tasm {
namespace {

Program Padded(int nops) {
  std::string text = "push 3 call f halt f: dup 0 push 0 eq skiz return addi -1 recurse\n";
  for (int i = 0; i < nops; ++i) text += i % 3 == 0 ? "mul " : i % 3 == 1 ? "hash " : "invert ";
  return *Parse(text);
}

CliffReport ReportOf(const Program& program) { return ExplainCliff(program, Trace(program, {})); }

TEST(Cliff, SavingThoseWordsCrossesIt) {
  for (const int nops : {35, 40, 75, 110, 200, 300}) {
    Program program = Padded(nops);
    const CliffReport report = ReportOf(program);
    ASSERT_GT(report.below, 0u) << nops;
    ASSERT_TRUE(report.words_to_save) << nops;
    ASSERT_GT(*report.words_to_save, 0u) << nops;
    ASSERT_LT(*report.words_to_save, static_cast<uint64_t>(nops)) << nops;
    // The tail consists of instructions of one word that never run.
    const TableProfile before = Trace(program, {}).profile;
    program.code.resize(program.code.size() - (*report.words_to_save - 1));
    EXPECT_EQ(Trace(program, {}).profile.PaddedHeight(), before.PaddedHeight()) << nops;
    program.code.pop_back();
    EXPECT_EQ(Trace(program, {}).profile.PaddedHeight(), report.below) << nops;
  }
}

TEST(Cliff, AddingWordsUpToTheNextOne) {
  Program program = *Parse("halt nop nop nop nop nop nop nop nop nop");
  const CliffReport report = ReportOf(program);
  EXPECT_EQ(report.padded, 256u);
  EXPECT_EQ(report.below, 0u);
  EXPECT_FALSE(report.words_to_save);
  EXPECT_EQ(report.Line(), fmt::format("at the lowest height, 2^8; words that can be added: {}",
                                       report.words_to_add));
  const std::vector<Instruction> original = program.code;
  for (uint64_t i = 0; i < report.words_to_add; ++i)
    program.code.push_back(original[i % original.size()]);
  EXPECT_EQ(Trace(program, {}).profile.PaddedHeight(), 256u);
  program.code.push_back(original[report.words_to_add % original.size()]);
  EXPECT_EQ(Trace(program, {}).profile.PaddedHeight(), 512u);
}

TEST(Cliff, NamesTablesAndPayers) {
  const Program program = *Parse(
      "push 600 call loop halt loop: call body dup 0 push 0 eq skiz return recurse "
      "body: addi -1 nop nop nop return");
  const CliffReport report = ReportOf(program);
  EXPECT_EQ(report.tables[0].table, Table::Processor);
  EXPECT_EQ(report.padded, 8192u);
  EXPECT_EQ(report.words_to_save, 0u);
  EXPECT_EQ(report.Line(),
            fmt::format("rows above 2^12: {} (processor)", report.tables[0].height - 4096));
  ASSERT_FALSE(report.tables[0].payers.empty());
  EXPECT_EQ(report.tables[0].payers[0].label, "loop");
  EXPECT_EQ(report.tables[0].payers[1].label, "body");
  double sum = 0;
  for (const CliffPayer& payer : report.tables[0].payers) sum += payer.rows;
  EXPECT_EQ(sum, static_cast<double>(report.tables[0].height));
  EXPECT_TRUE(report.tables.back().payers.empty());
}

TEST(Cliff, HashingNeverFits) {
  const Program program = *Parse(
      "push 300 call f halt f: push 1 push 2 push 3 push 4 push 5 push 6 push 7 push 8 "
      "push 9 push 10 hash pop 5 addi -1 dup 0 skiz recurse return");
  const CliffReport report = ReportOf(program);
  EXPECT_GT(report.padded, 256u);
  EXPECT_NE(report.Line().find("rows above 2^"), std::string::npos);
}

}  // namespace
}  // namespace frazil::machines::tasm
