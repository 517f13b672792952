// The rungs that are a target's code.
#include <fmt/format.h>

#include "cli.h"
#include "frazil/tri.h"
#include "machines/simt/text.h"
#include "rungs.h"
#include "targets/cuda/cuda.h"
#include "targets/isa/isa.h"
#include "targets/native/native.h"
#include "targets/tasm/tasm.h"
#include "targets/wasm/wasm.h"

namespace frazil::cli {
namespace {

using Text = Result<std::string>;

// Proved before it is shown.
Text EmitIsa(const ir::Program& program, const RungOptions&) {
  return machines::simt::Print(TRY(targets::isa::ProvedModule::OfProgram(program)).module());
}
Text EmitModule(const ir::Program& program, const RungOptions&) {
  const targets::isa::ProvedModule proved = TRY(targets::isa::ProvedModule::OfProgram(program));
  return std::string(proved.module().bytes);
}

Text EmitOn(std::string_view name, const ir::Program& program, const RungOptions& options) {
  const exec::Target* target = TRY(FindTarget(name));
  TRY_VOID(registry::CheckAccepts(*target, program));
  return TRY(target->Emit(program, {options.metered, options.symbol})).bytes;
}
Text EmitWasm(const ir::Program& program, const RungOptions& options) {
  return EmitOn("wasm", program, options);
}
Text EmitWat(const ir::Program& program, const RungOptions& options) {
  return targets::wasm::PrintWat(TRY(EmitWasm(program, options)));
}
Text EmitC(const ir::Program& program, const RungOptions& options) {
  return EmitOn("c", program, options);
}

Result<targets::native::NativeOptions> NativeOptionsOf(const RungOptions& options) {
  const auto level = exec::CpuLevelNamed(options.level);
  if (!level)
    return Fail(
        Diag::BadUsage,
        fmt::format("there is no level '{}'; there are baseline, avx2, avx512", options.level));
  targets::native::NativeOptions native;
  native.level = *level;
  native.metered = options.metered;
  return native;
}
Text EmitLlvm(const ir::Program& program, const RungOptions& options) {
  return targets::native::EmitLlvm(program, TRY(NativeOptionsOf(options)));
}
Text EmitAssembly(const ir::Program& program, const RungOptions& options) {
  return targets::native::EmitAssembly(program, TRY(NativeOptionsOf(options)));
}
Text EmitNative(const ir::Program& program, const RungOptions& options) {
  return exec::SerializeImage(
      TRY(targets::native::EmitImage(program, TRY(NativeOptionsOf(options)))));
}

Text EmitPtx(const ir::Program& program, const RungOptions&) {
  return TRY(targets::cuda::EmitPtx(program)).text;
}

// The same as `frazil tri build` makes.
Result<targets::tasm::Lowered> LowerToTasm(const ir::Program& program, const RungOptions& options) {
  targets::tasm::TasmOptions lower;
  lower.limits = options.limits;
  if (options.input.ends_with(".tri"))
    lower.typical = tri::TypicalInputs(TRY(ReadFile(options.input, options.limits)));
  return targets::tasm::Lower(program, lower);
}
Text EmitTir(const ir::Program& program, const RungOptions& options) {
  return machines::tir::Print(TRY(LowerToTasm(program, options)).tir);
}
Text EmitTasm(const ir::Program& program, const RungOptions& options) {
  return machines::tasm::Print(TRY(LowerToTasm(program, options)).program);
}

constexpr Rung Rungs[] = {
    {"isa", false, EmitIsa},      {"frzb", true, EmitModule},   {"wat", false, EmitWat},
    {"wasm", true, EmitWasm},     {"c", false, EmitC},          {"llvm", false, EmitLlvm},
    {"asm", false, EmitAssembly}, {"native", true, EmitNative}, {"ptx", false, EmitPtx},
    {"tir", false, EmitTir},      {"tasm", false, EmitTasm},
};

}  // namespace

std::span<const Rung> CodeRungs() { return Rungs; }

}  // namespace frazil::cli
