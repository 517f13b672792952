// The loop without a compiler: its workshops make modules of the portable ISA, whose judge lifts them back.
#include "engine/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/digest.h"
#include "ir/text/text.h"
#include "targets/tiles/tile.h"
#include "verify/target_judges.h"

namespace frazil::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ir::Program Parse(std::string_view text) { return *ir::ParseText(text); }

// Eight times x, by more adds than a product costs.
const ir::Program Source = Parse(R"(frz 1
func @main(%x: i32) -> (i32) {
  %a = add %x, %x : i32
  %b = add %a, %x : i32
  %c = add %b, %x : i32
  %d = add %c, %x : i32
  %e = add %d, %x : i32
  %f = add %e, %x : i32
  %g = add %f, %x : i32
  return %g
}
)");
const ir::Program Eight = Parse(R"(frz 1
func @main(%x: i32) -> (i32) {
  %eight = const 8 : i32
  %c = mul %x, %eight : i32
  return %c
}
)");
const ir::Program Five = Parse(R"(frz 1
func @main(%x: i32) -> (i32) {
  %five = const 5 : i32
  %c = mul %x, %five : i32
  return %c
}
)");

class IsaWorkshop : public Workshop {
 public:
  explicit IsaWorkshop(std::vector<std::string>* lowered = nullptr) : lowered_(lowered) {
    static const bool is_registered = [] {
      verify::RegisterJudge("isa", verify::LiftingJudge(targets::tiles::MakeIsaTarget()));
      return true;
    }();
    static_cast<void>(is_registered);
  }
  std::string_view target() const override { return "isa"; }
  Result<LoweredForm> Lower(const Gate& gate, int) override {
    if (lowered_ != nullptr) lowered_->push_back(gate.candidate().origin);
    LoweredForm lowered{gate.Form("isa"), "isa"};
    const ir::Program& program = instead_of(gate.program());
    lowered.form.payload = TRY(targets::tiles::MakeIsaTarget()->Emit(program)).bytes;
    return lowered;
  }

 private:
  virtual const ir::Program& instead_of(const ir::Program& program) const { return program; }
  std::vector<std::string>* lowered_;
};

// Lowers another program than it was given.
class WrongWorkshop final : public IsaWorkshop {
  const ir::Program& instead_of(const ir::Program&) const override { return Five; }
};

LoopOptions DefaultOptions() { return {verify::Policy::Default(Source)}; }

TEST(Loop, TheCheapestOnPaperThatIsVerifiedWins) {
  Loop loop(Source, DefaultOptions());
  loop.Propose("source", {Source, {}, {}, "source"});
  loop.Propose("test", {Five, {}, {}, "five"});
  loop.Propose("test", {Eight, {}, {}, "eight"});
  std::vector<std::string> lowered;
  IsaWorkshop workshop(&lowered);
  const auto won = loop.Run(workshop);
  ASSERT_TRUE(won.has_value() && *won);
  EXPECT_EQ((*won)->proposal->gate.candidate().origin, "eight");
  EXPECT_EQ((*won)->admitted.form()->candidate_exact, ir::ExactDigest(Eight));
  EXPECT_THAT(lowered, ElementsAre("eight")) << "code is made only of what means the same";
  ASSERT_EQ(loop.attempts().size(), 3u);
  EXPECT_EQ(loop.attempts()[0].fate, Fate::Lost);
  EXPECT_EQ(loop.attempts()[1].fate, Fate::Refused);
  EXPECT_THAT(loop.attempts()[1].reason, HasSubstr("refuted"));
  EXPECT_EQ(loop.attempts()[2].fate, Fate::Won);
  EXPECT_EQ(loop.attempts()[2].target, "isa");
  EXPECT_TRUE(loop.refuted().empty()) << "no code was wrong";
}

