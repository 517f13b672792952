#include "frazil/ask.h"

#include <gtest/gtest.h>

#include "exec/meaning/interpreter.h"
#include "frazil/ask/plan.h"
#include "frontends/words/words.h"
#include "machines/tasm/program.h"
#include "registry/targets.h"

namespace frazil {
namespace {

std::string MessageOf(const Result<Answer>& answer) {
  return answer ? "answers " + answer->text : answer.error().message;
}

TEST(Ask, EveryStageCanBeLookedAt) {
  const Result<Answer> answer = Ask("Janet has 50 apples. She gives away 15. How many remain?");
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->text, "35");
  EXPECT_EQ(answer->canonical, "50 - 15 = ");
  EXPECT_EQ(answer->operation, "subtract");
  EXPECT_EQ(answer->type, "i32");
  EXPECT_EQ(answer->target, "wasm");
  EXPECT_EQ(answer->digest.size(), 64u);
  EXPECT_TRUE(answer->program.starts_with("func @main() -> (i32) {\n")) << answer->program;
  EXPECT_TRUE(answer->wasm.starts_with(std::string_view("\0asm", 4)));
  EXPECT_FALSE(answer->wasm_body.empty());
  EXPECT_EQ(answer->evidence.meaning.grade, verify::Grade::Proved);
  EXPECT_EQ(answer->evidence.lowering.grade, verify::Grade::Exhaustive);
  EXPECT_EQ(DescribeEvidence(answer->evidence.lowering),
            "exhaustive: the interpreter gives the same");
  EXPECT_TRUE(answer->formula.empty());
  EXPECT_TRUE(answer->trace.empty());
}

TEST(Ask, EveryStandardTargetGivesTheSame) {
  for (const char* target : {"interp", "isa", "wasm", "c", "tasm"}) {
    AskOptions options;
    options.target = target;
    const Result<Answer> answer = Ask("Sum 1 to 100", options);
    ASSERT_TRUE(answer) << target << ": " << answer.error().ToString();
    EXPECT_EQ(answer->text, "5050") << target;
    EXPECT_EQ(answer->wasm.empty(), std::string_view(target) != "wasm") << target;
    EXPECT_EQ(answer->evidence.lowering.grade, std::string_view(target) == "interp"
                                                   ? verify::Grade::Proved
                                                   : verify::Grade::Exhaustive);
  }
}

TEST(Ask, AChainHasSteps) {
  AskOptions options;
  options.trace = true;
  const Result<Answer> answer = Ask("16 - 3, then multiply by 5", options);
  ASSERT_TRUE(answer) << answer.error().ToString();
  ASSERT_EQ(answer->trace.size(), 2u);
  EXPECT_EQ(answer->trace[0].expression, "16 - 3");
  EXPECT_EQ(answer->trace[0].value, "13");
  EXPECT_EQ(answer->trace[1].value, "65");
}

TEST(Ask, ALongLoopIsAFormulaThatIsProved) {
  const Result<Answer> answer = Ask("Sum 1 to 1000000000000000000");
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->text, "500000000000000000500000000000000000");
  EXPECT_EQ(answer->formula, "n(n+1)/2");
  EXPECT_EQ(answer->formula_proof, "proved by induction");
  EXPECT_EQ(answer->evidence.meaning.grade, verify::Grade::Proved);
  EXPECT_EQ(answer->evidence.lowering.grade, verify::Grade::Exhaustive);
}

// As it is written, because fuel is limited; what judges it need not be.
TEST(Ask, AWrittenLoopIsJudgedByItsFormula) {
  AskOptions options;
  options.limits.fuel = ask::LongLoop * 10;
  const Result<Answer> answer = Ask("Sum 1 to 3000000", options);
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->text, "4500001500000");
  EXPECT_TRUE(answer->formula.empty());
  EXPECT_EQ(DescribeEvidence(answer->evidence.lowering),
            "exhaustive: the interpreter gives the same by a formula that is proved");
}

TEST(Ask, ACountIsAFormulaHoweverFarItGoes) {
  for (const auto& [question, text] :
       {std::pair{"Count from 1 to 9223372036854775806", "9223372036854775806"},
        {"Count from 1 to 2147483647", "2147483647"},
        {"Count from -3 to 4000000000", "4000000000"},
        {"Count down from 1000000000000000000", "0"},
        {"Count from 5 to -9223372036854775806", "-9223372036854775806"}}) {
    const Result<Answer> answer = Ask(question);
    ASSERT_TRUE(answer) << question << ": " << answer.error().ToString();
    EXPECT_EQ(answer->text, text);
    EXPECT_EQ(answer->formula, "a polynomial of degree 1 in the number of turns") << question;
    EXPECT_EQ(answer->evidence.meaning.grade, verify::Grade::Proved);
    EXPECT_EQ(answer->evidence.lowering.grade, verify::Grade::Exhaustive);
  }
}

