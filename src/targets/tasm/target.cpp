// The pipeline, and the target around it.
#include <fmt/format.h>

#include "exec/target.h"
#include "ir/lower.h"
#include "targets/tasm/convention.h"
#include "targets/tasm/lower_parts.h"
#include "targets/tasm/select.h"
#include "targets/tasm/tasm.h"
#include "targets/tasm/templates.h"

namespace frazil::targets::tasm {
namespace {

// Cycles that a millisecond of a run's limit stands for.
constexpr uint64_t CyclesPerMillisecond = 50'000;

// The prelude stays: what is left of it after floats are refused are the machine's own instructions.
Result<ir::Program> Prepare(const ir::Program& program) {
  if (std::string why = WhyNot(program); !why.empty()) return Fail(Diag::Unsupported, why);
  ir::Program lowered = TRY(ir::LowerTensors(program));
  return ir::SplitBarriers(lowered);
}

Result<Scheduled> ScheduleProgram(const ir::Program& program, const TasmOptions& options) {
  if (options.callable && options.templates)
    return Fail(Diag::Unsupported, "templates are for whole programs, not for callable functions");
  const ir::Program prepared = TRY(Prepare(program));
  WordProgram words = TRY(SelectWords(prepared, {.profile = options.profile,
                                                 .callable = options.callable,
                                                 .first_on_top = options.first_on_top}));
  if (options.templates) return ScheduleByTemplates(words);
  Scheduled scheduled = TRY(Schedule(words));
  if (!words.raw || !(words.own_ram || scheduled.spills)) return scheduled;
  words = TRY(SelectWords(prepared, {.check_raw = true,
                                     .profile = options.profile,
                                     .callable = options.callable,
                                     .first_on_top = options.first_on_top}));
  return Schedule(words);
}

class TasmCallable final : public exec::Callable {
 public:
  TasmCallable(Lowered lowered, std::shared_ptr<const ir::Program> source)
      : lowered_(std::move(lowered)), source_(std::move(source)) {}

  Result<exec::Outcome> Run(std::span<const exec::Value> arguments,
                            const exec::RunContext& context) override {
    if (context.limits.memory_bytes < Limits{}.memory_bytes ||
        context.limits.depth < Limits{}.depth)
      return Fail(Diag::Unsupported, "Triton VM has no limits on memory and depth but its cycles");
    const mt::Inputs inputs = TRY(ToInputs(*source_, arguments, context));
    mt::RunLimits limits;
    limits.cycles = std::min(limits.cycles, context.limits.run_ms * CyclesPerMillisecond);
    limits.stop = context.stop;
    const mt::RunResult run = mt::Run(lowered_.program, inputs, limits);
    return ToOutcome(*source_, lowered_, run, arguments);
  }

 private:
  Lowered lowered_;
  std::shared_ptr<const ir::Program> source_;
};

class TasmTarget final : public exec::Target {
 public:
  explicit TasmTarget(TasmOptions options) : options_(std::move(options)) {}
  std::string_view name() const override { return "tasm"; }

  std::string Refuses(const ir::Program& program) const override {
    if (std::string why = WhyNot(program); !why.empty()) return why;
    return OutputsOf(program).why_not;
  }

  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override {
    if (std::string why = Refuses(program); !why.empty()) return Fail(Diag::Unsupported, why);
    if (options.metered) return Fail(Diag::Unsupported, "Triton VM counts cycles, not fuel");
    const Lowered lowered = TRY(Lower(program, options_));
    exec::Artifact artifact;
    artifact.target = name();
    artifact.bytes = mt::Print(lowered.program);
    artifact.program = std::make_shared<const ir::Program>(TRY(Prepare(program)));
    artifact.source = std::make_shared<const ir::Program>(program);
    artifact.entry_symbol = options.symbol;
    return artifact;
  }

  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    Lowered lowered = TRY(Lower(*artifact.source, options_));
    if (mt::Print(lowered.program) != artifact.bytes)
      return Fail(Diag::Unsupported, "the assembly was made by other options or another version");
    return std::make_unique<TasmCallable>(std::move(lowered), artifact.source);
  }

 private:
  TasmOptions options_;
};

}  // namespace

Result<tir::Program> LowerToTir(const ir::Program& program, const TasmOptions& options) {
  Scheduled scheduled = TRY(ScheduleProgram(program, options));
  return std::move(scheduled.tir);
}

Result<Lowered> Lower(const ir::Program& program, const TasmOptions& options) {
  Scheduled scheduled = TRY(ScheduleProgram(program, options));
  TasmOptions rest = options;
  rest.peephole = options.peephole && !options.templates;
  Lowered lowered;
  Result<mt::Program> assembly = LowerTir(scheduled.tir, rest);
  if (!assembly) {
    // A trap site is no column for a reader.
    Error error = std::move(assembly.error());
    if (error.location.column == 0 || (error.location.column & SiteMark) != 0)
      error.location.column = 1;
    return std::unexpected(std::move(error));
  }
  lowered.program = std::move(*assembly);
  lowered.tir = std::move(scheduled.tir);
  for (uint32_t i = 0; i < lowered.program.code.size(); ++i) {
    const uint32_t column = lowered.program.code[i].location.column;
    if ((column & SiteMark) != 0) lowered.traps.emplace(i, scheduled.sites[column & ~SiteMark]);
  }
  return lowered;
}

std::unique_ptr<exec::Target> MakeTarget(const TasmOptions& options) {
  return std::make_unique<TasmTarget>(options);
}

}  // namespace frazil::targets::tasm
