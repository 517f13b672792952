#include "frazil/ask/gate.h"

#include <fmt/format.h>

#include "exec/native/native_code.h"
#include "exec/native/native_toolchain.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "registry/targets.h"
#include "targets/wasm/wasm.h"
#include "verify/runs/one_run.h"

namespace frazil::ask {
namespace {

Result<exec::CompiledForm> FormOf(const ir::Program& read, const Plan& plan,
                                  exec::Artifact artifact) {
  exec::CompiledForm form;
  form.source_exact = ir::ExactDigest(read);
  form.guard = ir::PrintGuard(plan.candidate.guard);
  form.candidate = ir::PrintText(plan.candidate.program);
  form.candidate_exact = ir::ExactDigest(plan.candidate.program);
  if (!plan.formula.empty()) {
    form.source = ir::PrintText(read);
    form.certificate = ir::PrintCertificate(plan.candidate.certificate);
  }
  form.target = artifact.target;
  if (form.target == "native")
    form.profile = exec::CpuLevelName(TRY(exec::ParseImage(artifact.bytes)).level);
  form.symbol = artifact.entry_symbol;
  form.toolchain = exec::NativeToolchain();
  form.payload = std::move(artifact.bytes);
  // It runs once: there is nothing to win by being faster.
  form.cost = exec::Bytes{form.payload.size()};
  return form;
}

Error WhyNone(const verify::ExaminedRun& examined, const std::string& target,
              const Limits& limits) {
  if (examined.stopped)
    return {Diag::LimitReached,
            fmt::format("the program stopped: {}{}", examined.stopped->ToString(),
                        examined.stopped->timeout_ms ? " (--timeout-ms)" : "")};
  if (std::holds_alternative<verify::Refuted>(examined.lowering))
    return {
        Diag::Mismatch,
        fmt::format("{} and the interpreter disagree on this program; no answer is given", target)};
  if (verify::EvidenceOf(examined.meaning) == nullptr ||
      verify::EvidenceOf(examined.lowering) != nullptr)
    return {Diag::NotAdmitted, "no answer is given: " + examined.refusal};
  Error error{
      Diag::LimitReached,
      fmt::format("what {} gives was not judged within --verify-ms {} ({}); no answer is given",
                  target, limits.verify_ms, verify::WhyNot(examined.lowering))};
  error.hint = "allow more, or ask with --target isa, which is judged without running";
  return error;
}

std::string ResultTypes(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  std::vector<std::string> names;
  for (ir::Type type : entry.results) names.push_back(ir::PrintType(entry, type));
  return names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", "));
}

}  // namespace

Result<Run> RunPlan(const ir::Program& read, const Plan& plan, const AskOptions& options) {
  const exec::Target* target = TRY(registry::FindTarget(options.target));
  exec::EmitOptions emit;
  emit.metered = options.limits.fuel != Limits().fuel;
  exec::CompiledForm form =
      TRY(FormOf(read, plan, TRY(target->Emit(plan.candidate.program, emit))));
  verify::VerifyOptions judging;
  judging.limits = options.limits;
  const verify::Policy policy = verify::Policy::Default(read);
  const verify::ExaminedRun examined =
      TRY(verify::ExamineRun(read, plan.candidate, std::move(form), *target, policy, judging,
                             plan.shorter ? &*plan.shorter : nullptr));
  if (!examined.run) return std::unexpected(WhyNone(examined, options.target, options.limits));
  auto admitted = engine::AdmitRun(*examined.run, policy);
  if (!admitted) return Fail(Diag::NotAdmitted, "no answer is given: " + admitted.error());
  return Run{std::move(*admitted), examined.milliseconds};
}

Result<Answer> Maker::Make(const frontends::words::Reading& reading, const Plan& plan,
                           const engine::AdmittedRun& run) {
  const verify::Verified<exec::CompiledForm>& form = run.admitted().form();
  Answer answer;
  answer.text = TRY(frontends::words::PrintAnswer(reading, run.outcome()));
  answer.canonical = reading.canonical;
  answer.operation = reading.operation;
  answer.type = ResultTypes(reading.program);
  answer.program = ir::PrintFunction(reading.program, reading.program.entry_function());
  answer.digest = form->source_exact;
  answer.target = form->target;
  answer.evidence = form.evidence();
  answer.formula = plan.formula;
  answer.formula_proof = plan.formula_proof;
  if (form->target == "wasm") {
    answer.wasm = form->payload;
    answer.wasm_body = TRY(targets::wasm::FunctionBody(form->payload, form->symbol));
  }
  return answer;
}

}  // namespace frazil::ask
