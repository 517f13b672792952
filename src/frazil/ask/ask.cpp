// From words to an admitted answer, top to bottom; gate.h is what decides.
#include "frazil/ask.h"

#include <fmt/format.h>

#include "exec/meaning/interpreter.h"
#include "frazil/ask/gate.h"
#include "machines/tasm/program.h"

namespace frazil {
namespace {

namespace words = frontends::words;

// On Triton VM an answer comes with a STARK proof of it, where there is a prover: of the very assembly that ran.
Result<void> Prove(const exec::CompiledForm& form, const AskOptions& options, Answer& answer) {
  Result<AnswerProof> proof = options.prover(TRY(machines::tasm::Parse(form.payload)));
  if (proof)
    answer.proof = std::move(*proof);
  else if (proof.error().diag == Diag::Mismatch)
    return std::unexpected(std::move(proof.error()));
  else
    answer.why_no_proof = std::move(proof.error().message);
  return {};
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
    TRY_VOID(Prove(*run.admitted.admitted().form(), options, answer));
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
      fmt::join(proof.output, " "), proof.padded_height,
      static_cast<double>(proof.proof_bytes) / 1000, proof.prove_seconds,
      proof.verify_seconds * 1000);
}

}  // namespace frazil
