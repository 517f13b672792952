// From words to a judged answer, top to bottom.
#include "frazil/ask.h"

#include <fmt/format.h>

#include <chrono>

#include "exec/meaning/interpreter.h"
#include "frazil/ask/plan.h"
#include "frontends/words/words.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "machines/tasm/program.h"
#include "registry/targets.h"
#include "targets/wasm/wasm.h"
#include "verify/runs/one_run.h"

namespace frazil {
namespace {

namespace words = frontends::words;

std::string ResultTypes(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  std::vector<std::string> names;
  for (ir::Type type : entry.results) names.push_back(ir::PrintType(entry, type));
  return names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", "));
}

// The one place that decides whether an outcome is an answer: what the interpreter refutes is none, and neither is a run that
// was ended by a limit. Where the interpreter cannot tell, the evidence is none, and says so.
Result<verify::Evidence> Decide(const ir::Program& program, const exec::Outcome& outcome,
                                const AskOptions& options) {
  if (outcome.trap && ir::IsLimit(outcome.trap->kind))
    return Fail(Diag::LimitReached,
                fmt::format("the program stopped: {}{}", outcome.trap->ToString(),
                            outcome.trap->timeout_ms ? " (--timeout-ms)" : ""));
  if (options.target == "interp")
    return verify::Evidence{verify::Grade::Proved, "interpreter", "the interpreter's own answer",
                            1};
  Limits limits = options.limits;
  limits.fuel = std::min(limits.fuel, ask::JudgeFuel);
  const verify::Verdict verdict = verify::JudgeRun(program, outcome, limits);
  if (const auto* proved = std::get_if<verify::Proved>(&verdict)) return proved->evidence;
  if (const auto* unknown = std::get_if<verify::Unknown>(&verdict))
    return verify::Evidence{verify::Grade::None, "interpreter", unknown->reason, 0};
  return Fail(Diag::Mismatch,
              fmt::format("{} and the interpreter disagree on this program; no answer is given",
                          options.target));
}

// On Triton VM an answer comes with a STARK proof of it, where there is a prover: of the very assembly that ran.
Result<void> Prove(const exec::Artifact& artifact, const AskOptions& options, Answer& answer) {
  Result<AnswerProof> proof = options.prover(TRY(machines::tasm::Parse(artifact.bytes)));
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

Answer DescribeReading(const words::Reading& reading, const AskOptions& options) {
  Answer answer;
  answer.canonical = reading.canonical;
  answer.operation = reading.operation;
  answer.type = ResultTypes(reading.program);
  answer.program = ir::PrintFunction(reading.program, reading.program.entry_function());
  answer.digest = ir::ExactDigest(reading.program);
  answer.target = options.target;
  return answer;
}

}  // namespace

Result<Answer> Ask(std::string_view text, const AskOptions& options) {
  const words::Reading reading = TRY(words::Parse(text, options.limits));
  const exec::Target* target = TRY(registry::FindTarget(options.target));
  exec::EmitOptions emit;
  emit.metered = options.limits.fuel != Limits().fuel;
  // A limit on fuel asks for the loops as they are written.
  const ask::Plan plan =
      emit.metered ? ask::AsRead(reading.program) : ask::MakePlan(reading.program, options.limits);
  const exec::Artifact artifact = TRY(target->Emit(plan.program, emit));

  exec::RunContext context;
  context.limits = options.limits;
  exec::Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  {
    const Telling running(options, fmt::format("running on {}", options.target));
    outcome = TRY(TRY(target->Load(artifact))->Run({}, context));
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;

  Answer answer = DescribeReading(reading, options);
  answer.milliseconds = taken.count();
  answer.evidence = {plan.meaning, TRY(Decide(plan.program, outcome, options))};
  answer.text = TRY(words::PrintAnswer(reading, outcome));
  answer.formula = plan.formula;
  answer.formula_proof = plan.formula_proof;
  if (options.target == "tasm" && options.prover) {
    const Telling proving(options, "proving");
    TRY_VOID(Prove(artifact, options, answer));
  }
  if (options.target == "wasm") {
    answer.wasm = artifact.bytes;
    answer.wasm_body = TRY(targets::wasm::FunctionBody(artifact.bytes, artifact.entry_symbol));
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
