// The door of the native target: lower, generate, link.
#include "targets/native/native.h"

#include <fmt/format.h>

#include "exec/native/native_callable.h"
#include "exec/native/native_toolchain.h"
#include "ir/lower/lower.h"
#include "targets/native/code_generator.h"
#include "targets/native/elf_linker.h"

namespace frazil::targets::native {
namespace {

Result<exec::NativeImage> ImageOf(const ir::Program& lowered, const ir::Program& source,
                                  const NativeOptions& options) {
  const Generated generated = TRY(Generate(lowered, source, options, Output::Object));
  LinkedCode linked = TRY(LinkObject(generated.bytes, EntryName));
  if (!linked.frame_bytes)
    return Fail(Diag::Unsupported, "the code generator does not say how large its frames are");
  exec::NativeImage image;
  image.level = options.level;
  image.metered = options.metered;
  image.uses_run = generated.uses_run;
  image.tuned = generated.tuned;
  image.stack = {*linked.frame_bytes, generated.recursive};
  image.entry_offset = linked.entry_offset;
  image.code = std::move(linked.code);
  image.thresholds = std::move(linked.thresholds);
  return image;
}

// Folds have a form of their own in vectors (folds.h).
Result<ir::Program> Lowered(const ir::Program& program) {
  return ir::LowerForTarget(program, {}, ir::Folds::KeepRows);
}

class NativeTarget : public exec::Target {
 public:
  explicit NativeTarget(const NativeOptions& options) : options_(options) {}

  std::string_view name() const override { return "native"; }

  std::string Refuses(const ir::Program& program) const override {
    return ir::WhyNotLowered(program);
  }

  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override {
    NativeOptions native = options_;
    native.metered = options.metered;
    native.level = options.level.value_or(native.level);
    if (options.style) {
      native.tuned = *options.style == exec::CodeStyle::Tuned;
      native.vectorize = *options.style != exec::CodeStyle::Scalar;
    }
    exec::Artifact artifact;
    artifact.target = "native";
    artifact.program = std::make_shared<ir::Program>(TRY(Lowered(program)));
    artifact.source = std::make_shared<ir::Program>(program);
    artifact.entry_symbol = EntryName;
    artifact.bytes = exec::SerializeImage(TRY(ImageOf(*artifact.program, program, native)));
    return artifact;
  }

  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    if (artifact.target != "native" || artifact.source == nullptr)
      return Fail(Diag::BadArtifact, "the artifact is not one of the native target");
    const exec::NativeImage image = TRY(exec::ParseImage(artifact.bytes));
    return exec::MakeNativeCallable(TRY(exec::NativeCode::Map(image)), artifact.source);
  }

 private:
  NativeOptions options_;
};

}  // namespace

Result<exec::NativeImage> EmitImage(const ir::Program& program, const NativeOptions& options) {
  return ImageOf(TRY(Lowered(program)), program, options);
}

Result<std::string> EmitLlvm(const ir::Program& program, const NativeOptions& options) {
  return TRY(Generate(TRY(Lowered(program)), program, options, Output::Llvm)).bytes;
}

Result<std::string> EmitAssembly(const ir::Program& program, const NativeOptions& options) {
  return TRY(Generate(TRY(Lowered(program)), program, options, Output::Assembly)).bytes;
}

std::string Toolchain() { return exec::NativeToolchain(); }
std::string_view CompilerName() { return "LLVM " FRAZIL_LLVM_VERSION; }

std::unique_ptr<exec::Target> MakeNativeTarget(const NativeOptions& options) {
  return std::make_unique<NativeTarget>(options);
}

}  // namespace frazil::targets::native