// Short loops become formulas with the long ones, and nobody asked about them.
TEST(Ask, TheFormulaIsOfTheLoopThatWasTooLong) {
  for (const auto& [question, formula] :
       {std::pair{"(sum 1 to 10) + (sum of the squares of the numbers from 1 to 3000000)",
                  "n(n+1)(2n+1)/6"},
        {"(sum of the squares of the numbers from 1 to 10) + (sum 1 to 3000000)", "n(n+1)/2"},
        {"(sum 1 to 4000000) + (sum 1 to 3000000)", "n(n+1)/2"},
        {"(sum 1 to 4000000) + (sum of the squares of the numbers from 1 to 3000000)",
         "n(n+1)/2 and n(n+1)(2n+1)/6"},
        {"(sum 1 to 10) + (sum of the squares of the numbers from 1 to 10)", ""}}) {
    const Result<Answer> answer = Ask(question);
    ASSERT_TRUE(answer) << question << ": " << answer.error().ToString();
    EXPECT_EQ(answer->formula, formula) << question;
  }
}

// A loop without a formula, longer than the interpreter is given time for.
TEST(Ask, WhatNobodyCanJudgeInTimeIsNoAnswer) {
  const std::string question = "Is 1000000000039 prime?";
  AskOptions options;
  const Result<Answer> judged = Ask(question, options);
  ASSERT_TRUE(judged) << judged.error().ToString();
  EXPECT_EQ(judged->text, "1");
  EXPECT_EQ(judged->evidence.lowering.grade, verify::Grade::Exhaustive);
  options.limits.verify_ms = 1;
  const Result<Answer> answer = Ask(question, options);
  ASSERT_FALSE(answer) << MessageOf(answer);
  EXPECT_EQ(answer.error().diag, Diag::LimitReached);
  EXPECT_EQ(answer.error().message,
            "what wasm gives was not judged within --verify-ms 1 (too long for the interpreter to "
            "judge); no answer is given");
  EXPECT_EQ(answer.error().hint,
            "allow more, or ask with --target isa, which is judged without running");
  // Bytes that are read back as the program need no run to be judged.
  options.target = "isa";
  const Result<Answer> lifted = Ask(question, options);
  ASSERT_TRUE(lifted) << lifted.error().ToString();
  EXPECT_EQ(lifted->text, "1");
  EXPECT_EQ(DescribeEvidence(lifted->evidence.lowering), "lifted back, the same exact digest");
}

// It runs once on its target and once on the interpreter.
TEST(Ask, TheRunThatIsJudgedIsTheAnswer) {
  static int runs = 0;
  class Counting final : public exec::Callable {
   public:
    Result<exec::Outcome> Run(std::span<const exec::Value>, const exec::RunContext&) override {
      exec::Outcome outcome;
      // Another answer each time: only the first is right.
      outcome.results.push_back(exec::Value::Int(ir::types::I32, 35 + runs++));
      return outcome;
    }
  };
  class CountingTarget final : public exec::Target {
   public:
    std::string_view name() const override { return "counting"; }
    std::string Refuses(const ir::Program&) const override { return ""; }
    Result<exec::Artifact> Emit(const ir::Program&, const exec::EmitOptions&) const override {
      exec::Artifact artifact;
      artifact.target = name();
      return artifact;
    }
    Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact&) const override {
      return std::make_unique<Counting>();
    }
  };
  ASSERT_TRUE(
      registry::RegisterTarget({"counting", [] { return std::make_unique<CountingTarget>(); }}));
  AskOptions options;
  options.target = "counting";
  const Result<Answer> answer = Ask("50 - 15", options);
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->text, "35");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(Ask("50 - 15", options).error().diag, Diag::Mismatch) << "another run, another answer";
}

TEST(Ask, WhatHasNoAnswerIsAnError) {
  EXPECT_EQ(Ask("foo bar =").error().diag, Diag::NotUnderstood);
  EXPECT_EQ(Ask("1 / 0").error().diag, Diag::Trapped);
  AskOptions options;
  options.limits.fuel = 10;
  const Result<Answer> stopped = Ask("Sum 1 to 100000", options);
  ASSERT_FALSE(stopped) << MessageOf(stopped);
  EXPECT_EQ(stopped.error().diag, Diag::LimitReached);
  EXPECT_TRUE(stopped.error().message.starts_with("the program stopped: ")) << MessageOf(stopped);
  options = {};
  options.target = "abacus";
  EXPECT_EQ(Ask("2+2", options).error().diag, Diag::UnknownTarget);
}

