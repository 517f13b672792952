// What a fusion makes of tensor ops is proved; what traps elsewhere or is not known to be in bounds is not.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "verify/tensors/test_pairs.h"
#include "verify/verify.h"

namespace frazil::verify::tensors {
namespace {

TEST(TensorForms, FusedProgramsAreProved) {
  for (const TestPair& pair : TestPairs()) {
    const ir::Program source = TestProgram(pair.head, pair.source);
    const ir::Program candidate = TestProgram(pair.head, pair.candidate);
    EXPECT_EQ(Judged(source, candidate), "proved") << pair.name;
    EXPECT_EQ(Judged(candidate, source), "proved") << pair.name << ", the other way";
    const Result<Verdict> verdict = Verify(source, {candidate, {}, {}, "test"});
    ASSERT_TRUE(verdict) << pair.name;
    EXPECT_TRUE(std::holds_alternative<Proved>(*verdict)) << pair.name << Describe(*verdict);
  }
}

}  // namespace
}  // namespace frazil::verify::tensors
