// Random programs: each becomes a plan that is proved, and the plan, run by the interpreter on plain memory, answers as the program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "graphs.h"
#include "ir/text/text.h"
#include "optimize/calls/cut.h"
#include "plan_meaning.h"
#include "verify/plans/plans.h"

namespace frazil::plans_test {
namespace {

// FRAZIL_PROGRAMS=20000 for a long run.
uint64_t Programs(uint64_t usual) {
  const char* wanted = std::getenv("FRAZIL_PROGRAMS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : usual;
}

TEST(RandomPlans, AreProvedAndAnswerAsTheirPrograms) {
  uint64_t programs = 0, steps = 0, forms = 0, unproved = 0;
  std::map<std::string, int> reasons;
  for (uint64_t seed = 0; seed < Programs(300); ++seed) {
    const ir::Program program = RandomGraph(seed);
    const auto expected = exec::Interpret(program, exec::RandomArguments(program, seed));
    ASSERT_TRUE(expected) << expected.error().message;
    for (const optimize::CutWay way : optimize::CutWays) {
      const auto cut = optimize::CutIntoCalls(program, way);
      if (!cut) {
        ++reasons[cut.error().message];
        continue;
      }
      ++programs;
      steps += cut->plan.steps.size();
      forms += cut->plan.forms.size();
      const verify::Verdict verdict = verify::VerifyPlan(cut->program, cut->plan);
      if (verify::VerdictName(verdict) != "proved") {
        ++unproved;
        ++reasons[verify::Describe(verdict)];
        if (std::getenv("FRAZIL_SHOW") != nullptr)
          std::printf("seed %lu way %d %s\n%s\n%s\n", static_cast<unsigned long>(seed),
                      static_cast<int>(way), verify::Describe(verdict).c_str(),
                      ir::PrintText(cut->program).c_str(), exec::PrintPlan(cut->plan).c_str());
      }
      const auto found = RunPlan(cut->program, cut->plan, exec::RandomArguments(program, seed));
      ASSERT_TRUE(found) << "seed " << seed << "\n" << exec::PrintPlan(cut->plan);
      ASSERT_EQ(found->trap, expected->trap) << "seed " << seed;
      ASSERT_EQ(found->results, expected->results)
          << "seed " << seed << "\n"
          << ir::PrintText(program) << exec::PrintPlan(cut->plan);
    }
  }
  for (const auto& [reason, count] : reasons) std::printf("%d: %s\n", count, reason.c_str());
  std::printf("%lu plans, %lu steps, %lu forms, %lu not proved\n",
              static_cast<unsigned long>(programs), static_cast<unsigned long>(steps),
              static_cast<unsigned long>(forms), static_cast<unsigned long>(unproved));
  // Tensors without elements, and what fusion's own simplifying made another value of the same bits.
  EXPECT_LE(unproved * 25, programs) << "nearly all are proved";
}

}  // namespace
}  // namespace frazil::plans_test
