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
    const Answer itself = Compare(*program, *program, options);
    EXPECT_EQ(itself.kind, Answer::Kind::Proved) << original.name << ": " << itself.reason;
    for (const Mutant& mutant : mutants::Mutate(*program)) {
      const Answer answer = Compare(*program, mutant.program, options);
      const std::string name = fmt::format("{} {}", original.name, mutant.what);
      if (Equivalent().contains(name)) {
        ++same;
        EXPECT_NE(answer.kind, Answer::Kind::Refuted)
            << name << ": " << answer.counterexample->difference;
        continue;
      }
      // What never ends cannot be shown by a run; that it had not ended is said.
      if (answer.kind == Answer::Kind::Unknown &&
          answer.reason.find("had not ended") != std::string::npos) {
        ++endless;
        continue;
      }
      EXPECT_EQ(answer.kind, Answer::Kind::Refuted)
          << name << ": " << AnswerName(answer.kind) << " " << answer.reason;
      if (!answer.counterexample) continue;
      EXPECT_TRUE(Replays(*program, mutant.program, *answer.counterexample, original.fragment))
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
