// Emitting, calling and judging.
#include "trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "exec/meaning/after_trap.h"
#include "exec/meaning/interpreter.h"
#include "exec/native/native_callable.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "mutants/selected.h"
#include "targets/native/native.h"
#include "targets/wasm/wasm.h"

namespace frazil::mutants {
namespace {

// Beyond so many turns the interpreter takes longer than the test has.
constexpr uint64_t InterpreterFuel = 400'000;

// As in engine/improve_here.cpp, of a request with the default time.
struct Effort {
  uint64_t fuel;
  uint64_t memory_bytes;
  double most_ms;
};
constexpr Effort Efforts[] = {{1 << 12, 1 << 20, 1'500},
                              {1 << 16, 16 << 20, 1'500},
                              {1 << 22, 64 << 20, 2'000},
                              {1 << 26, 256 << 20, 1e9}};
constexpr double ShareMs = 6'000;
constexpr uint64_t QuickExhaustiveCases = 1 << 20;
constexpr uint64_t SmtMs = 1'000;

Result<exec::Outcome> RunCode(const std::shared_ptr<const ir::Program>& program, const Code& code,
                              std::span<const exec::Value> values,
                              const exec::RunContext& context) {
  const auto callable =
      code.module ? TRY(targets::wasm::MakeWasmTarget()->Load(*code.module))
                  : TRY(exec::MakeNativeCallable(TRY(exec::NativeCode::Map(code.image)), program));
  return callable->Run(values, context);
}

// As in aot/judge.cpp, with less time.
constexpr uint64_t ModuleFuel = 1 << 22;
constexpr uint64_t ModuleMemoryBytes = 64 << 20;

Result<Judged> JudgeModule(const ir::Program& program, const exec::Artifact& module, Notes& notes,
                           const std::string& salt) {
  verify::VerifyOptions options;
  options.salt = salt;
  options.limits.fuel = ModuleFuel;
  options.limits.memory_bytes = ModuleMemoryBytes;
  options.limits.verify_ms = static_cast<uint64_t>(ShareMs);
  options.notes = &notes[0];
  const verify::Verdict verdict =
      TRY(verify::VerifyModule(program, *targets::wasm::MakeWasmTarget(), module, {}, options));
  if (const verify::Evidence* evidence = verify::EvidenceOf(verdict))
    return Judged{Judgment::Admitted, evidence->detail};
  const bool refuted = std::holds_alternative<verify::Refuted>(verdict);
  return Judged{refuted ? Judgment::Refuted : Judgment::Unknown, verify::WhyNot(verdict)};
}

}  // namespace

Result<Programs> Programs::Read(const std::string& folder) {
  Programs programs;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".frz") continue;
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    Result<ir::Program> program = ir::ParseText(text.str());
    if (!program)
      return Fail(Diag::BadUsage,
                  fmt::format("{}: {}", file.path().string(), program.error().ToString()));
    programs.entries_[file.path().stem()] = {std::make_shared<ir::Program>(std::move(*program)),
                                             text.str()};
  }
  return programs;
}

Result<std::shared_ptr<const ir::Program>> Programs::Find(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return Fail(Diag::BadUsage, "there is no program " + name);
  return found->second.program;
}

Result<Code> Emit(const ir::Program& program, const Form& form, int mutation) {
  targets::native::NativeOptions options;
  options.level = form.level;
  options.tuned = form.tuned;
  options.metered = form.metered();
  selected = mutation;
  Result<Code> code = Code{};
  if (form.is_wasm) {
    exec::EmitOptions module_options;
    module_options.metered = form.metered();
    Result<exec::Artifact> module = targets::wasm::MakeWasmTarget()->Emit(program, module_options);
    if (module)
      code->module = std::move(*module);
    else
      code = std::unexpected(module.error());
  } else {
    Result<exec::NativeImage> image = targets::native::EmitImage(program, options);
    if (image)
      code->image = std::move(*image);
    else
      code = std::unexpected(image.error());
  }
  selected = 0;
  return code;
}

Result<Answer> RightAnswer(const ir::Program& program, const Witness& witness,
                           const Code& original) {
  exec::RunContext context = ContextOf(witness);
  const bool metered = witness.form.metered();
  if (!metered) context.limits.fuel = InterpreterFuel;
  Answer answer{{}, TRY(MakeArguments(program, witness))};
  answer.outcome = TRY(exec::Interpret(program, answer.arguments.values, context));
  if (metered || !answer.outcome.trap || answer.outcome.trap->kind != ir::Trap::Fuel) return answer;
  answer.arguments = TRY(MakeArguments(program, witness));
  answer.outcome = TRY(RunCode(std::make_shared<ir::Program>(program), original,
                               answer.arguments.values, ContextOf(witness)));
  return answer;
}

Result<std::string> WrongAnswer(const std::shared_ptr<const ir::Program>& program,
                                const Witness& witness, const Code& code, const Answer& right) {
  const exec::RunContext context = ContextOf(witness);
  Arguments arguments = TRY(MakeArguments(*program, witness));
  const exec::Outcome found = TRY(RunCode(program, code, arguments.values, context));
  const exec::Outcome& expected = right.outcome;
  if (!arguments.intact()) return "it wrote outside of its buffers";
  if (found.trap != expected.trap)
    return fmt::format("trap: {}, not {}", found.trap ? found.trap->ToString() : "none",
                       expected.trap ? expected.trap->ToString() : "none");
  if (expected.trap) {
    const Arguments before = TRY(MakeArguments(*program, witness));
    const auto wrong =
        exec::WrongAfterTrap(TRY(exec::InterpreterProgram::Create(*program)), before.values,
                             right.arguments.values, arguments.values, context);
    if (wrong)
      return fmt::format("after the trap: argument {}, element {}", wrong->argument,
                         wrong->element);
    return "";
  }
  for (size_t i = 0; i < expected.results.size(); ++i)
    if (!(found.results[i] == expected.results[i])) return fmt::format("result {}", i);
  if (found.output != expected.output) return "the output";
  for (size_t i = 0; i < arguments.values.size(); ++i)
    if (!(arguments.values[i] == right.arguments.values[i])) return fmt::format("argument {}", i);
  return "";
}

Result<Judged> JudgeAsUsual(const ir::Program& program, const Code& code, Notes& notes,
                            const std::string& salt) {
  if (code.module) return JudgeModule(program, *code.module, notes, salt);
  ir::Candidate candidate;
  candidate.program = program;
  candidate.origin = "source";
  exec::CompiledForm form;
  form.source_exact = ir::ExactDigest(program);
  form.guard = ir::PrintGuard(candidate.guard);
  form.candidate = ir::PrintText(ir::Canonicalize(program));
  form.candidate_exact = form.source_exact;
  form.toolchain = targets::native::Toolchain();
  exec::PutImage(form, code.image);
  verify::VerifyOptions options;
  options.salt = salt;
  options.limits.smt_ms = SmtMs;
  options.exhaustive_cases = QuickExhaustiveCases;
  const auto start = std::chrono::steady_clock::now();
  verify::Examined examined;
  for (size_t i = 0; i < std::size(Efforts); ++i) {
    const double passed_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (passed_ms >= ShareMs) break;
    options.limits.fuel = Efforts[i].fuel;
    options.limits.memory_bytes = Efforts[i].memory_bytes;
    options.limits.verify_ms =
        static_cast<uint64_t>(std::ceil(std::min(ShareMs - passed_ms, Efforts[i].most_ms)));
    options.notes = &notes[i];
    examined =
        TRY(verify::Examine(program, candidate, form, verify::Policy::Default(program), options));
    if (examined.form || !std::holds_alternative<verify::Unknown>(examined.lowering) ||
        std::holds_alternative<verify::Unknown>(examined.meaning))
      break;
  }
  if (examined.form) return Judged{Judgment::Admitted, verify::Describe(examined.form->evidence())};
  if (std::holds_alternative<verify::Refuted>(examined.lowering))
    return Judged{Judgment::Refuted, verify::WhyNot(examined.lowering)};
  return Judged{Judgment::Unknown, examined.refusal};
}

}  // namespace frazil::mutants
