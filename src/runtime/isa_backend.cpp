// Plans are immutable and may be run by any number of threads, so that nothing is locked here.
#include "runtime/isa_backend.h"

#include <fmt/format.h>

#include "exec/meaning/interpreter.h"
#include "exec/meaning/interpreter_program.h"
#include "ir/check/check.h"
#include "ir/lower/lower.h"
#include "runtime/tile_math.h"
#include "targets/tiles/tile.h"

namespace frazil::runtime {
namespace {

Result<void> Told(const LoadedKernel& kernel, const std::optional<exec::TrapInfo>& trap) {
  if (!trap) return {};
  return Fail(Diag::Trapped, fmt::format("{}: {}", kernel.signature().name, trap->ToString()));
}

class TileKernel final : public LoadedKernel {
 public:
  TileKernel(const Source& source, std::shared_ptr<const targets::tiles::TilePlan> plan)
      : LoadedKernel(source), plan_(std::move(plan)) {
    takes_words_ = targets::tiles::LaneByLane(*plan_).empty();
  }
  Result<void> Run(std::span<const exec::Value> arguments) const override {
    return Told(*this, TRY(targets::tiles::Run(*plan_, arguments)).trap);
  }
  Result<void> RunWords(const uint64_t* words) const override {
    uint64_t results[internal::MostLaunchResults];
    targets::tiles::TileRun run;
    if (targets::tiles::RunWords(*plan_, words, results, run) == 0) [[likely]]
      return {};
    return Told(*this, run.trap);
  }

 private:
  std::shared_ptr<const targets::tiles::TilePlan> plan_;
};

// The meaning itself: for the backend of that name, and for programs that the machine does not have.
class InterpretedKernel final : public LoadedKernel {
 public:
  InterpretedKernel(const Source& source, exec::InterpreterProgram lowered)
      : LoadedKernel(source), lowered_(std::move(lowered)) {}
  Result<void> Run(std::span<const exec::Value> arguments) const override {
    return Told(*this, TRY(lowered_.Run(arguments, {})).trap);
  }

 private:
  exec::InterpreterProgram lowered_;
};

class InterpreterBackend final : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  Result<std::shared_ptr<const LoadedKernel>> Load(const Source& source) override {
    TRY_VOID(ir::Check(source.program()));
    if (const std::string why = exec::MakeInterpreterTarget()->Refuses(source.program());
        !why.empty())
      return Fail(Diag::Unsupported, why);
    return std::make_shared<InterpretedKernel>(
        source, TRY(exec::InterpreterProgram::Create(source.program())));
  }
};

class TileBackend final : public Backend {
 public:
  std::string_view name() const override { return "isa"; }
  Result<std::shared_ptr<const LoadedKernel>> Load(const Source& source) override {
    const Result<targets::isa::ProvedModule> module =
        targets::isa::ProvedModule::OfProgram(source.program());
    if (module) return std::make_shared<TileKernel>(source, TRY(targets::tiles::Prepare(*module)));
    if (module.error().diag != Diag::Unsupported) return std::unexpected(module.error());
    return std::make_shared<InterpretedKernel>(
        source, TRY(exec::InterpreterProgram::Create(TRY(ir::LowerTensors(source.program())))));
  }
};

}  // namespace

Result<std::shared_ptr<Backend>> MakeIsaBackend() {
  internal::InstallTileMath();
  return std::make_shared<TileBackend>();
}

std::shared_ptr<Backend> MakeInterpreterBackend() { return std::make_shared<InterpreterBackend>(); }

}  // namespace frazil::runtime
