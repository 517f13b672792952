// Targets as engines. WASM modules and native code are emitted and loaded one by one; C programs are compiled many to a
// unit, because starting a compiler costs more than a small program does.

#include "support/engine_targets.h"

#include <fmt/format.h>

#include "support/engine_batch.h"
#include "support/engine_optimized.h"
#include "targets/c/c.h"
#include "targets/native/native.h"
#include "targets/tasm/tasm.h"
#include "targets/tiles/tile.h"
#include "targets/wasm/wasm.h"

namespace frazil::tests {
namespace {

class TargetEngine : public Engine {
 public:
  using Image = Result<ir::Program> (*)(const ir::Program&);
  // `unusable`: why this machine cannot run the target at all; then every program is refused. `selective`: not every
  // program is the target's business. `image`: what is compiled instead of the program.
  TargetEngine(std::string_view name, std::unique_ptr<exec::Target> target,
               std::string unusable = "", bool selective = false, Image image = nullptr)
      : name_(name),
        target_(std::move(target)),
        unusable_(std::move(unusable)),
        selective_(selective),
        image_(image) {}
  // On Triton VM a trap is a crash, which proves nothing.
  bool leaves_memory() const override { return name_ != "tasm"; }
  std::string_view name() const override { return name_; }
  bool may_refuse() const override { return selective_ || !unusable_.empty(); }
  std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs,
                                bool metered) override {
    std::vector<Prepared> result;
    for (const ir::Program* program : programs) result.push_back(PrepareOne(*program, metered));
    return result;
  }

 private:
  Prepared PrepareOne(const ir::Program& source, bool metered) {
    const ir::Program program = image_ != nullptr ? TRY(image_(source)) : source;
    std::string refusal = unusable_.empty() ? target_->Refuses(program) : unusable_;
    if (!refusal.empty()) return Fail(Diag::Unsupported, refusal);
    exec::EmitOptions options;
    options.metered = metered;
    exec::Artifact artifact = TRY(target_->Emit(program, options));
    return target_->Load(artifact);
  }

  std::string_view name_;
  std::unique_ptr<exec::Target> target_;
  std::string unusable_;
  bool selective_;
  Image image_;
};

struct Compiler {
  std::string path;
  std::vector<std::string> flags;
};

// With several compilers each unit is for the next of them; a single program (a shrinker's) is for the
// one that was last.
class CEngine : public Engine {
 public:
  CEngine(std::string_view name, std::vector<Compiler> compilers)
      : name_(name), compilers_(std::move(compilers)) {}
  std::string_view name() const override { return name_; }
  std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs,
                                bool metered) override {
    std::vector<ir::Program> copies;
    for (const ir::Program* program : programs) copies.push_back(*program);
    std::vector<Prepared> result;
    if (programs.size() > 1) last_ = (last_ + 1) % compilers_.size();
    const Compiler& compiler = compilers_[last_];
    auto batch = targets::c::CBatch::Compile(copies, compiler.path, compiler.flags, metered);
    for (size_t i = 0; i < programs.size(); ++i)
      result.push_back(batch ? batch->Get(i) : Prepared(std::unexpected(batch.error())));
    return result;
  }

 private:
  std::string_view name_;
  std::vector<Compiler> compilers_;
  size_t last_ = 0;
};

}  // namespace

Result<std::unique_ptr<Engine>> MakeTargetEngine(std::string_view name) {
  if (name == "batch") return MakeBatchEngine();
  if (name == "wasm")
    return std::make_unique<TargetEngine>("wasm", targets::wasm::MakeWasmTarget());
  if (name == "isa")
    return std::make_unique<TargetEngine>("isa", targets::tiles::MakeIsaTarget(), "", true);
  if (name == "isa-lanes")
    return std::make_unique<TargetEngine>("isa-lanes", targets::tiles::MakeLaneExactTarget(), "",
                                          true);
  if (name == "tasm")
    return std::make_unique<TargetEngine>("tasm", targets::tasm::MakeTarget(), "", true);
  for (std::string_view native : {"native-baseline", "native-avx2", "native-avx512"}) {
    if (name != native) continue;
    targets::native::NativeOptions options;
    options.level = *exec::CpuLevelNamed(name.substr(std::string_view("native-").size()));
    return std::make_unique<TargetEngine>(
        native, targets::native::MakeNativeTarget(options),
        options.level > exec::HostLevel() ? "this machine lacks the level" : "");
  }
  if (name == "native-fused")
    return std::make_unique<TargetEngine>(
        "native-fused", targets::native::MakeNativeTarget(targets::native::NativeOptions()), "",
        false, OfferedProgram);
  // What a call site gets first; the others are tuned.
  if (name == "native-first") {
    targets::native::NativeOptions options;
    options.tuned = false;
    return std::make_unique<TargetEngine>("native-first",
                                          targets::native::MakeNativeTarget(options));
  }
  using Compilers = std::vector<Compiler>;
  if (name == "c-gcc") return std::make_unique<CEngine>("c-gcc", Compilers{{"gcc-12", {}}});
  if (name == "c-clang") return std::make_unique<CEngine>("c-clang", Compilers{{"clang-22", {}}});
  if (name == "c-mixed")
    return std::make_unique<CEngine>("c-mixed", Compilers{{"gcc-12", {"-O1"}},
                                                          {"clang-22", {"-O0"}},
                                                          {"gcc-12", {"-O2"}},
                                                          {"clang-22", {"-O1"}}});
  return Fail(Diag::UnknownTarget, fmt::format("no engine '{}'", name));
}

}  // namespace frazil::tests
