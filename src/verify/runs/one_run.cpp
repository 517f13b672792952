#include "verify/runs/one_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "exec/meaning/interpreter.h"
#include "verify/internal/examine.h"
#include "verify/target_judges.h"

namespace frazil::verify {
namespace {

constexpr std::string_view Interpreter = "interp";

// Why a program has more than one run; empty where it has one.
std::string WhyMoreRuns(const ir::Program& program) {
  if (program.entry_function().param_count() != 0)
    return "a program with parameters has more than one run";
  const auto reads = [](const ir::Inst& inst) {
    return inst.op == ir::Op::Input || inst.op == ir::Op::Hint || inst.op == ir::Op::MerkleStep;
  };
  for (const ir::Function& function : program.functions)
    if (std::ranges::any_of(function.insts, reads))
      return "a program that reads a stream has more than one run";
  return {};
}

Result<exec::Outcome> RunForm(const ir::Program& program, const exec::CompiledForm& form,
                              const exec::Target& target, const exec::RunContext& context) {
  if (form.target == Interpreter) return exec::Interpret(program, {}, context);
  return TRY(target.Load(TRY(exec::ArtifactOf(form))))->Run({}, context);
}

// Borrowed: the judge does not outlive the call.
Result<Verdict> JudgeLifted(const ir::Program& program, const exec::CompiledForm& form,
                            const exec::Target& target, const VerifyOptions& options) {
  return LiftingJudge(std::shared_ptr<const exec::Target>(std::shared_ptr<void>(), &target))
      ->Judge(program, form, {}, options);
}

// The one run, which is left in `outcome`, and what it is worth.
Result<Verdict> JudgeForm(const ir::Program& program, const exec::CompiledForm& form,
                          const exec::Target& target, const VerifyOptions& options,
                          const ir::Candidate* shorter, ExaminedRun& examined,
                          exec::Outcome& outcome) {
  if (std::string why = WhyMoreRuns(program); !why.empty()) return Unknown{std::move(why)};
  if (!form.calling.empty()) return Unknown{"it is not called as a whole program"};
  if (form.target != target.name()) return Unknown{"the form is for another target"};
  exec::RunContext context;
  context.limits = options.limits;
  const auto start = std::chrono::steady_clock::now();
  outcome = TRY(RunForm(program, form, target, context));
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  examined.milliseconds = taken.count();
  if (outcome.trap && ir::IsLimit(outcome.trap->kind)) {
    examined.stopped = outcome.trap;
    return Unknown{"the run was ended by a limit: " + outcome.trap->ToString()};
  }
  if (form.target == Interpreter)
    return Proved{{Grade::Proved, "interpreter", "the interpreter's own answer", 1}};
  Limits limits = options.limits;
  limits.run_ms = limits.verify_ms;
  const bool is_shorter =
      shorter != nullptr && std::holds_alternative<Proved>(CheckCertificate(program, *shorter));
  Verdict verdict = JudgeRun(is_shorter ? shorter->program : program, outcome, limits);
  if (auto* proved = std::get_if<Proved>(&verdict); proved != nullptr && is_shorter)
    proved->evidence.detail += " by a formula that is proved";
  if (!std::holds_alternative<Unknown>(verdict)) return verdict;
  if (Result<Verdict> lifted = JudgeLifted(program, form, target, options);
      lifted && EvidenceOf(*lifted) != nullptr)
    return lifted;
  return verdict;
}

}  // namespace

Verdict JudgeRun(const ir::Program& program, const exec::Outcome& outcome, const Limits& limits) {
  if (std::string why = WhyMoreRuns(program); !why.empty()) return Unknown{std::move(why)};
  exec::RunContext context;
  context.limits = limits;
  Result<exec::Outcome> expected = exec::Interpret(program, {}, context);
  if (!expected) return Unknown{"the interpreter cannot judge it: " + expected.error().message};
  if (expected->trap && ir::IsLimit(expected->trap->kind))
    return Unknown{"too long for the interpreter to judge"};
  if (expected->trap == outcome.trap && expected->results == outcome.results &&
      expected->output == outcome.output)
    return Proved{{Grade::Exhaustive, "interpreter", "the interpreter gives the same", 1}};
  return Refuted{ProgramCall{{}, context, std::move(*expected), outcome},
                 "the interpreter differs"};
}

Result<ExaminedRun> ExamineRun(const ir::Program& source, const ir::Candidate& candidate,
                               exec::CompiledForm form, const exec::Target& target,
                               const Policy& policy, const VerifyOptions& options,
                               const ir::Candidate* shorter) {
  ExaminedRun result;
  exec::Outcome outcome;
  const LoweringJudge one_run = [&](const exec::CompiledForm& judged) {
    return JudgeForm(candidate.program, judged, target, options, shorter, result, outcome);
  };
  Examined examined = TRY(ExamineBy(one_run, source, candidate, std::move(form), policy, options));
  result.meaning = std::move(examined.meaning);
  result.lowering = std::move(examined.lowering);
  result.refusal = std::move(examined.refusal);
  if (examined.form) result.run = JudgedRun(std::move(*examined.form), std::move(outcome));
  return result;
}

}  // namespace frazil::verify
