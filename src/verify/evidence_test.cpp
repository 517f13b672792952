#include "verify/evidence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/text/text.h"

namespace frazil::verify {
namespace {

TEST(Evidence, EveryGradeAndFamilyHasAName) {
  for (int i = 0; i <= static_cast<int>(Grade::Proved); ++i)
    EXPECT_FALSE(GradeName(static_cast<Grade>(i)).empty()) << i;
  for (int i = 0; i <= static_cast<int>(Family::Routed); ++i)
    EXPECT_FALSE(FamilyName(static_cast<Family>(i)).empty()) << i;
}

TEST(Policy, GoesByTheFamilyOfTheProgram) {
  const auto family = [](const char* text) { return FamilyOf(*ir::ParseText(text)); };
  EXPECT_EQ(family("frz 1\nfunc @main(%a: i32) -> (i32) {\n return %a\n}"), Family::Exact);
  EXPECT_EQ(family("frz 1\nfunc @main(%a: field) -> (field) {\n return %a\n}"), Family::Exact);
  EXPECT_EQ(family("frz 1\nfunc @main(%a: buffer<f32>) {\n return\n}"), Family::Float);
  EXPECT_EQ(Policy::Of(Family::Exact).meaning, Grade::Proved);
  EXPECT_EQ(Policy::Of(Family::Float).meaning, Grade::Proved);
  EXPECT_EQ(Policy::Of(Family::Routed).meaning, Grade::Sampled);
  ASSERT_TRUE(Policy::Of(Family::Routed).meaning_bound);
}

// Samples admit a routed network only within its bound, and nothing else at all.
TEST(Policy, SamplesNeedABoundWhereTheyAreEnough) {
  EvidencePair evidence{{Grade::Sampled, "interpreter", "", 1000},
                        {Grade::Sampled, "interpreter", "", 1000}};
  const Policy routed = Policy::Of(Family::Routed);
  EXPECT_FALSE(Satisfies(evidence, routed));
  EXPECT_NE(WhyNotEnough(evidence, routed).find("bound"), std::string::npos);
  evidence.meaning.bound = SampledBound(1000, 2, 0.99);
  EXPECT_TRUE(Satisfies(evidence, routed));
  EXPECT_FALSE(Satisfies(evidence, Policy::Of(Family::Float)));
  evidence.meaning.bound = SampledBound(1000, 5, 0.99);
  EXPECT_FALSE(Satisfies(evidence, routed));
  evidence.meaning.bound = Bound{0.001, 0.9};
  EXPECT_FALSE(Satisfies(evidence, routed));
  evidence.meaning = {Grade::Exhaustive, "batch interpreter", "", 1000};
  EXPECT_TRUE(Satisfies(evidence, routed));
  evidence.lowering.grade = Grade::None;
  EXPECT_FALSE(Satisfies(evidence, routed));
}

// Without a mismatch the bound is the closed form; the others are from tables of the Clopper-Pearson interval.
TEST(Bound, IsExact) {
  for (const double confidence : {0.9, 0.95, 0.99})
    for (const uint64_t n : {1ull, 10ull, 459ull, 1'000'000ull})
      EXPECT_NEAR(SampledBound(n, 0, confidence).disagreement,
                  1 - std::pow(1 - confidence, 1.0 / static_cast<double>(n)), 1e-12);
  EXPECT_NEAR(SampledBound(10, 1, 0.95).disagreement, 0.39416, 1e-5);
  EXPECT_NEAR(SampledBound(20, 5, 0.975).disagreement, 0.49105, 1e-5);
  EXPECT_EQ(SampledBound(0, 0, 0.99).disagreement, 1);
  EXPECT_EQ(SampledBound(5, 5, 0.99).disagreement, 1);
}

}  // namespace
}  // namespace frazil::verify
