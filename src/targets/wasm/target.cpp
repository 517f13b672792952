// The target: lower, emit, load.
#include "ir/lower/lower.h"
#include "targets/wasm/emit/emit.h"
#include "targets/wasm/run/callable.h"
#include "targets/wasm/wasm.h"

namespace frazil::targets::wasm {
namespace {

class WasmTarget final : public exec::Target {
 public:
  std::string_view name() const override { return "wasm"; }

  std::string Refuses(const ir::Program& program) const override { return RefusalOf(program); }

  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override {
    auto lowered = std::make_shared<const ir::Program>(TRY(ir::LowerForTarget(program)));
    exec::Artifact artifact;
    artifact.target = name();
    artifact.bytes = TRY(EmitModule(*lowered, options));
    artifact.program = std::move(lowered);
    artifact.source = std::make_shared<const ir::Program>(program);
    artifact.entry_symbol = options.symbol;
    artifact.metered = options.metered;
    return artifact;
  }

  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    return LoadArtifact(artifact);
  }
};

}  // namespace

std::unique_ptr<exec::Target> MakeWasmTarget() { return std::make_unique<WasmTarget>(); }

}  // namespace frazil::targets::wasm
