// The canonicalizer ends, is its own fixed point, and changes no outcome.
#include "optimize/reduce.h"

#include <gtest/gtest.h>

#include "generator/generator.h"
#include "optimize/pipeline.h"
#include "optimize/test_same.h"

namespace frazil::optimize {
namespace {

TEST(Reduce, EveryRuleInUseMakesTermsLighter) {
  size_t used = 0;
  for (const DirectedRule& rule : RuleSet::Unproved().rules) {
    if (!MakesLighter(rule)) continue;
    ++used;
    EXPECT_LT(WeightOf(rule.to()), WeightOf(rule.from())) << rule.rule->row->name;
  }
  EXPECT_GT(used, 80u);
}

TEST(Reduce, IsItsOwnFixedPoint) {
  int changed = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed;
    options.size = 8 + static_cast<uint32_t>(seed % 24);
    options.allow_tensors = seed % 8 == 0;
    if (seed % 2 == 0) options.types = ir::sets::Fixed;
    const ir::Program source = generator::Generate(options);
    Unit once = MakeUnit(source);
    Proof proof;
    ASSERT_TRUE(Clean(once, proof));
    changed += proof.certificate().equalities.empty() ? 0 : 1;
    EXPECT_LE(WeightOf(once.program), WeightOf(source));
    const ir::Program canonical = once.program;
    Unit twice = MakeUnit(canonical);
    Proof nothing;
    ASSERT_TRUE(Clean(twice, nothing));
    ASSERT_EQ(ir::PrintText(twice.program), ir::PrintText(canonical)) << "seed " << seed;
    ASSERT_TRUE(nothing.certificate().equalities.empty());
    if (seed % 2 == 0) {
      ASSERT_EQ(Compare(source, canonical, seed, 1), "");
    }
  }
  EXPECT_GT(changed, 200);
}

}  // namespace
}  // namespace frazil::optimize
