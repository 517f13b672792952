// Programs under a guard: what they gain, what their guards ask, and that they do the same where the guard holds.
#include <gtest/gtest.h>

#include "generator/generator.h"
#include "ir/guard.h"
#include "optimize/optimize.h"
#include "optimize/test_same.h"

namespace frazil::optimize {
namespace {

constexpr std::string_view Switched = R"(frz 1
func @main(%mode: i32, %unused: i32, %x: i64, %n: i64) -> (i64) {
  %zero = const 0 : i64
  %r = for %i = %zero to %n step 1 carry (%acc = %x) {
    %y = switch %mode -> (i64) {
    case 0 {
      %a = add %acc, %i : i64
      yield %a
    }
    case 1 {
      %b = div.trunc %acc, %x : i64
      %c = div.trunc %b, %x : i64
      yield %c
    }
    default {
      %d = mul %acc, %i : i64
      yield %d
    }
    }
    yield %y
  }
  return %r
}
)";

TEST(Specialize, AFixedArmStandsAlone) {
  ir::Program source = Parse(Switched);
  Observed observed;
  observed.constant_arguments = {{0}, {7}, {}, {}};
  Result<ir::Candidate> candidate = Specialize(source, observed);
  ASSERT_TRUE(candidate) << candidate.error().ToString();
  EXPECT_EQ(ir::PrintGuard(candidate->guard), "arg0 == 0")
      << "the unused parameter is no reason for a test";
  for (const ir::Inst& inst : candidate->program.entry_function().insts)
    EXPECT_NE(inst.op, ir::Op::Switch);
  EXPECT_LT(StaticCost(candidate->program), 0.8 * StaticCost(source));
  // Both with the same arguments under the guard.
  for (int64_t x : {-3, 0, 5}) {
    std::vector<exec::Value> arguments = {
        exec::Value::Int(ir::types::I32, 0), exec::Value::Int(ir::types::I32, 9),
        exec::Value::Int(ir::types::I64, x), exec::Value::Int(ir::types::I64, 6)};
    Result<exec::Outcome> a = exec::Interpret(source, arguments),
                          b = exec::Interpret(candidate->program, arguments);
    ASSERT_TRUE(a && b);
    EXPECT_TRUE(a->results == b->results);
  }
}

TEST(Specialize, NothingToGainMeansNoGuard) {
  ir::Program source = Parse(R"(frz 1
func @main(%a: f32, %b: f32) -> (f32) {
  %c = add %a, %b : f32
  return %c
}
)");
  Observed observed;
  observed.constant_arguments = {{0x3f800000}, {}};
  Result<ir::Candidate> candidate = Specialize(source, observed);
  ASSERT_TRUE(candidate);
  EXPECT_TRUE(candidate->guard.atoms.empty());
}

TEST(Specialize, NonsenseIsNotBelieved) {
  ir::Program source = Parse(Switched);
  Observed observed;
  observed.constant_arguments = {
      {0xffffffffffff}, {1, 2}, {}, {}, {5}, {6}};  // no i32, two words, too many
  Result<ir::Candidate> candidate = Specialize(source, observed);
  ASSERT_TRUE(candidate);
  EXPECT_TRUE(candidate->guard.atoms.empty()) << ir::PrintGuard(candidate->guard);
}

TEST(Proposers, OfferNothingDearer) {
  ir::Program source = Parse(Switched);
  Observed observed;
  observed.constant_arguments = {{0}, {}, {}, {}};
  size_t offered = 0;
  for (const std::shared_ptr<const Proposer>& proposer : Proposers()) {
    EXPECT_FALSE(proposer->name().empty());
    Result<std::vector<ir::Candidate>> candidates = proposer->Propose(source, observed, {});
    ASSERT_TRUE(candidates);
    for (const ir::Candidate& candidate : *candidates) {
      ++offered;
      EXPECT_LE(StaticCost(candidate.program), StaticCost(source));
      EXPECT_LE(candidate.guard.atoms.size(), ir::MaxGuardAtoms);
    }
  }
  EXPECT_GE(offered, 1u);
}

// Random programs, every scalar argument observed as constant.
TEST(Specialize, ChangesNoOutcomeUnderItsGuard) {
  int guarded = 0;
  for (uint64_t seed = 0; seed < 250; ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed + 77;
    options.size = 16;
    options.allow_tensors = false;
    ir::Program source = generator::Generate(options);
    std::vector<exec::Value> arguments = exec::RandomArguments(source, seed);
    Observed observed;
    for (const exec::Value& value : arguments) {
      std::vector<uint64_t>& words = observed.constant_arguments.emplace_back();
      if (value.type.is_scalar())
        words.assign(value.scalar_words().begin(), value.scalar_words().end());
    }
    Result<ir::Candidate> candidate = Specialize(source, observed);
    ASSERT_TRUE(candidate) << candidate.error().ToString();
    guarded += candidate->guard.atoms.empty() ? 0 : 1;
    ASSERT_TRUE(ir::Check(candidate->program));
    ASSERT_EQ(Difference(RunOn(source, source, seed), RunOn(candidate->program, source, seed)), "")
        << ir::PrintText(source) << "became under " << ir::PrintGuard(candidate->guard) << "\n"
        << ir::PrintText(candidate->program);
  }
  EXPECT_GT(guarded, 25);
}

}  // namespace
}  // namespace frazil::optimize
