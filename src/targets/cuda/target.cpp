// The target with its compiler: emission here, running by the driver.
#include <fmt/format.h>

#include "targets/cuda/cuda.h"
#include "targets/cuda/driver/target.h"
#include "targets/cuda/plan.h"

namespace frazil::targets::cuda {
namespace {

class CudaTarget final : public DriverTarget {
 public:
  explicit CudaTarget(const PtxOptions& options) : options_(options) {}

  std::string Refuses(const ir::Program& program) const override {
    const Result<PlannedProgram> plan = PlanProgram(program);
    return plan ? "" : plan.error().message;
  }

  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override {
    if (options.metered) return Fail(Diag::Unsupported, "the cuda target does not count fuel");
    const PtxModule module = TRY(EmitPtx(program, options_));
    return ArtifactOfModule(SerializeModule(module));
  }

 private:
  PtxOptions options_;
};

}  // namespace

std::unique_ptr<exec::Target> MakeCudaTarget(const PtxOptions& options) {
  return std::make_unique<CudaTarget>(options);
}

}  // namespace frazil::targets::cuda
