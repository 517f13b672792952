// The target: emission here, running by the driver.
#include <fmt/format.h>

#include "ir/lower/lower.h"
#include "targets/cuda/cuda.h"
#include "targets/cuda/driver/callable.h"
#include "targets/cuda/plan.h"

namespace frazil::targets::cuda {
namespace {

class CudaTarget : public exec::Target {
 public:
  explicit CudaTarget(const PtxOptions& options) : options_(options) {}

  std::string_view name() const override { return "cuda"; }

  std::string Refuses(const ir::Program& program) const override {
    const Result<PlannedProgram> plan = PlanProgram(program);
    return plan ? "" : plan.error().message;
  }

  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override {
    if (options.metered) return Fail(Diag::Unsupported, "the cuda target does not count fuel");
    const PtxModule module = TRY(EmitPtx(program, options_));
    exec::Artifact artifact;
    artifact.target = "cuda";
    artifact.program = std::make_shared<ir::Program>(TRY(ir::LowerForTarget(program)));
    artifact.source = std::make_shared<ir::Program>(program);
    artifact.entry_symbol = module.steps.empty() ? "" : module.steps.back().entry;
    artifact.bytes = SerializeModule(module);
    return artifact;
  }

  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    if (artifact.target != "cuda")
      return Fail(Diag::BadArtifact, "the artifact is not one of the cuda target");
    PtxModule module = TRY(ParseModule(artifact.bytes));
    return MakeCudaCallable(TRY(Device::Open()), std::move(module));
  }

 private:
  PtxOptions options_;
};

}  // namespace

std::unique_ptr<exec::Target> MakeCudaTarget(const PtxOptions& options) {
  return std::make_unique<CudaTarget>(options);
}

}  // namespace frazil::targets::cuda