TEST(Loop, CodeOfAnotherProgramWinsNothing) {
  Loop loop(Source, DefaultOptions());
  loop.Propose("test", {Eight, {}, {}, "eight"});
  loop.Propose("source", {Source, {}, {}, "source"});
  WrongWorkshop workshop;
  const auto won = loop.Run(workshop);
  ASSERT_TRUE(won.has_value());
  EXPECT_FALSE(*won);
  for (const Attempt& attempt : loop.attempts()) EXPECT_NE(attempt.fate, Fate::Won);
}

TEST(Loop, WhatIsBannedOrKnownIsNotProposed) {
  LoopOptions options = DefaultOptions();
  options.is_banned = [](const std::string& exact) { return exact == ir::ExactDigest(Eight); };
  Loop loop(Source, options);
  EXPECT_EQ(loop.Propose("test", {Eight, {}, {}, "eight"}), nullptr);
  EXPECT_NE(loop.Propose("source", {Source, {}, {}, "source"}), nullptr);
  EXPECT_EQ(loop.Propose("test", {Source, {}, {}, "again"}), nullptr);
  EXPECT_EQ(loop.proposals().size(), 1u);
  ASSERT_FALSE(loop.events().empty());
  EXPECT_THAT(loop.events()[0].detail, HasSubstr("is banned"));
}

TEST(Loop, ARoundForgetsTheOneBefore) {
  Loop loop(Source, DefaultOptions());
  loop.ProposeAll();
  Proposal* best = loop.BestOnPaper();
  ASSERT_NE(best, nullptr);
  loop.KeepOnly(*best);
  IsaWorkshop workshop;
  for (int round = 0; round < 2; ++round) {
    const auto won = loop.Run(workshop);
    ASSERT_TRUE(won.has_value() && *won);
    EXPECT_EQ((*won)->proposal, best);
  }
  EXPECT_EQ(loop.attempts().size(), 2u);
}

// Offers are timed here, and the first of them answers wrongly.
class WronglyTimed final : public IsaWorkshop {
 public:
  using IsaWorkshop::IsaWorkshop;
  bool measures() const override { return true; }
  Result<std::vector<Quote>> Price(std::span<const Offer> offers) override {
    prices += 1;
    Quote wrong{exec::Bytes{1}};
    wrong.refusal = "its code is wrong";
    wrong.is_wrong = true;
    EXPECT_FALSE(offers.empty());
    return std::vector{wrong};
  }
  int prices = 0;
};

TEST(Loop, NothingMoreRunsAfterCodeThatAnsweredWrongly) {
  Loop loop(Source, DefaultOptions());
  loop.Propose("test", {Eight, {}, {}, "eight"});
  loop.Propose("source", {Source, {}, {}, "source"});
  std::vector<std::string> lowered;
  WronglyTimed workshop(&lowered);
  for (int round = 0; round < 2; ++round) {
    const auto won = loop.Run(workshop);
    ASSERT_TRUE(won.has_value());
    EXPECT_FALSE(*won);
    EXPECT_THAT(loop.refuted(), ElementsAre(ir::ExactDigest(Eight)));
    EXPECT_THAT(lowered, ElementsAre("eight")) << "the source is for another process";
    EXPECT_EQ(workshop.prices, 1);
  }
  EXPECT_EQ(loop.attempts()[0].fate, Fate::Refuted);
}

// Of a target whose judge ran the code and saw that it is wrong.
class Refuting final : public verify::TargetJudge {
 public:
  Result<verify::Verdict> Judge(const ir::Program&, const exec::CompiledForm&, const ir::Guard&,
                                const verify::VerifyOptions&) const override {
    asked += 1;
    return verify::Refuted{verify::ProgramCall{}, "result 1: 7 against 8"};
  }
  mutable int asked = 0;
};

class RefutedWorkshop final : public Workshop {
 public:
  std::string_view target() const override { return "refuted"; }
  int ways() const override { return 2; }
  Result<LoweredForm> Lower(const Gate& gate, int) override {
    lowered += 1;
    return LoweredForm{gate.Form("refuted")};
  }
  int lowered = 0;
};

