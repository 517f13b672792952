// Random graphs of tensor ops, in which most things can be fused: the interpreter must see no difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "exec/meaning/test_lowering.h"
#include "generator/tensor_graph.h"
#include "ir/lower/lower.h"
#include "optimize/fusion/fusion.h"
#include "optimize/optimize.h"
#include "optimize/test_same.h"

namespace frazil::optimize {
namespace {

// FRAZIL_PROGRAMS=20000 for a long run.
uint64_t Programs(uint64_t usual) {
  const char* wanted = std::getenv("FRAZIL_PROGRAMS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : usual;
}

TEST(FusionRandom, ChangesNoOutcome) {
  int offered = 0;
  for (uint64_t seed = 0; seed < Programs(2000); ++seed) {
    const ir::Program source = generator::GenerateTensorGraph({.seed = seed});
    ASSERT_TRUE(ir::Check(source)) << ir::Check(source).error().ToString() << ir::PrintText(source);
    Unit unit = MakeUnit(source);
    Result<bool> changed = FuseTensors(unit);
    ASSERT_TRUE(changed) << changed.error().ToString();
    ASSERT_EQ(Compare(source, unit.program, seed, 2), "");
    Result<std::optional<ir::Candidate>> candidate = FusedCandidate(source);
    ASSERT_TRUE(candidate) << candidate.error().ToString();
    if (!candidate->has_value()) continue;
    ++offered;
    ASSERT_EQ(Compare(source, (*candidate)->program, seed, 3), "");
    // And as loops.
    const auto make = [&] { return exec::RandomArguments(source, seed); };
    const exec::RunContext context = exec::RandomContext(source, seed);
    const auto meant = exec::RunSource(source, make, context);
    for (const ir::Program* program : {&std::as_const((*candidate)->program), &source})
      for (ir::Folds folds : {ir::Folds::Expand, ir::Folds::KeepRows}) {
        Result<ir::Program> lowered = ir::LowerTensors(*program, folds);
        ASSERT_TRUE(lowered) << lowered.error().ToString();
        ASSERT_TRUE(ir::Check(*lowered)) << ir::Check(*lowered).error().ToString();
        ASSERT_EQ(exec::Difference(meant, exec::RunLowered(source, *lowered, make, context)), "")
            << "seed " << seed << "\n"
            << ir::PrintText(*program);
      }
  }
  EXPECT_GT(offered, static_cast<int>(Programs(2000) / 2));
}

}  // namespace
}  // namespace frazil::optimize
