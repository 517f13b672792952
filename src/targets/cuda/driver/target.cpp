#include "targets/cuda/driver/target.h"

#include <fmt/format.h>

#include <mutex>

#include "ir/digest.h"
#include "ir/lower/lower.h"
#include "targets/cuda/driver/callable.h"
#include "targets/cuda/driver/module.h"

namespace frazil::targets::cuda {

struct DriverTarget::Opened {
  std::mutex mutex;
  std::shared_ptr<Device> device;
};

DriverTarget::DriverTarget(std::string library)
    : library_(std::move(library)), opened_(std::make_unique<Opened>()) {}
DriverTarget::~DriverTarget() = default;

Result<std::shared_ptr<Device>> DriverTarget::Open() const {
  const std::lock_guard lock(opened_->mutex);
  if (opened_->device == nullptr) opened_->device = TRY(Device::Open(library_));
  return opened_->device;
}

std::string DriverTarget::Refuses(const ir::Program&) const { return {}; }

Result<exec::Artifact> DriverTarget::Emit(const ir::Program&, const exec::EmitOptions&) const {
  return Fail(Diag::MissingTool,
              "this program has no compiler for PTX; frazil build --targets ptx has one");
}

Result<std::unique_ptr<exec::Callable>> DriverTarget::Load(const exec::Artifact& artifact) const {
  if (artifact.target != name())
    return Fail(Diag::BadArtifact, "the artifact is not one of the cuda target");
  PtxModule module = TRY(ParseModule(artifact.bytes));
  // Arguments are laid out by what the module says of itself.
  if (artifact.source != nullptr &&
      ir::ExactDigest(module.source) != ir::ExactDigest(*artifact.source))
    return Fail(Diag::BadArtifact, "the PTX module is of another program");
  const std::shared_ptr<Device> device = TRY(Open());
  return MakeCudaCallable(device, std::move(module));
}

Result<std::string> DriverTarget::Machine() const {
  const std::shared_ptr<Device> device = TRY(Open());
  return fmt::format("{} by {}", device->name(), device->driver());
}

Result<exec::Artifact> ArtifactOfModule(std::string_view bytes) {
  PtxModule module = TRY(ParseModule(bytes));
  exec::Artifact artifact;
  artifact.target = "cuda";
  artifact.bytes = bytes;
  artifact.profile = module.arch;
  artifact.entry_symbol = module.steps.empty() ? "" : module.steps.back().entry;
  artifact.program = std::make_shared<const ir::Program>(TRY(ir::LowerForTarget(module.source)));
  artifact.source = std::make_shared<const ir::Program>(std::move(module.source));
  return artifact;
}

std::unique_ptr<exec::Target> MakeDriverTarget(const std::string& library) {
  return std::make_unique<DriverTarget>(library);
}

}  // namespace frazil::targets::cuda
