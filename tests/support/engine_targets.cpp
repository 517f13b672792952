// Targets as engines. WASM modules are emitted and loaded one by one; C programs are compiled many to a
// unit, because starting a compiler costs more than a small program does.

#include "support/engine_targets.h"

#include <fmt/format.h>

#include "support/engine_batch.h"
#include "targets/c/c.h"
#include "targets/wasm/wasm.h"

namespace frazil::tests {
namespace {

class TargetEngine : public Engine {
 public:
  TargetEngine(std::string_view name, std::unique_ptr<exec::Target> target)
      : name_(name), target_(std::move(target)) {}
  std::string_view name() const override { return name_; }
  TrapDetail trap_detail(const ir::Program& program) const override {
    return TrapDetailWhenLowered(program);
  }
  std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs, bool metered) override {
    std::vector<Prepared> result;
    for (const ir::Program* program : programs) result.push_back(PrepareOne(*program, metered));
    return result;
  }

 private:
  Prepared PrepareOne(const ir::Program& program, bool metered) {
    std::string refusal = target_->Refuses(program);
    if (!refusal.empty()) return Fail(Diag::Unsupported, refusal);
    exec::EmitOptions options;
    options.metered = metered;
    exec::Artifact artifact = TRY(target_->Emit(program, options));
    return target_->Load(artifact);
  }

  std::string_view name_;
  std::unique_ptr<exec::Target> target_;
};

class CEngine : public Engine {
 public:
  CEngine(std::string_view name, std::string compiler) : name_(name), compiler_(std::move(compiler)) {}
  std::string_view name() const override { return name_; }
  TrapDetail trap_detail(const ir::Program& program) const override {
    return TrapDetailWhenLowered(program);
  }
  std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs, bool metered) override {
    std::vector<ir::Program> copies;
    for (const ir::Program* program : programs) copies.push_back(*program);
    std::vector<Prepared> result;
    auto batch = targets::c::CBatch::Compile(copies, compiler_, {}, metered);
    for (size_t i = 0; i < programs.size(); ++i)
      result.push_back(batch ? batch->Get(i) : Prepared(std::unexpected(batch.error())));
    return result;
  }

 private:
  std::string_view name_;
  std::string compiler_;
};

}  // namespace

Result<std::unique_ptr<Engine>> MakeTargetEngine(std::string_view name) {
  if (name == "batch") return MakeBatchEngine();
  if (name == "wasm") return std::make_unique<TargetEngine>("wasm", targets::wasm::MakeWasmTarget());
  if (name == "c-gcc") return std::make_unique<CEngine>("c-gcc", "gcc-12");
  if (name == "c-clang") return std::make_unique<CEngine>("c-clang", "clang-22");
  return Fail(Diag::UnknownTarget, fmt::format("no engine '{}'", name));
}

}  // namespace frazil::tests
