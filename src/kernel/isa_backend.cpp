// Plans are immutable and may be run by any number of threads, so that nothing is locked here.
#include "kernel/isa_backend.h"

#include <fmt/format.h>

#include "ir/lower.h"
#include "kernel/tile_math.h"
#include "targets/isa/tile.h"

namespace frazil::kernel {
namespace {

class TileKernel final : public LoadedKernel {
 public:
  TileKernel(const ir::Program& program, std::shared_ptr<const targets::isa::TilePlan> plan)
      : LoadedKernel(program), plan_(std::move(plan)) {}
  Result<void> Run(std::span<const exec::Value> arguments) const override {
    const exec::Outcome outcome = TRY(targets::isa::Run(*plan_, arguments));
    if (outcome.trap)
      return Fail(Diag::Trapped, fmt::format("{}: {}", signature().name, outcome.trap->ToString()));
    return {};
  }

 private:
  std::shared_ptr<const targets::isa::TilePlan> plan_;
};

class TileBackend final : public Backend {
 public:
  std::string_view name() const override { return "isa"; }
  Result<std::shared_ptr<const LoadedKernel>> Load(const ir::Program& program) override {
    const ir::Program lowered = TRY(ir::LowerTensors(program));
    return std::make_shared<TileKernel>(program, TRY(targets::isa::Prepare(lowered)));
  }
};

}  // namespace

Result<std::shared_ptr<Backend>> MakeIsaBackend() {
  internal::InstallTileMath();
  return std::make_shared<TileBackend>();
}

}  // namespace frazil::kernel
