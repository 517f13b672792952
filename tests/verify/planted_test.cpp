// Wrong candidates, made from sound programs by changing one thing: every one is refuted, by a counterexample that
// shows the difference again when it is run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "verify/mutate.h"
#include "verify/sections.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

struct Counts {
  int wrong = 0;
  int equivalent = 0;
  int endless = 0;
  std::map<std::string, int> kinds;
};

verify::VerifyOptions Options() {
  verify::VerifyOptions options;
  options.limits.verify_ms = 20'000;
  options.smt = false;  // a counterexample has to be found without it
  return options;
}

// Some changes are none: those must be proved equal, and are counted apart.
void Judge(const std::string& name, const ir::Program& source, const Mutant& mutant,
           Counts& counts) {
  ir::Candidate candidate;
  candidate.program = mutant.program;
  const auto verdict = verify::Verify(source, candidate, Options());
  ASSERT_TRUE(verdict.has_value()) << name << ": " << verdict.error().ToString();
  const std::string label = fmt::format("{}, {}: {}", name, mutant.kind, mutant.what);
  if (const auto* refuted = std::get_if<verify::Refuted>(&*verdict)) {
    counts.wrong += 1;
    counts.kinds[mutant.kind] += 1;
    EXPECT_EQ(Reproduce(source, mutant.program, {}, refuted->call()), "") << label;
    return;
  }
  // No counterexample shows that a loop never ends; that much is Unknown, with the limit's name.
  if (const auto* unknown = std::get_if<verify::Unknown>(&*verdict);
      unknown && unknown->reason.find("--fuel") != std::string::npos) {
    counts.endless += 1;
    return;
  }
  counts.equivalent += 1;
  EXPECT_TRUE(std::holds_alternative<verify::Proved>(*verdict))
      << label << " is " << verify::Describe(*verdict);
}

TEST(Planted, EveryOneIsRefuted) {
  Counts counts;
  const std::vector<Section> bases = ReadSections(FRAZIL_VERIFY_DATA "/bases.txt");
  EXPECT_GE(bases.size(), 25u);
  for (const Section& base : bases) {
    const ir::Program source = MustParse(base.name, base.text);
    for (const Mutant& mutant : MutantsOf(source)) Judge(base.name, source, mutant, counts);
  }
  EXPECT_GE(counts.wrong, 400);
  EXPECT_LE(counts.endless, 5);
  for (const char* kind :
       {"op", "constant", "order", "width", "bound", "trap", "rounding", "index", "effect"})
    EXPECT_GE(counts.kinds[kind], 5) << kind;
  fmt::print(
      "{} base programs, {} wrong candidates refuted, {} unknown because they never end, {} "
      "changes proved to be none\n",
      bases.size(), counts.wrong, counts.endless, counts.equivalent);
  for (const auto& [kind, count] : counts.kinds) fmt::print("  {:<9} {}\n", kind, count);
}

// A candidate that is right under one guard and wrong under others.
TEST(Planted, WrongGuardsAreRefuted) {
  int wrong = 0;
  for (const Section& section : ReadSections(FRAZIL_VERIFY_DATA "/guards.txt")) {
    const GuardedPair pair = ReadGuardedPair(section);
    auto judge = [&](const std::string& text, bool sound) {
      ir::Candidate candidate;
      candidate.program = pair.candidate;
      const auto guard = ir::ParseGuard(text, pair.source);
      ASSERT_TRUE(guard.has_value())
          << section.name << ": " << text << ": " << guard.error().ToString();
      candidate.guard = *guard;
      const auto verdict = verify::Verify(pair.source, candidate, Options());
      ASSERT_TRUE(verdict.has_value()) << section.name << ": " << verdict.error().ToString();
      const auto* refuted = std::get_if<verify::Refuted>(&*verdict);
      EXPECT_EQ(refuted == nullptr, sound)
          << section.name << " under " << text << " is " << verify::Describe(*verdict);
      if (sound)
        EXPECT_FALSE(std::holds_alternative<verify::Unknown>(*verdict))
            << section.name << ": " << verify::Describe(*verdict);
      if (sound || refuted == nullptr) return;
      wrong += 1;
      EXPECT_EQ(Reproduce(pair.source, pair.candidate, *guard, refuted->call()), "")
          << section.name << " under " << text;
    };
    for (const std::string& text : pair.sound_guards) judge(text, true);
    for (const std::string& text : pair.wrong_guards) judge(text, false);
  }
  EXPECT_GE(wrong, 25);
  fmt::print("{} wrong guards refuted\n", wrong);
}

}  // namespace
}  // namespace frazil::tests
