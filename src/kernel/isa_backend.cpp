// Plans are immutable and may be run by any number of threads, so that nothing is locked here.
#include "kernel/isa_backend.h"

#include <fmt/format.h>

#include "exec/interpreter_program.h"
#include "ir/lower.h"
#include "kernel/tile_math.h"
#include "targets/isa/tile.h"

namespace frazil::kernel {
namespace {

Result<void> Told(const LoadedKernel& kernel, const exec::Outcome& outcome) {
  if (!outcome.trap) return {};
  return Fail(Diag::Trapped,
              fmt::format("{}: {}", kernel.signature().name, outcome.trap->ToString()));
}

class TileKernel final : public LoadedKernel {
 public:
  TileKernel(const ir::Program& program, std::shared_ptr<const targets::isa::TilePlan> plan)
      : LoadedKernel(program), plan_(std::move(plan)) {}
  Result<void> Run(std::span<const exec::Value> arguments) const override {
    return Told(*this, TRY(targets::isa::Run(*plan_, arguments)));
  }

 private:
  std::shared_ptr<const targets::isa::TilePlan> plan_;
};

// For programs that the machine does not have: their meaning itself.
class InterpretedKernel final : public LoadedKernel {
 public:
  InterpretedKernel(const ir::Program& program, exec::InterpreterProgram lowered)
      : LoadedKernel(program), lowered_(std::move(lowered)) {}
  Result<void> Run(std::span<const exec::Value> arguments) const override {
    return Told(*this, TRY(lowered_.Run(arguments, {})));
  }

 private:
  exec::InterpreterProgram lowered_;
};

class TileBackend final : public Backend {
 public:
  std::string_view name() const override { return "isa"; }
  Result<std::shared_ptr<const LoadedKernel>> Load(const ir::Program& program) override {
    const Result<targets::isa::ProvedModule> module =
        targets::isa::ProvedModule::OfProgram(program);
    if (module) return std::make_shared<TileKernel>(program, TRY(targets::isa::Prepare(*module)));
    if (module.error().diag != Diag::Unsupported) return std::unexpected(module.error());
    return std::make_shared<InterpretedKernel>(
        program, TRY(exec::InterpreterProgram::Create(TRY(ir::LowerTensors(program)))));
  }
};

}  // namespace

Result<std::shared_ptr<Backend>> MakeIsaBackend() {
  internal::InstallTileMath();
  return std::make_shared<TileBackend>();
}

}  // namespace frazil::kernel
