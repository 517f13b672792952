// Real programs: those that come with the published machine, among them the twenty thousand instructions by which a
// recursive verifier evaluates its constraints. Our assembler must make the same words of their text.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "compare.h"
#include "machines/tasm/tip5/tip5.h"
#include "oracle_fixture.h"

namespace frazil::tests {
namespace {

namespace tasm = machines::tasm;

constexpr uint64_t P = 0xffffffff00000001;

tasm::Inputs Reads(std::vector<uint64_t> input) {
  tasm::Inputs inputs;
  inputs.input = std::move(input);
  return inputs;
}

class Real : public OracleTest {
 protected:
  void SetUp() override {
    OracleTest::SetUp();
    if (IsSkipped() || HasFatalFailure() || !programs_.empty()) return;
    const Result<std::vector<oracle::Example>> examples = session_.Examples();
    ASSERT_TRUE(examples.has_value()) << examples.error().ToString();
    ASSERT_EQ(examples->size(), 9u);
    for (const oracle::Example& example : *examples) {
      const Result<tasm::Program> program =
          tasm::Parse(example.text, tasm::Profile::Dot, example.name);
      ASSERT_TRUE(program.has_value()) << program.error().ToString();
      const Result<std::vector<uint64_t>> words = session_.Assemble(example.text);
      ASSERT_TRUE(words.has_value()) << words.error().ToString();
      EXPECT_EQ(*words, tasm::Encode(*program)) << example.name;
      programs_[example.name] = *program;
    }
  }

  void Add(const std::string& name, tasm::Inputs inputs) {
    jobs_.push_back({programs_[name], std::move(inputs)});
  }
  Comparison Compare() {
    Comparison comparison;
    const Result<void> compared = CompareAll(session_, jobs_, {}, comparison);
    EXPECT_TRUE(compared.has_value()) << compared.error().ToString();
    for (const std::string& difference : comparison.differences)
      ADD_FAILURE() << difference.substr(0, 4000);
    return comparison;
  }

  static inline std::map<std::string, tasm::Program> programs_;  // read once
  std::vector<oracle::Job> jobs_;
};

TEST_F(Real, ExamplesFinish) {
  for (const uint64_t n : {0u, 1u, 2u, 90u, 500u}) Add("fibonacci", Reads({n}));
  for (const uint64_t n : {1u, 12u, 1071u, 0xffffffffu}) Add("gcd", Reads({n, 462}));
  Add("many u32", {});
  Add("mmr peaks", {});
  // The rows of a Latin square by shifts of three and one are a valid sudoku.
  tasm::Inputs sudoku;
  for (uint64_t row = 0; row < 9; ++row)
    for (uint64_t column = 0; column < 9; ++column)
      sudoku.input.push_back((3 * (row % 3) + row / 3 + column) % 9 + 1);
  Add("sudoku", sudoku);
  const Comparison comparison = Compare();
  EXPECT_EQ(comparison.finished, comparison.programs);
}

TEST_F(Real, ExamplesCrashAlike) {
  tasm::Inputs sudoku;
  sudoku.input.assign(81, 5);
  Add("sudoku", sudoku);
  std::mt19937_64 random(3);
  for (int i = 0; i < 20; ++i) {
    tasm::Inputs inputs;
    for (int k = 0; k < 200; ++k) inputs.input.push_back(random() % (i % 2 == 0 ? 10 : P));
    inputs.secret = inputs.input;
    for (uint64_t k = 0; k < 100; ++k) inputs.ram[k] = random() % P;
    for (const auto& [name, program] : programs_)
      if (program.code.size() < 1000) Add(name, inputs);
  }
  for (oracle::Job& job : jobs_) job.cycles = 20'000;
  EXPECT_GT(Compare().crashes.size(), 2u);
}

// A tree of four leaves: three paths are verified, then one leaf is changed.
TEST_F(Real, MerkleProgramsFinish) {
  const auto leaf = [](uint64_t i) { return tasm::Digest{i, i + 1, i * i, 7, P - 1 - i}; };
  const tasm::Digest left = tasm::HashPair(leaf(0), leaf(1));
  const tasm::Digest right = tasm::HashPair(leaf(2), leaf(3));
  const tasm::Digest root = tasm::HashPair(left, right);
  const auto read = [](tasm::Inputs& inputs, const tasm::Digest& digest) {
    for (size_t i = 5; i-- > 0;) inputs.input.push_back(digest[i]);
  };
  tasm::Inputs update = Reads({1000, 2, 2});
  read(update, leaf(2));
  read(update, root);
  read(update, leaf(9));
  for (uint64_t i = 0; i < 5; ++i) {
    update.ram[1000 + i] = leaf(3)[i];
    update.ram[1005 + i] = left[i];
  }
  Add("merkle update", update);
  EXPECT_EQ(Compare().finished, 1u);
  const tasm::RunResult run = tasm::Run(programs_["merkle update"], update);
  const tasm::Digest expected = tasm::HashPair(left, tasm::HashPair(leaf(9), leaf(3)));
  EXPECT_EQ(run.output, std::vector<uint64_t>(expected.begin(), expected.end()));
}

TEST_F(Real, ConstraintEvaluationFinishes) {
  tasm::Inputs inputs;
  std::mt19937_64 random(4);
  for (uint64_t page = 2; page <= 6; ++page)
    for (uint64_t i = 0; i < 1500; ++i) inputs.ram[(page << 32) + i] = random() % P;
  Add("constraints", inputs);
  Add("constraints by pointers", inputs);
  const Comparison comparison = Compare();
  EXPECT_EQ(comparison.finished, 2u);
  EXPECT_GT(comparison.cycles, 20'000u);
}

}  // namespace
}  // namespace frazil::tests