// Gives one more than it should.
class LyingTarget final : public exec::Target {
 public:
  std::string_view name() const override { return "liar"; }
  std::string Refuses(const ir::Program&) const override { return ""; }
  Result<exec::Artifact> Emit(const ir::Program& program, const exec::EmitOptions&) const override {
    exec::Artifact artifact;
    artifact.target = name();
    artifact.source = std::make_shared<const ir::Program>(program);
    return artifact;
  }
  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    class Liar final : public exec::Callable {
     public:
      explicit Liar(std::shared_ptr<const ir::Program> program) : program_(std::move(program)) {}
      Result<exec::Outcome> Run(std::span<const exec::Value> arguments,
                                const exec::RunContext& context) override {
        exec::Outcome outcome = TRY(exec::Interpret(*program_, arguments, context));
        outcome.results[0] = exec::Value::Int(outcome.results[0].type, 36);
        return outcome;
      }

     private:
      std::shared_ptr<const ir::Program> program_;
    };
    return std::make_unique<Liar>(artifact.source);
  }
};

TEST(Ask, WhatTheInterpreterRefutesIsNoAnswer) {
  ASSERT_TRUE(registry::RegisterTarget({"liar", [] { return std::make_unique<LyingTarget>(); }}));
  AskOptions options;
  options.target = "liar";
  const Result<Answer> answer = Ask("50 - 15", options);
  ASSERT_FALSE(answer) << MessageOf(answer);
  EXPECT_EQ(answer.error().diag, Diag::Mismatch);
  EXPECT_EQ(answer.error().message,
            "liar and the interpreter disagree on this program; no answer is given");
}

// A prover that claims what the program gives: without input, this.
AnswerProof ProofOf(const machines::tasm::Program& assembly, std::vector<uint64_t> output) {
  return {{machines::tasm::ProgramDigest(assembly), 0, {}, std::move(output)},
          256,
          123456,
          1.25,
          0.012};
}

TEST(Ask, AProofIsAskedForOnTritonVm) {
  std::vector<std::string> told;
  size_t words = 0;
  AskOptions options;
  options.target = "tasm";
  options.on_step = [&](std::string_view what) { told.emplace_back(what); };
  options.prover = [&](const machines::tasm::Program& assembly) -> Result<AnswerProof> {
    words = machines::tasm::Print(assembly).size();
    return ProofOf(assembly, {5050});
  };
  const Result<Answer> proved = Ask("Sum 1 to 100", options);
  ASSERT_TRUE(proved) << proved.error().ToString();
  EXPECT_GT(words, 0u);
  ASSERT_TRUE(proved->proof);
  EXPECT_EQ(DescribeProof(*proved->proof),
            "STARK of output 5050 at height 256, 123 kB in 1.25 s, verified in 12 ms");
  EXPECT_EQ(told, (std::vector<std::string>{"running on tasm", "", "proving", ""}));
  options.prover = [](const machines::tasm::Program&) -> Result<AnswerProof> {
    return Fail(Diag::MissingTool, "there is no prover here");
  };
  const Result<Answer> without = Ask("Sum 1 to 100", options);
  ASSERT_TRUE(without) << without.error().ToString();
  EXPECT_FALSE(without->proof);
  EXPECT_EQ(without->why_no_proof, "there is no prover here");
  // A machine that does something else than the program says.
  options.prover = [](const machines::tasm::Program&) -> Result<AnswerProof> {
    return Fail(Diag::Mismatch, "Triton VM crashes where the program does not");
  };
  EXPECT_EQ(Ask("Sum 1 to 100", options).error().diag, Diag::Mismatch);
  options.target = "interp";
  EXPECT_TRUE(Ask("Sum 1 to 100", options)) << "nobody is asked elsewhere";
}

// However well it holds: a proof of something else proves no answer.
TEST(Ask, AProofOfSomethingElseIsNoProofOfTheAnswer) {
  AskOptions options;
  options.target = "tasm";
  const auto answer = [&](auto change) {
    options.prover = [change](const machines::tasm::Program& assembly) -> Result<AnswerProof> {
      AnswerProof proof = ProofOf(assembly, {5050});
      change(proof.claim);
      return proof;
    };
    const Result<Answer> answer = Ask("Sum 1 to 100", options);
    EXPECT_TRUE(answer || answer.error().diag == Diag::Mismatch) << answer.error().ToString();
    return MessageOf(answer);
  };
  EXPECT_EQ(answer([](oracle::Claim&) {}), "answers 5050");
  EXPECT_EQ(answer([](oracle::Claim& claim) { claim.output[0] = 5051; }),
            "the proof claims the output 5051, and not 5050; no answer is given");
  EXPECT_EQ(answer([](oracle::Claim& claim) { claim.output.clear(); }),
            "the proof claims the output none, and not 5050; no answer is given");
  EXPECT_EQ(answer([](oracle::Claim& claim) { claim.input = {1}; }),
            "the proof claims the input 1, and not none; no answer is given");
  EXPECT_EQ(answer([](oracle::Claim& claim) { claim.program_digest[4] ^= 1; }),
            "the proof is about another program; no answer is given");
}

}  // namespace
}  // namespace frazil
