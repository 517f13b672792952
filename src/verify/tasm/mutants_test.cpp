// Correct programs with one thing wrong: every mutant that can be told from its program is refuted by a counterexample
// that replays; unknown are only those that do not end. Mutants that mean the same are listed with the reason.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/test_counts.h"
#include "verify/tasm/tasm.h"
#include "verify/tasm/test_mutants.h"

namespace frazil::verify::tasm {
namespace {

using mutants::Mutant;
using mutants::Original;
using mutants::Originals;

// Mutants that mean the same, each looked at.
const std::set<std::string>& Equivalent() {
  static const std::set<std::string> all = {
#include "verify/tasm/equivalent_mutants.inc"
  };
  return all;
}

TEST(TasmMutants, EveryWrongOneIsRefuted) {
  uint64_t refuted = 0, same = 0, endless = 0;
  for (const Original& original : Originals) {
    auto program = mt::Parse(original.text);
    ASSERT_TRUE(program.has_value()) << original.name << program.error().ToString();
    Options options;
    options.fragments = original.fragment;
    // What never ends comes to this limit before it is given up.
    if (TestScale() == 1) options.steps = 20'000;
    const Verdict itself = Compare(*program, *program, options);
    EXPECT_EQ(VerdictName(itself), "proved") << original.name << ": " << Describe(itself);
    for (const Mutant& mutant : mutants::Mutate(*program)) {
      const Verdict answer = Compare(*program, mutant.program, options);
      const std::string name = fmt::format("{} {}", original.name, mutant.what);
      if (Equivalent().contains(name)) {
        ++same;
        EXPECT_NE(VerdictName(answer), "refuted") << name << ": " << Describe(answer);
        continue;
      }
      // What never ends cannot be shown by a run; that it had not ended is said.
      if (std::holds_alternative<Unknown>(answer) &&
          WhyNot(answer).find("had not ended") != std::string::npos) {
        ++endless;
        continue;
      }
      EXPECT_EQ(VerdictName(answer), "refuted") << name << ": " << Describe(answer);
      if (!std::holds_alternative<Refuted>(answer)) continue;
      EXPECT_TRUE(
          Replays(*program, mutant.program, std::get<Refuted>(answer).start(), original.fragment))
          << name;
      ++refuted;
    }
  }
  EXPECT_GE(refuted, 780u);
  EXPECT_LE(endless, 60u);
  RecordProperty("refuted", static_cast<int>(refuted));
  RecordProperty("endless", static_cast<int>(endless));
  RecordProperty("same", static_cast<int>(same));
}

}  // namespace
}  // namespace frazil::verify::tasm
