// Random programs: what passes leave equal is never refuted; what is changed is refuted with a counterexample that
// shows again, or, if it is proved equal, stays equal on inputs that the verifier did not choose.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/test_counts.h"
#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "ir/digest.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"
#include "verify/mutate.h"
#include "verify/sections.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

verify::VerifyOptions Quick() {
  verify::VerifyOptions options;
  options.sample_lanes = 512;
  options.exhaustive_cases = 1 << 16;
  options.limits.verify_ms = 2'000;
  options.smt = false;
  return options;
}

ir::Program Random(uint64_t seed) {
  return generator::Generate({.seed = seed,
                              .size = static_cast<uint32_t>(4 + seed % 9),
                              .allow_tensors = seed % 4 == 0,
                              .allow_buffers = seed % 3 != 0});
}

TEST(RandomPrograms, PassesAreNeverRefuted) {
  uint64_t proved = 0;
  const uint64_t count = 150 * TestScale(), begin = TestSeed(1);
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    const ir::Program source = Random(seed);
    ir::Candidate candidate;
    candidate.program = seed % 2 == 0 ? ir::Canonicalize(source) : *ir::ExpandPrelude(source);
    const auto verdict = verify::Verify(source, candidate, Quick());
    ASSERT_TRUE(verdict.has_value()) << seed << ": " << verdict.error().ToString();
    EXPECT_FALSE(std::holds_alternative<verify::Refuted>(*verdict))
        << seed << ": " << verify::Describe(*verdict) << "\n"
        << ir::PrintText(source);
    proved += std::holds_alternative<verify::Proved>(*verdict) ? 1 : 0;
  }
  EXPECT_GE(proved, count / 2);
}

// A counterexample that claims to be one, made from inputs of the generator.
std::string FindDifference(const ir::Program& source, const ir::Program& candidate, uint64_t seed) {
  for (uint64_t i = 0; i < 200; ++i) {
    verify::ProgramCall claim;
    claim.arguments = exec::RandomArguments(source, seed * 1000 + i);
    claim.context = exec::RandomContext(source, seed * 1000 + i);
    claim.context.limits.fuel = 100'000;
    claim.context.limits.run_ms = 200;
    const std::string same = Reproduce(source, candidate, {}, claim);
    if (same.empty()) return fmt::format("inputs of seed {}", seed * 1000 + i);
  }
  return {};
}

TEST(RandomPrograms, VerdictsOnChangesAreTrue) {
  uint64_t refuted_count = 0;
  uint64_t proved_count = 0;
  const uint64_t count = 120 * TestScale(), begin = TestSeed(1);
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    const ir::Program source = Random(seed + 5000);
    const std::vector<Mutant> mutants = MutantsOf(source);
    for (size_t pick = 0; pick < 3 && !mutants.empty(); ++pick) {
      const Mutant& mutant = mutants[(seed * 7919 + pick * 104729) % mutants.size()];
      ir::Candidate candidate;
      candidate.program = mutant.program;
      const auto verdict = verify::Verify(source, candidate, Quick());
      ASSERT_TRUE(verdict.has_value()) << seed << ": " << verdict.error().ToString();
      if (const auto* refuted = std::get_if<verify::Refuted>(&*verdict)) {
        refuted_count += 1;
        EXPECT_EQ(Reproduce(source, mutant.program, {}, refuted->call()), "")
            << seed << ": " << mutant.what;
      } else if (std::holds_alternative<verify::Proved>(*verdict)) {
        proved_count += 1;
        EXPECT_EQ(FindDifference(source, mutant.program, seed), "")
            << seed << ": " << mutant.what << " " << verify::Describe(*verdict) << "\n"
            << ir::PrintText(source);
      }
    }
  }
  EXPECT_GE(refuted_count, count / 6);
  EXPECT_GE(proved_count, count / 24);
  fmt::print("{} refuted, {} proved\n", refuted_count, proved_count);
}

}  // namespace
}  // namespace frazil::tests
