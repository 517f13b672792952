#include "verify/runs/one_run.h"

#include <gtest/gtest.h>

#include "ir/digest.h"
#include "ir/text/test_ops.h"
#include "ir/text/text.h"

namespace frazil::verify {
namespace {

const ir::Program& Count() {
  static const auto* program =
      new ir::Program(*ir::ParseText("frz 1\nfunc @main() -> (i64) {\n" +
                                     ir::SumLines("i64", "0", "1000") + "  return %sum\n}\n"));
  return *program;
}

exec::Outcome Gives(int64_t value) {
  exec::Outcome outcome;
  outcome.results.push_back(exec::Value::Int(ir::types::I64, value));
  return outcome;
}

TEST(OneRun, TheSameOutcomeIsAllThereIsToSee) {
  const Verdict verdict = JudgeRun(Count(), Gives(499500), {});
  const auto* proved = std::get_if<Proved>(&verdict);
  ASSERT_NE(proved, nullptr) << VerdictName(verdict);
  EXPECT_EQ(proved->evidence.grade, Grade::Exhaustive);
  EXPECT_EQ(proved->evidence.cases, 1u);
}

TEST(OneRun, AnotherOutcomeIsRefuted) {
  EXPECT_TRUE(std::holds_alternative<Refuted>(JudgeRun(Count(), Gives(499501), {})));
  exec::Outcome trapped;
  trapped.trap = exec::TrapInfo{ir::Trap::Overflow, ir::Op::AddChecked};
  EXPECT_TRUE(std::holds_alternative<Refuted>(JudgeRun(Count(), trapped, {})));
  exec::Outcome talks = Gives(499500);
  talks.output.push_back(exec::Value::Int(ir::types::I64, 1));
  EXPECT_TRUE(std::holds_alternative<Refuted>(JudgeRun(Count(), talks, {})));
}

TEST(OneRun, WhatTakesTooLongIsUnknown) {
  Limits limits;
  limits.fuel = 10;
  const Verdict verdict = JudgeRun(Count(), Gives(499500), limits);
  const auto* unknown = std::get_if<Unknown>(&verdict);
  ASSERT_NE(unknown, nullptr) << VerdictName(verdict);
  EXPECT_EQ(unknown->reason, "too long for the interpreter to judge");
}

TEST(OneRun, AProgramWithParametersOrStreamsHasMoreRuns) {
  const auto program = ir::ParseText("frz 1\nfunc @main(%x: i64) -> (i64) {\nreturn %x\n}\n");
  EXPECT_TRUE(std::holds_alternative<Unknown>(JudgeRun(*program, Gives(1), {})));
  const auto reads =
      ir::ParseText("frz 1\nfunc @main() -> (i64) {\n%x = input : i64\nreturn %x\n}\n");
  ASSERT_TRUE(reads) << reads.error().ToString();
  EXPECT_TRUE(std::holds_alternative<Unknown>(JudgeRun(*reads, Gives(1), {})));
}

// Gives what it is told to, whatever the bytes are; they are read back where it is told that too.
class Parrot final : public exec::Target {
 public:
  exec::Outcome outcome;
  bool lifts = false;
  mutable int loads = 0;

