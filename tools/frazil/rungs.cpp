#include "rungs.h"

#include <fmt/format.h>

#include "cli.h"
#include "frazil/tri.h"
#include "frontends/circuits/circuits.h"
#include "frontends/circuits/gates.h"
#include "frontends/python/python.h"
#include "ir/digest.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"
#include "machines/simt/text.h"
#include "optimize/normalize/normalize.h"
#include "optimize/optimize.h"
#include "targets/cuda/cuda.h"
#include "targets/isa/isa.h"
#include "targets/native/native.h"
#include "targets/tasm/tasm.h"
#include "targets/wasm/wasm.h"

namespace frazil::cli {
namespace {

using Text = Result<std::string>;

Text EmitJson(const ir::Program&, const RungOptions& options) {
  return frontends::python::PythonToJson(options.input);
}

// The normal form as a circuit; what is no circuit says why.
Text EmitCircuit(const ir::Program& program, const RungOptions& options) {
  const optimize::NormalForm normal = TRY(optimize::Normalize(program, options.limits));
  return TRY(frontends::circuits::FromProgram(normal.program)).text + "\n";
}

// The algebraic reading: the word that the text's calls spell, what it is equal to, and that as calls.
Text EmitGates(const ir::Program&, const RungOptions& options) {
  namespace circuits = frontends::circuits;
  if (!options.input.ends_with(".cir"))
    return Fail(Diag::Unsupported, "gates are a reading of a circuit's text: give a .cir file");
  const std::string text = TRY(ReadFile(options.input, options.limits));
  const circuits::Phrase phrase = TRY(circuits::ParsePhrase(text));
  const circuits::GateWord word = TRY(circuits::GatesOf(circuits::CallsOf(phrase)));
  const circuits::GateWord normal = circuits::NormalGates(word);
  const auto letters = [](const circuits::GateWord& gates) {
    return gates.empty() ? "I" : fmt::to_string(fmt::join(gates, " "));
  };
  return fmt::format("{} = {}\n{}\n", letters(word), letters(normal), circuits::PrintGates(normal));
}

Text EmitIr(const ir::Program& program, const RungOptions&) { return ir::PrintText(program); }

Text EmitCanonical(const ir::Program& program, const RungOptions&) {
  return ir::PrintText(ir::Canonicalize(program));
}

// The proposal, or the lines that say why it means the same.
Text EmitOptimized(const ir::Program& program, const RungOptions& options) {
  optimize::OptimizeOptions optimize;
  optimize.keep_fuel = options.metered;
  const ir::Candidate candidate = TRY(optimize::Optimize(program, options.limits, optimize));
  return options.certificate ? ir::PrintCertificate(candidate.certificate)
                             : ir::PrintText(candidate.program);
}

Text EmitLowered(const ir::Program& program, const RungOptions& options) {
  return ir::PrintText(TRY(ir::LowerForTarget(program, options.limits)));
}

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
    {"json", false, EmitJson},
    {"circuit", false, EmitCircuit},
    {"gates", false, EmitGates},
    {"ir", false, EmitIr},
    {"canonical", false, EmitCanonical},
    {"optimized", false, EmitOptimized},
    {"lowered", false, EmitLowered},
    {"isa", false, EmitIsa},
    {"frzb", true, EmitModule},
    {"wat", false, EmitWat},
    {"wasm", true, EmitWasm},
    {"c", false, EmitC},
    {"llvm", false, EmitLlvm},
    {"asm", false, EmitAssembly},
    {"native", true, EmitNative},
    {"ptx", false, EmitPtx},
    {"tir", false, EmitTir},
    {"tasm", false, EmitTasm},
};

}  // namespace

std::vector<std::string> RungNames() {
  std::vector<std::string> names;
  for (const Rung& rung : Rungs) names.emplace_back(rung.name);
  return names;
}

Result<const Rung*> FindRung(std::string_view name) {
  for (const Rung& rung : Rungs)
    if (rung.name == name) return &rung;
  return Fail(Diag::BadUsage, fmt::format("there is no rung '{}'; there are {}", name,
                                          fmt::join(RungNames(), ", ")));
}

}  // namespace frazil::cli
