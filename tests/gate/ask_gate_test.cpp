// Attempts to get an answer that nobody admitted out of frazil::Ask.
#include <gtest/gtest.h>

#include <type_traits>

#include "engine/admit_run.h"
#include "exec/meaning/interpreter.h"
#include "frazil/ask.h"
#include "frazil/ask/gate.h"
#include "registry/targets.h"
#include "verify/target_judges.h"

namespace frazil {
namespace {

using exec::CompiledForm;
using Form = verify::Verified<CompiledForm>;

// --- what does not compile --------------------------------------------------------------------------------------
// A form becomes a judged run by its judge alone, that an admitted one by the rule, and only that an answer.
static_assert(!std::is_default_constructible_v<verify::JudgedRun>);
static_assert(!std::is_constructible_v<verify::JudgedRun, CompiledForm, exec::Outcome>);
static_assert(!std::is_constructible_v<verify::JudgedRun, Form, exec::Outcome>);
static_assert(!std::is_default_constructible_v<engine::AdmittedRun>);
static_assert(!std::is_constructible_v<engine::AdmittedRun, verify::JudgedRun>);
static_assert(!std::is_constructible_v<engine::AdmittedRun, engine::Admitted, exec::Outcome>);
static_assert(!std::is_invocable_v<decltype(&engine::AdmitRun), CompiledForm, verify::Policy>);
static_assert(!std::is_invocable_v<decltype(&engine::AdmitRun), Form, verify::Policy>);
static_assert(!std::is_default_constructible_v<Answer>);
static_assert(!std::is_aggregate_v<Answer>);
static_assert(!std::is_constructible_v<Answer, exec::Outcome>);
static_assert(!std::is_constructible_v<Answer, Form>);
static_assert(!std::is_constructible_v<Answer, verify::JudgedRun>);
template <typename Run>
constexpr bool MakesAnAnswer =
    std::is_invocable_v<decltype(&ask::Maker::Make), frontends::words::Reading, ask::Plan, Run>;
static_assert(MakesAnAnswer<engine::AdmittedRun>);
static_assert(!MakesAnAnswer<exec::Outcome>);
static_assert(!MakesAnAnswer<CompiledForm>);
static_assert(!MakesAnAnswer<Form>);
static_assert(!MakesAnAnswer<verify::JudgedRun>);
static_assert(!MakesAnAnswer<engine::Admitted>);

// --- what is refused --------------------------------------------------------------------------------------------
// Emits and runs what another target makes of another program than the one it was given.
class Mistaken final : public exec::Target {
 public:
  Mistaken(std::string name, std::string as, std::string question)
      : name_(std::move(name)), as_(std::move(as)), question_(std::move(question)) {}
  std::string_view name() const override { return name_; }
  std::string Refuses(const ir::Program&) const override { return ""; }
  Result<exec::Artifact> Emit(const ir::Program&, const exec::EmitOptions& options) const override {
    const frontends::words::Reading other = TRY(frontends::words::Parse(question_));
    exec::Artifact artifact = TRY(TRY(registry::FindTarget(as_))->Emit(other.program, options));
    artifact.target = name_;
    return artifact;
  }
  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    exec::Artifact other = artifact;
    other.target = as_;
    // The interpreter would run the candidate; this one runs its bytes.
    if (as_ == "interp") other.source = nullptr;
    return TRY(registry::FindTarget(as_))->Load(other);
  }
  Result<Lifted> Lift(const exec::Artifact& artifact) const override {
    return TRY(registry::FindTarget(as_))->Lift(artifact);
  }

 private:
  std::string name_, as_, question_;
};

class AskGate : public testing::TestWithParam<std::string_view> {
 protected:
  // Its name under which the target runs `question` whatever it is asked.
  std::string Mistake(const std::string& question) {
    const std::string as(GetParam());
    std::string name = "mistaken " + as + " of " + question;
    registry::RegisterTarget(
        {name, [=] { return std::make_unique<Mistaken>(name, as, question); }});
    return name;
  }
  Result<Answer> AskOn(const std::string& target, const std::string& question,
                       uint64_t verify_ms = Limits().verify_ms) {
    AskOptions options;
    options.target = target;
    options.limits.verify_ms = verify_ms;
    return Ask(question, options);
  }
};

TEST_P(AskGate, TheRightProgramIsAnswered) {
  const Result<Answer> answer = AskOn(Mistake("50 - 15"), "50 - 15");
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->text, "35");
}

TEST_P(AskGate, AnotherOneIsNot) {
  const Result<Answer> answer = AskOn(Mistake("50 - 14"), "50 - 15");
  ASSERT_FALSE(answer) << answer->text;
  EXPECT_TRUE(answer.error().diag == Diag::Mismatch || GetParam() == "isa")
      << answer.error().ToString();
}

TEST_P(AskGate, NeitherIsATrapInsteadOfAnAnswerOrTheOtherWayRound) {
  EXPECT_FALSE(AskOn(Mistake("1 / 0"), "50 - 15"));
  EXPECT_FALSE(AskOn(Mistake("50 - 15"), "1 / 0"));
}

// Whoever vouches for everything is not asked.
TEST_P(AskGate, ARegisteredJudgeDoesNotDecideAnswers) {
  class Believer final : public verify::TargetJudge {
   public:
    Result<verify::Verdict> Judge(const ir::Program&, const CompiledForm&, const ir::Guard&,
                                  const verify::VerifyOptions&) const override {
      return verify::Proved{{verify::Grade::Proved, "believer", "", 0}};
    }
  };
  const std::string target = Mistake("7 * 6");
  verify::RegisterJudge(target, std::make_shared<const Believer>());
  EXPECT_FALSE(AskOn(target, "7 * 5"));
}

// Where the interpreter has no time to disagree there is no answer either.
TEST_P(AskGate, WhatIsNotDecidedIsNotAnswered) {
  const Result<Answer> answer =
      AskOn(Mistake("Is 1000000000061 prime?"), "Is 1000000000039 prime?", 1);
  EXPECT_FALSE(answer) << answer->text;
}

INSTANTIATE_TEST_SUITE_P(Targets, AskGate, testing::Values("interp", "isa", "wasm", "c"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace frazil
