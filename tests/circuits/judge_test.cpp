// Normal forms before the judges of meaning: under the guard that comes with them they are proved, under less of it and with
// wrong rules they are not.
#include <gtest/gtest.h>

#include "base/test_counts.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "optimize/normalize/normalize_state.h"
#include "random_circuit.h"
#include "verify/internal/passes.h"
#include "verify/verify.h"

namespace frazil {
namespace {

namespace circuits = frontends::circuits;
using namespace test_circuits;

std::string RandomText(Random& random, const std::vector<std::string>& alphabet, size_t most) {
  std::string text;
  for (size_t i = 0, ops = 2 + random.Below(most - 1); i < ops; ++i)
    text += (i == 0 ? "" : " . ") + alphabet[random.Below(alphabet.size())];
  return text;
}

verify::VerifyOptions Quick() {
  verify::VerifyOptions options;
  options.sample_lanes = 256;
  options.limits.verify_ms = 2'000;
  options.smt = false;
  return options;
}

bool IsProved(const ir::Program& source, const ir::Candidate& candidate) {
  const Result<verify::Verdict> verdict = verify::Verify(source, candidate, Quick());
  EXPECT_TRUE(verdict);
  return verdict && std::holds_alternative<verify::Proved>(*verdict);
}

struct Tally {
  int all = 0, proved = 0;
};

// Every random normal form is proved under its guard, and under no guard with one atom less.
TEST(NormalFormsBeforeTheJudge, AreProved) {
  const std::vector<std::string> floats =
      Alphabet(4, {"merge.add", "merge.mul", "merge.max", "split.sub", "split.div"},
               {"merge.abs", "merge.sqrt", "merge.exp"}, {"reduce.sum", "reduce.max"});
  const std::vector<std::string> integers =
      Alphabet(4, {"merge.add", "merge.mul", "merge.min", "split.sub"}, {}, {"reduce.sum"});
  Random random(11);
  Tally tally;
  int needed = 0, weakened = 0, rows = 0;
  const int count = static_cast<int>(600 * TestScale());
  for (int i = 0; i < count; ++i) {
    circuits::CircuitOptions options;
    const bool is_integer = i % 3 == 2;
    if (is_integer) options.element = i % 2 == 0 ? ir::types::I32 : ir::types::U8;
    const std::string text = RandomText(random, is_integer ? integers : floats, 9);
    const Result<ir::Program> source = circuits::ParseCircuit(text, options);
    ASSERT_TRUE(source) << text;
    const Result<ir::Candidate> candidate = optimize::NormalCandidate(*source);
    ASSERT_TRUE(candidate) << text << ": " << candidate.error().ToString();
    if (ir::ExactDigest(candidate->program) == ir::ExactDigest(*source)) continue;
    if (optimize::WorkPerElement(candidate->program).bytes >=
        optimize::WorkPerElement(*source).bytes)
      continue;  // no proposal
    // A reduction over what no slot keeps needs a row of its own: more scratch than the source takes.
    const verify::Verdict passes =
        verify::PassesJudge(*source, candidate->program, candidate->guard);
    if (const auto* unknown = std::get_if<verify::Unknown>(&passes);
        unknown != nullptr && unknown->reason.find("more passes or rows") != std::string::npos) {
      ++rows;
      continue;
    }
    ++tally.all;
    const bool proved = IsProved(*source, *candidate);
    EXPECT_TRUE(proved) << text << "\n"
                        << ir::PrintGuard(candidate->guard) << "\n"
                        << ir::PrintText(candidate->program);
    tally.proved += proved ? 1 : 0;
    if (i % 10 != 0) continue;
    for (size_t k = 0; k < candidate->guard.atoms.size(); ++k) {
      ir::Candidate weak = *candidate;
      weak.guard.atoms.erase(weak.guard.atoms.begin() + static_cast<ptrdiff_t>(k));
      ++weakened;
      needed += IsProved(*source, weak) ? 0 : 1;
    }
  }
  printf("%d of %d normal forms proved, %d of %d atoms needed\n", tally.proved, tally.all, needed,
         weakened);
  EXPECT_GT(tally.all, count / 2);
  EXPECT_LT(rows, count / 10);
  EXPECT_GT(needed, weakened * 9 / 10);
}

// Wrong rules, planted in the normalizer: what they change is never proved.
TEST(NormalFormsBeforeTheJudge, PlantedWrongRulesAreNotProved) {
  constexpr ir::ScalarSet Numbers = ir::sets::Fixed | ir::sets::Float;
  const ir::RuleRow planted[] = {
      {"wrong_abs", "(abs a)", "a", Numbers, ""},
      {"wrong_sub", "(sub a b)", "(add a b)", Numbers, ""},
      {"wrong_min", "(min a b)", "a", Numbers, ""},
      {"wrong_xor", "(xor a $c)", "a", Numbers, ""},
      {"wrong_add_zero", "(add a 0)", "a", ir::sets::Float, ""},
      {"wrong_cancel", "(add (sub a b) b)", "a", ir::sets::Float, ""},
  };
  const std::vector<std::string> alphabet = [] {
    std::vector<std::string> words =
        Alphabet(3, {"merge.add", "merge.min", "split.sub"}, {"merge.abs"}, {});
    words.emplace_back("merge.add@c00[0,c01]");
    words.emplace_back("merge.add@c01[0,c02]");
    return words;
  }();
  for (const ir::RuleRow& row : planted) {
    const ir::Rule wrong = *ir::ParseRule(row);
    std::vector<const ir::Rule*> rules(optimize::NormalFormRules().begin(),
                                       optimize::NormalFormRules().end());
    rules.push_back(&wrong);
    Random random(5);
    int changed = 0;
    for (int i = 0; i < 1500 && changed < 12; ++i) {
      const ir::Program source =
          *circuits::ParseCircuit(RandomText(random, alphabet, 7), circuits::CircuitOptions());
      const ir::Candidate right = *optimize::NormalCandidate(source);
      Result<optimize::NormalState> state =
          optimize::ReadState(source, optimize::NormalTerms(rules, false));
      ASSERT_TRUE(state);
      ir::Candidate candidate = right;
      candidate.program = optimize::WriteState(source, *state);
      if (ir::ExactDigest(candidate.program) == ir::ExactDigest(right.program)) continue;
      if (candidate.guard.atoms.empty()) continue;
      ++changed;
      EXPECT_FALSE(IsProved(source, candidate)) << row.name << "\n"
                                                << ir::PrintText(source) << "\n"
                                                << ir::PrintText(candidate.program);
    }
    EXPECT_GE(changed, 3) << row.name;
  }
}

// The examples: one pass, 16 and 8 bytes for each element, under two atoms.
TEST(NormalFormsBeforeTheJudge, Examples) {
  struct Example {
    std::string text;
    uint64_t before, after;
    std::string guard;
  };
  for (const Example& example :
       {Example{"merge.mul@c00[c01,c03] . mark@c03 . mark@c03 . swap@c02<->c04 . "
                "merge.add@c03[c04,c03] . swap@c02<->c04 . merge.max@c03[0,c03]",
                80, 16,
                "apart(arg2, arg3, arg4; arg0, arg1) && cover(arg5; arg0, arg1, arg2, arg3, arg4)"},
        Example{"copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21", 32, 8,
                "apart(arg1, arg2; arg0) && cover(arg3; arg0, arg1, arg2)"}}) {
    const ir::Program source = *circuits::ParseCircuit(example.text, {});
    const Result<ir::Candidate> candidate = optimize::NormalCandidate(source);
    ASSERT_TRUE(candidate);
    EXPECT_EQ(ir::PrintGuard(candidate->guard), example.guard);
    const optimize::Work after = optimize::WorkPerElement(candidate->program);
    EXPECT_EQ(optimize::WorkPerElement(source).bytes, example.before);
    EXPECT_EQ(after.bytes, example.after);
    EXPECT_EQ(after.passes, 1u);
    EXPECT_TRUE(IsProved(source, *candidate));
  }
}

}  // namespace
}  // namespace frazil
