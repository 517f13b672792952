// From words to an admitted answer, top to bottom; gate.h is what decides.
#include "frazil/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "exec/meaning/interpreter.h"
#include "frazil/ask/gate.h"
#include "machines/tasm/program.h"
#include "targets/tasm/convention.h"

namespace frazil {
namespace {

namespace words = frontends::words;

// Of the very assembly that ran, and of what it gave then.
Result<AnswerProof> ProofOf(const engine::AdmittedRun& run, const AnswerProver& prover) {
  const machines::tasm::Program assembly =
      TRY(machines::tasm::Parse(run.admitted().form()->payload));
  AnswerProof proof = TRY(prover(assembly));
  std::vector<uint64_t> given;
  for (const auto* values : {&run.outcome().output, &run.outcome().results})
    for (const exec::Value& value : *values)
      std::ranges::copy(targets::tasm::ToWords(value), std::back_inserter(given));
  TRY_VOID(oracle::CheckClaim(proof.claim, assembly, {}, given));
  return proof;
}

// On Triton VM an answer comes with a STARK proof of it, where there is a prover.
Result<void> Prove(const engine::AdmittedRun& run, const AskOptions& options, Answer& answer) {
  Result<AnswerProof> proof = ProofOf(run, options.prover);
  if (proof) {
    answer.proof = std::move(*proof);
    return {};
  }
  if (proof.error().diag != Diag::Mismatch) {
    answer.why_no_proof = std::move(proof.error().message);
    return {};
  }
  proof.error().message += "; no answer is given";
  return std::unexpected(std::move(proof.error()));
}

Result<std::vector<AnswerStep>> TraceSteps(const words::Reading& reading, const Limits& limits) {
  const std::vector<words::Step> steps = TRY(words::Trace(reading));
  std::vector<AnswerStep> trace;
  std::vector<std::string> values;
  exec::RunContext context;
  context.limits = limits;
  for (size_t i = 0; i < steps.size(); ++i) {
    const exec::Outcome outcome = TRY(exec::Interpret(steps[i].program, {}, context));
    std::string expression = words::PrintStep(reading, steps, i, values);
    values.push_back(TRY(words::PrintAnswer(steps[i].answer_kind, outcome)));
    trace.push_back({std::move(expression), values.back()});
  }
  return trace;
}

// Says what is under way for as long as it lives.
class Telling {
 public:
  Telling(const AskOptions& options, std::string_view what) : options_(options) { Tell(what); }
  ~Telling() { Tell(""); }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

 private:
  void Tell(std::string_view what) const {
    if (options_.on_step) options_.on_step(what);
  }
  const AskOptions& options_;
};

}  // namespace

Result<Answer> Ask(std::string_view text, const AskOptions& options) {
  const words::Reading reading = TRY(words::Parse(text, options.limits));
  const ask::Plan plan = ask::MakePlan(reading.program, options.limits);
  const ask::Run run = TRY([&] {
    const Telling running(options, fmt::format("running on {}", options.target));
    return ask::RunPlan(reading.program, plan, options);
  }());
  Answer answer = TRY(ask::Maker::Make(reading, plan, run.admitted));
  answer.milliseconds = run.milliseconds;
  if (options.target == "tasm" && options.prover) {
    const Telling proving(options, "proving");
    TRY_VOID(Prove(run.admitted, options, answer));
  }
  if (options.trace) answer.trace = TRY(TraceSteps(reading, options.limits));
  return answer;
}

std::string DescribeEvidence(const verify::Evidence& evidence) {
  if (evidence.grade == verify::Grade::Proved) return evidence.detail;
  return fmt::format("{}: {}", verify::GradeName(evidence.grade), evidence.detail);
}

std::string DescribeProof(const AnswerProof& proof) {
  return fmt::format(
      "STARK of output {} at height {}, {:.0f} kB in {:.2f} s, verified in {:.0f} ms",
      fmt::join(proof.claim.output, " "), proof.padded_height,
      static_cast<double>(proof.proof_bytes) / 1000, proof.prove_seconds,
      proof.verify_seconds * 1000);
}

}  // namespace frazil
