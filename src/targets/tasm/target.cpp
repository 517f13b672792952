// The target around the pipeline.
#include <fmt/format.h>

#include "exec/target.h"
#include "targets/tasm/convention.h"
#include "targets/tasm/lower_parts.h"
#include "targets/tasm/tasm.h"
#include "targets/tasm/words/select.h"

namespace frazil::targets::tasm {
namespace {

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
    limits.cycles = UINT64_MAX;  // time ends a run long before
    limits.stop = context.stop;
    limits.deadline = Deadline::After(context.limits.run_ms);
    const mt::RunResult run = mt::Run(lowered_.program, inputs, limits);
    exec::Outcome outcome = TRY(ToOutcome(*source_, lowered_, run, arguments));
    const bool ended = run.crash && run.crash->kind == mt::CrashKind::Cycles;
    if (ended) outcome.trap = context.Ended(outcome.trap->op, outcome.trap->index);
    return outcome;
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

std::unique_ptr<exec::Target> MakeTarget(const TasmOptions& options) {
  return std::make_unique<TasmTarget>(options);
}

}  // namespace frazil::targets::tasm
