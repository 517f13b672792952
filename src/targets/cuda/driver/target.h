// The target "cuda" as far as it goes without a compiler: modules that somebody else made are loaded and run.
#pragma once

#include <memory>
#include <string>

#include "exec/target.h"
#include "targets/cuda/driver/device.h"

namespace frazil::targets::cuda {

// Emit fails with MissingTool. The GPU is opened when it is first asked for, and stays open for as long as the target is
// there: making its context takes longer than most kernels run.
class DriverTarget : public exec::Target {
 public:
  explicit DriverTarget(std::string library = "libcuda.so.1");
  ~DriverTarget() override;

  std::string_view name() const override { return "cuda"; }
  std::string Refuses(const ir::Program& program) const override;
  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override;
  // Fails with NoDevice where there is no GPU, and with BadArtifact where the module says that it is of another program.
  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override;
  // "NVIDIA H200 by libcuda.so.580.159.03, CUDA 13.0": the driver is the second half of the compiler.
  Result<std::string> Machine() const override;

 private:
  Result<std::shared_ptr<Device>> Open() const;
  struct Opened;
  std::string library_;
  std::unique_ptr<Opened> opened_;
};

// A module as an artifact of this target, for whoever was given one as bytes.
Result<exec::Artifact> ArtifactOfModule(std::string_view bytes);

std::unique_ptr<exec::Target> MakeDriverTarget(const std::string& library = "libcuda.so.1");

}  // namespace frazil::targets::cuda
