// Every pass alone and the pipeline on random programs: the interpreter must see no difference.
#include <gtest/gtest.h>

#include <cstdlib>

#include "generator/generator.h"
#include "optimize/dead.h"
#include "optimize/motion.h"
#include "optimize/optimize.h"
#include "optimize/simplify.h"
#include "optimize/test_same.h"

namespace frazil::optimize {
namespace {

// FRAZIL_PROGRAMS=20000 for a long run.
uint64_t Programs(uint64_t usual) {
  const char* wanted = std::getenv("FRAZIL_PROGRAMS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : usual;
}

ir::Program RandomProgram(uint64_t seed) {
  generator::GeneratorOptions options;
  options.seed = seed;
  options.size = 8 + static_cast<uint32_t>(seed % 32);
  options.allow_tensors = seed % 4 == 0;
  if (seed % 3 == 0) options.types = ir::sets::Fixed;
  return generator::Generate(options);
}

using UnitPass = Result<bool> (*)(Unit&);

class OnePass : public testing::TestWithParam<std::pair<const char*, UnitPass>> {};

TEST_P(OnePass, ChangesNoOutcome) {
  int changed = 0;
  for (uint64_t seed = 0; seed < Programs(700); ++seed) {
    ir::Program source = RandomProgram(seed);
    Unit unit = MakeUnit(source);
    Result<bool> result = GetParam().second(unit);
    ASSERT_TRUE(result) << result.error().ToString();
    changed += *result ? 1 : 0;
    std::string difference = Compare(source, unit.program, seed, 2);
    ASSERT_EQ(difference, "");
  }
  EXPECT_GT(changed, 100) << "the pass has had next to nothing to do";
}

INSTANTIATE_TEST_SUITE_P(
    Passes, OnePass,
    testing::Values(
        std::pair<const char*, UnitPass>{"Dead", [](Unit& unit) { return RemoveDead(unit); }},
        std::pair<const char*, UnitPass>{"Motion", MoveInvariants},
        std::pair<const char*, UnitPass>{"Simplify", [](Unit& unit) { return Simplify(unit); }}),
    [](const auto& info) { return std::string(info.param.first); });

TEST(Pipeline, ChangesNoOutcomeAndCostsNoMore) {
  for (uint64_t seed = 0; seed < Programs(1500); ++seed) {
    ir::Program source = RandomProgram(seed + 1'000'000);
    Result<ir::Candidate> candidate = Optimize(source);
    ASSERT_TRUE(candidate) << candidate.error().ToString();
    ASSERT_EQ(Compare(source, candidate->program, seed, 2), "");
    ASSERT_LE(StaticCost(candidate->program), StaticCost(source));
  }
}

}  // namespace
}  // namespace frazil::optimize