TEST(Loop, NothingMoreRunsAfterCodeThatWasRefuted) {
  const auto judge = std::make_shared<const Refuting>();
  verify::RegisterJudge("refuted", judge);
  Loop loop(Source, DefaultOptions());
  loop.Propose("test", {Eight, {}, {}, "eight"});
  loop.Propose("source", {Source, {}, {}, "source"});
  RefutedWorkshop workshop;
  IsaWorkshop other;
  for (Workshop* each : std::initializer_list<Workshop*>{&workshop, &workshop, &other}) {
    const auto won = loop.Run(*each);
    ASSERT_TRUE(won.has_value());
    EXPECT_FALSE(*won);
  }
  EXPECT_EQ(workshop.lowered, 1) << "in no other way, and of no other candidate";
  EXPECT_EQ(judge->asked, 1);
  EXPECT_THAT(loop.refuted(), ElementsAre(ir::ExactDigest(Eight)));
}

// 40 n turns: more than the lowest rung has fuel for where n is large, and then only the next one knows that both mean the same.
constexpr const char* ManyTurns = R"(frz 1
func @main(%n: u8) -> (u64) {
  %zero = const 0 : index
  %forty = const 40 : index
  %two = const 2 : u64
  %m = cast %n : index
  %turns = mul %m, %forty : index
  %start = const 0 : u64
  %sum = for %i = %zero to %turns step 1 carry (%acc = %start) {
    %w = cast %i : u64
    %d = WORK : u64
    %next = xor %acc, %d : u64
    yield %next
  }
  return %sum
}
)";

ir::Program TurnsOf(std::string_view work) {
  std::string text = ManyTurns;
  return Parse(text.replace(text.find("WORK"), 4, work));
}

TEST(Gate, MeaningIsAskedAgainOnAHigherRung) {
  const IsaWorkshop registered;
  const ir::Program source = TurnsOf("mul %w, %two"), candidate = TurnsOf("add %w, %w");
  GateOptions options;
  options.first_rung = QuickRung;
  Gate gate(source, {candidate, {}, {}, "test"}, options);
  exec::CompiledForm form = gate.Form("isa");
  form.payload = targets::tiles::MakeIsaTarget()->Emit(candidate)->bytes;
  form.cost = exec::Bytes{form.payload.size()};
  const Judged judged = gate.Admit(form);
  ASSERT_TRUE(judged.admitted) << judged.reason;
  EXPECT_EQ(judged.admitted->form().evidence().meaning.grade, verify::Grade::Exhaustive);
}

TEST(Gate, AFormOfAnotherCandidateIsRefused) {
  const IsaWorkshop registered;
  Gate gate(Source, {Eight, {}, {}, "eight"});
  exec::CompiledForm form = gate.Form("isa");
  form.payload = targets::tiles::MakeIsaTarget()->Emit(Five)->bytes;
  form.cost = exec::Bytes{form.payload.size()};
  const Judged judged = gate.Admit(form);
  EXPECT_FALSE(judged.admitted);
  EXPECT_FALSE(judged.reason.empty());
  form.payload = targets::tiles::MakeIsaTarget()->Emit(Eight)->bytes;
  EXPECT_TRUE(gate.Admit(form).admitted) << gate.Admit(form).reason;
  form.candidate_exact = ir::ExactDigest(Five);
  EXPECT_FALSE(gate.Admit(form).admitted);
}

TEST(Gate, WithoutTimeThereIsNoVerdict) {
  const IsaWorkshop registered;
  GateOptions options;
  options.until = std::chrono::steady_clock::now();
  Gate gate(Source, {Source, {}, {}, "source"}, options);
  exec::CompiledForm form = gate.Form("isa");
  form.payload = targets::tiles::MakeIsaTarget()->Emit(Source)->bytes;
  form.cost = exec::Bytes{form.payload.size()};
  const Judged judged = gate.Admit(form);
  EXPECT_FALSE(judged.admitted);
  EXPECT_THAT(judged.reason, HasSubstr("no time"));
}

}  // namespace
}  // namespace frazil::engine