  std::string_view name() const override { return "parrot"; }
  std::string Refuses(const ir::Program&) const override { return ""; }
  Result<exec::Artifact> Emit(const ir::Program&, const exec::EmitOptions&) const override {
    return exec::Artifact();
  }
  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact&) const override {
    ++loads;
    class Call final : public exec::Callable {
     public:
      explicit Call(exec::Outcome outcome) : outcome_(std::move(outcome)) {}
      Result<exec::Outcome> Run(std::span<const exec::Value>, const exec::RunContext&) override {
        return outcome_;
      }

     private:
      exec::Outcome outcome_;
    };
    return std::make_unique<Call>(outcome);
  }
  Result<Lifted> Lift(const exec::Artifact& artifact) const override {
    if (!lifts) return exec::Target::Lift(artifact);
    return Lifted{*artifact.source, *artifact.source};
  }
};

exec::CompiledForm FormOf(const ir::Program& program, std::string target) {
  exec::CompiledForm form;
  form.source_exact = form.candidate_exact = ir::ExactDigest(program);
  form.guard = "true";
  form.candidate = ir::PrintText(program);
  form.target = std::move(target);
  form.cost = exec::Bytes{1};
  return form;
}

ExaminedRun ExamineCount(const Parrot& target, exec::CompiledForm form, uint64_t verify_ms = 10'000,
                         const Policy& policy = {}) {
  VerifyOptions options;
  options.limits.verify_ms = verify_ms;
  return ExamineRun(Count(), {Count(), {}, {}, "source"}, std::move(form), target, policy, options)
      .value();
}

TEST(OneRun, WhatTheJudgeSawIsHandedOutWithTheForm) {
  Parrot target;
  target.outcome = Gives(499500);
  const ExaminedRun examined = ExamineCount(target, FormOf(Count(), "parrot"));
  ASSERT_TRUE(examined.run) << examined.refusal;
  EXPECT_EQ(target.loads, 1);
  EXPECT_EQ(examined.run->outcome().results, target.outcome.results);
  EXPECT_EQ(examined.run->form()->target, "parrot");
  EXPECT_EQ(examined.run->form().evidence().meaning.grade, Grade::Proved);
  EXPECT_EQ(examined.run->form().evidence().lowering.grade, Grade::Exhaustive);
}

TEST(OneRun, WhatIsRefutedOrStoppedOrClaimedIsNot) {
  Parrot target;
  target.outcome = Gives(499501);
  ExaminedRun examined = ExamineCount(target, FormOf(Count(), "parrot"));
  EXPECT_FALSE(examined.run);
  EXPECT_TRUE(std::holds_alternative<Refuted>(examined.lowering));
  EXPECT_EQ(examined.refusal, "lowering refuted: the interpreter differs");
  // Ended by a limit: whatever the interpreter would say, it is no answer.
  target.outcome = {};
  target.outcome.trap = exec::TrapInfo{ir::Trap::Fuel, ir::Op::For};
  examined = ExamineCount(target, FormOf(Count(), "parrot"));
  EXPECT_FALSE(examined.run);
  EXPECT_TRUE(examined.stopped);
  // A form of another target, of another program, that is called otherwise; a policy that asks for more.
  target.outcome = Gives(499500);
  EXPECT_FALSE(ExamineCount(target, FormOf(Count(), "wasm")).run);
  exec::CompiledForm form = FormOf(Count(), "parrot");
  form.source_exact[0] ^= 1;
  EXPECT_FALSE(ExamineCount(target, form).run);
  form = FormOf(Count(), "parrot");
  form.calling = "in pieces";
  EXPECT_FALSE(ExamineCount(target, form).run);
  const Policy more{Grade::Proved, Grade::Proved};
  EXPECT_TRUE(ExamineCount(target, FormOf(Count(), "parrot"), 10'000, more).run)
      << "one run of one is as good as a proof";
}

TEST(OneRun, WhatIsTooLongIsReadBackOrRefused) {
  static const auto* long_loop = new ir::Program(*ir::ParseText(R"(frz 1
func @main() -> (i64) {
  %zero = const 0 : i64
  %end = const 4000000000 : i64
  %sum = for %i = %zero to %end step 1 carry (%acc = %zero) {
    %next = add %acc, %i : i64
    yield %next
  }
  return %sum
}
)"));
  Parrot target;
  target.outcome = Gives(7999999998000000000);
  VerifyOptions options;
  options.limits.verify_ms = 1;
  const ir::Candidate candidate{*long_loop, {}, {}, "source"};
  auto examined =
      ExamineRun(*long_loop, candidate, FormOf(*long_loop, "parrot"), target, {}, options);
  ASSERT_TRUE(examined);
  EXPECT_FALSE(examined->run);
  EXPECT_EQ(examined->refusal, "lowering unknown: too long for the interpreter to judge");
  target.lifts = true;
  examined = ExamineRun(*long_loop, candidate, FormOf(*long_loop, "parrot"), target, {}, options);
  ASSERT_TRUE(examined->run) << examined->refusal;
  EXPECT_EQ(examined->run->form().evidence().lowering.grade, Grade::Proved);
}

// A shorter program stands in for the interpreter's run only where it is proved.
TEST(OneRun, AShorterProgramMustBeProved) {
  const auto returns = [](int64_t value) {
    return *ir::ParseText("frz 1\nfunc @main() -> (i64) {\n%r = const " + std::to_string(value) +
                          " : i64\nreturn %r\n}\n");
  };
  Parrot target;
  target.outcome = Gives(7);
  const auto examine = [&](const ir::Program& source, const ir::Candidate& shorter) {
    return *ExamineRun(source, {source, {}, {}, "source"}, FormOf(source, "parrot"), target, {}, {},
                       &shorter);
  };
  const ir::Program wrong = returns(7);
  EXPECT_FALSE(examine(Count(), {wrong, {}, {}, "nobody"}).run) << "it is not what the loop gives";
  const ir::Program source = returns(7);
  const ExaminedRun examined = examine(source, {source, {}, {}, "itself"});
  ASSERT_TRUE(examined.run) << examined.refusal;
  EXPECT_EQ(examined.run->form().evidence().lowering.detail,
            "the interpreter gives the same by a formula that is proved");
}

// Nobody but the interpreter speaks for the interpreter.
TEST(OneRun, AFormOfTheInterpreterIsItsOwnRun) {
  class Pretender final : public exec::Target {
    std::string_view name() const override { return "interp"; }
    std::string Refuses(const ir::Program&) const override { return ""; }
    Result<exec::Artifact> Emit(const ir::Program&, const exec::EmitOptions&) const override {
      return exec::Artifact();
    }
    Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact&) const override {
      return Fail(Diag::Unsupported, "nobody asks");
    }
  };
  const auto examined = ExamineRun(Count(), {Count(), {}, {}, "source"}, FormOf(Count(), "interp"),
                                   Pretender(), {}, {});
  ASSERT_TRUE(examined) << examined.error().ToString();
  ASSERT_TRUE(examined->run) << examined->refusal;
  EXPECT_EQ(examined->run->outcome().results, Gives(499500).results);
  EXPECT_EQ(examined->run->form().evidence().lowering.detail, "the interpreter's own answer");
}

}  // namespace
}  // namespace frazil::verify
