// Random programs: what the elaborator makes, run by the interpreter, against the evaluator of the tree. Outputs are equal
// up to the end or to the trap, and both trap or none does.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/test_counts.h"
#include "evaluator.h"
#include "everywhere.h"
#include "exec/meaning/interpreter.h"
#include "frontends/trident/trident.h"
#include "generator.h"

namespace frazil::tests::trident {
namespace {

struct Tally {
  size_t ended = 0, crashed = 0;
};

void Compare(uint64_t seed, Tally* tally) {
  const std::string text = Generator(seed).Program();
  std::vector<Error> errors;
  auto package =
      tri::Load(text, "random.tri", [](std::string_view) { return std::nullopt; }, &errors);
  ASSERT_TRUE(package) << "seed " << seed << ": " << package.error().ToString() << "\n" << text;
  auto built = tri::Build(*package, {}, &errors);
  ASSERT_TRUE(built) << "seed " << seed << ": " << built.error().ToString() << "\n" << text;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2; ++round) {
    std::vector<uint64_t> input, secret;
    exec::RunContext context;
    for (int i = 0; i < 400; ++i) {
      const uint64_t word = random() % 8 != 0 ? random() % 12 : random() % P;
      input.push_back(word);
      context.input.push_back(exec::Value::Word(ir::types::Field, word));
      secret.push_back(word + 1 < P ? word + 1 : 0);
      context.hints.push_back(exec::Value::Word(ir::types::Field, secret.back()));
    }
    std::vector<exec::Value> arguments;
    if (built->program.entry_function().param_count() == 1)
      arguments.push_back(exec::Value::Buffer(std::make_shared<exec::Memory>(ir::types::Field, 8)));
    auto outcome = exec::Interpret(built->program, arguments, context);
    ASSERT_TRUE(outcome) << "seed " << seed << ": " << outcome.error().ToString();
    const EvalResult expected = Evaluator(*package->modules.back(), input, secret, 8).Run();
    std::vector<uint64_t> output;
    for (const exec::Value& value : outcome->output) output.push_back(value.word);
    ASSERT_EQ(outcome->trap.has_value(), expected.crashed)
        << "seed " << seed << (outcome->trap ? outcome->trap->ToString() : "") << "\n"
        << text;
    ASSERT_EQ(output, expected.output) << "seed " << seed << "\n" << text;
    ++(expected.crashed ? tally->crashed : tally->ended);
  }
}

// The same programs where they are lowered: on Triton VM by either way and profile, and natively.
TEST(RandomLowered, AgreesWithTheEvaluator) {
  const uint64_t count = 400 * TestScale(), begin = TestSeed(1'000'000);
  size_t ended = 0;
  for (uint64_t seed = begin; seed < begin + count && !HasFailure(); ++seed) {
    const std::string text = Generator(seed).Program();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const std::optional<ir::Program> program = BuildText(text);
    ASSERT_TRUE(program);
    std::vector<Error> errors;
    const auto nothing = [](std::string_view) { return std::nullopt; };
    const auto package = tri::Load(text, "random.tri", nothing, &errors);
    std::mt19937_64 random(seed);
    Streams streams;
    std::vector<uint64_t> secret;
    for (int i = 0; i < 400; ++i) {
      streams.input.push_back(random() % 8 != 0 ? random() % 12 : random() % P);
      secret.push_back(random() % 3 != 0 ? random() % 12 : random() % P);
      AddWord(secret.back(), &streams);
    }
    const EvalResult expected = Evaluator(*package->modules.back(), streams.input, secret, 8).Run();
    const Where where = {.native = seed % 6 == 0,
                         .horner = seed % 4 == 1,
                         .typical = seed % 4 == 3 ? &streams : nullptr};
    Everywhere(*program, where).Expect(streams, {expected.output, expected.crashed});
    ended += !expected.crashed;
  }
  EXPECT_GT(ended, count / 4);
}

TEST(RandomPrograms, AgreeWithTheEvaluator) {
  const uint64_t count = 3000 * TestScale(), begin = TestSeed(1);
  Tally tally;
  for (uint64_t seed = begin; seed < begin + count && !HasFatalFailure(); ++seed)
    Compare(seed, &tally);
  // Both kinds of end are really met.
  EXPECT_GT(tally.ended, count / 4);
  EXPECT_GT(tally.crashed, count / 20);
  RecordProperty("ended", static_cast<int>(tally.ended));
  RecordProperty("crashed", static_cast<int>(tally.crashed));
}

}  // namespace
}  // namespace frazil::tests::trident
