// The target: Emit lowers and proves, Load takes the bytes alone and runs them.
#include "base/check.h"
#include "exec/marshal.h"
#include "targets/isa/isa.h"
#include "targets/isa/lane_exact.h"

namespace frazil::targets::isa {
namespace {

using machines::simt::Module;

class LaneExactCallable final : public exec::Callable {
 public:
  LaneExactCallable(Module module, std::shared_ptr<const ir::Program> source)
      : module_(std::move(module)), source_(std::move(source)) {}

  Result<exec::Outcome> Run(std::span<const exec::Value> arguments, const exec::RunContext& context) override {
    exec::LoweredCall call = TRY(exec::LoweredCall::Create(*source_, arguments, context.limits));
    exec::Outcome outcome = TRY(RunLaneExact(module_, call.arguments(), context));
    return std::move(call).Finish(outcome.trap, std::move(outcome.results), {});
  }

 private:
  Module module_;
  std::shared_ptr<const ir::Program> source_;
};

class IsaTarget final : public exec::Target {
 public:
  explicit IsaTarget(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }

  std::string Refuses(const ir::Program& program) const override { return WhyNot(program); }

  Result<exec::Artifact> Emit(const ir::Program& program, const exec::EmitOptions& options) const override {
    auto prepared = std::make_shared<const ir::Program>(TRY(PrepareProgram(program)));
    Module module = TRY(LowerPrepared(*prepared));
    TRY_VOID(ProvePrepared(*prepared, module));
    exec::Artifact artifact;
    artifact.target = name_;
    artifact.bytes = std::string(module.bytes);
    artifact.program = std::move(prepared);
    artifact.source = std::make_shared<const ir::Program>(program);
    artifact.entry_symbol = options.symbol;
    return artifact;
  }

  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    Module module = TRY(machines::simt::LoadModule(artifact.bytes));
    return std::make_unique<LaneExactCallable>(std::move(module), artifact.source);
  }

 private:
  std::string_view name_;
};

}  // namespace

std::unique_ptr<exec::Target> MakeLaneExactTarget() { return std::make_unique<IsaTarget>("isa-lanes"); }
std::unique_ptr<exec::Target> MakeIsaTarget() { return std::make_unique<IsaTarget>("isa"); }

}  // namespace frazil::targets::isa
