// frazil emit: the ladder from text to target code. Each rung prints what the next stage receives.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "cli.h"
#include "frontends/circuits/circuits.h"
#include "frontends/kernels/kernels.h"
#include "ir/digest.h"
#include "ir/lower.h"
#include "ir/text.h"
#include "machines/simt/text.h"
#include "optimize/normalize.h"
#include "optimize/optimize.h"
#include "targets/c/c.h"
#include "targets/cuda/cuda.h"
#include "targets/isa/isa.h"
#include "targets/native/native.h"
#include "targets/tasm/tasm.h"
#include "targets/wasm/wasm.h"
#include "tri.h"

namespace frazil::cli {
namespace {

constexpr std::array Rungs = {"json", "circuit", "ir",  "canonical", "optimized", "lowered",
                              "isa",  "frzb",    "wat", "wasm",      "c",         "llvm",
                              "asm",  "native",  "ptx", "tir",       "tasm"};

struct EmitCommand {
  std::string input;
  std::string kernel;
  std::string to = "ir";
  std::string output;
  std::string symbol = "main";
  bool metered = false;
  bool certificate = false;
  std::string level = std::string(exec::CpuLevelName(exec::HostLevel()));
};

// The proposal, or the lines that say why it means the same.
Result<std::string> EmitOptimized(const EmitCommand& command, const ir::Program& program,
                                  const Limits& limits) {
  optimize::OptimizeOptions options;
  options.keep_fuel = command.metered;
  const ir::Candidate candidate = TRY(optimize::Optimize(program, limits, options));
  return command.certificate ? ir::PrintCertificate(candidate.certificate)
                             : ir::PrintText(candidate.program);
}

bool IsNative(std::string_view rung) { return rung == "llvm" || rung == "asm" || rung == "native"; }

Result<std::string> EmitNative(const EmitCommand& command, const ir::Program& program) {
  const auto level = exec::CpuLevelNamed(command.level);
  if (!level)
    return Fail(
        Diag::BadUsage,
        fmt::format("there is no level '{}'; there are baseline, avx2, avx512", command.level));
  targets::native::NativeOptions options;
  options.level = *level;
  options.metered = command.metered;
  if (command.to == "llvm") return targets::native::EmitLlvm(program, options);
  if (command.to == "asm") return targets::native::EmitAssembly(program, options);
  return exec::SerializeImage(TRY(targets::native::EmitImage(program, options)));
}

// The normal form as a circuit; what is no circuit says why.
Result<std::string> EmitCircuit(const ir::Program& program, const Limits& limits) {
  const optimize::NormalForm normal = TRY(optimize::Normalize(program, limits));
  return TRY(frontends::circuits::FromProgram(normal.program)).text + "\n";
}

// Proved before it is shown.
Result<std::string> EmitIsa(const ir::Program& program, bool as_text) {
  const targets::isa::ProvedModule proved = TRY(targets::isa::ProvedModule::OfProgram(program));
  const machines::simt::Module& module = proved.module();
  return as_text ? machines::simt::Print(module) : std::string(module.bytes);
}

Result<std::string> Emit(const EmitCommand& command, const ir::Program& program,
                         const Limits& limits) {
  exec::EmitOptions options{command.metered, command.symbol};
  if (command.to == "circuit") return EmitCircuit(program, limits);
  if (command.to == "isa" || command.to == "frzb") return EmitIsa(program, command.to == "isa");
  if (command.to == "tir" || command.to == "tasm") {
    // The same as `frazil tri build` makes.
    targets::tasm::TasmOptions lower;
    lower.limits = limits;
    if (command.input.ends_with(".tri"))
      lower.typical = TypicalInputs(TRY(ReadFile(command.input, limits)));
    const targets::tasm::Lowered lowered = TRY(targets::tasm::Lower(program, lower));
    return command.to == "tir" ? machines::tir::Print(lowered.tir)
                               : machines::tasm::Print(lowered.program);
  }
  if (command.to == "ptx") return TRY(targets::cuda::EmitPtx(program)).text;
  if (command.to == "ir") return ir::PrintText(program);
  if (command.to == "canonical") return ir::PrintText(ir::Canonicalize(program));
  if (command.to == "optimized") return EmitOptimized(command, program, limits);
  if (command.to == "lowered") return ir::PrintText(TRY(ir::LowerForTarget(program, limits)));
  if (IsNative(command.to)) return EmitNative(command, program);
  const exec::Target* target = TRY(FindTarget(command.to == "wat" ? "wasm" : command.to));
  if (std::string why = target->Refuses(program); !why.empty())
    return Fail(Diag::Unsupported, fmt::format("the target {} refuses: {}", target->name(), why));
  std::string bytes = TRY(target->Emit(program, options)).bytes;
  if (command.to == "wat") return targets::wasm::PrintWat(bytes);
  return bytes;
}

Result<int> Run(Session& session, const EmitCommand& command) {
  if (std::find(Rungs.begin(), Rungs.end(), command.to) == Rungs.end())
    return Fail(Diag::BadUsage, fmt::format("there is no rung '{}'; there are {}", command.to,
                                            fmt::join(Rungs, ", ")));
  if (command.certificate && command.to != "optimized")
    return Fail(Diag::BadUsage, "--certificate belongs to --to optimized");
  // JSON is what Python says, before it is a program.
  const bool is_json = command.to == "json";
  if (is_json && !PathOf(command.input).ends_with(".py"))
    return Fail(Diag::BadUsage,
                "--to json takes a .py file: it is the form in which Python hands kernels over");
  if (is_json && PathOf(command.input) != command.input)
    return Fail(Diag::BadUsage, "--to json gives every kernel of the file: leave out the name");
  const ir::Program program =
      is_json ? ir::Program() : TRY(ReadProgram(command.input, session.limits));
  Result<std::string> emitted = is_json ? frontends::kernels::PythonToJson(command.input)
                                        : Emit(command, program, session.limits);
  // Places in a program are places in the file that it was read from.
  if (!emitted && emitted.error().location.line > 0 && emitted.error().file.empty())
    emitted.error().file = command.input;
  const std::string bytes = TRY(std::move(emitted));
  bool binary = command.to == "wasm" || command.to == "native" || command.to == "frzb";
  if (!command.output.empty()) TRY_VOID(WriteFile(command.output, bytes));
  if (session.json) {
    nlohmann::ordered_json json = {{"to", command.to}};
    if (!is_json) json["signature"] = ir::ExactDigest(program);
    json["bytes"] = bytes.size();
    if (!command.output.empty())
      json["file"] = command.output;
    else
      json[binary ? "hex" : "text"] = binary ? Hex(bytes) : bytes;
    PrintJson(json);
  } else if (command.output.empty()) {
    // Raw bytes into a pipe, hexadecimal for eyes.
    if (binary && isatty(STDOUT_FILENO))
      fmt::print("{}\n", Hex(bytes));
    else
      std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  }
  return 0;
}

}  // namespace

void AddEmit(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "emit", "print a program at one rung of the ladder",
                 "  frazil emit examples/muladd.frz --to canonical\n"
                 "  frazil emit examples/muladd.frz --to optimized --certificate\n"
                 "  frazil emit \"Sum 1 to 10\" --to wat\n"
                 "  frazil emit examples/muladd.frz --to wasm -o muladd.wasm\n"
                 "  frazil emit examples/kernels/saxpy.py --to isa\n"
                 "  frazil emit examples/saxpy.frz --to asm --level avx2\n"
                 "  frazil emit examples/muladd.frz --to c --symbol muladd -o muladd.h");
  auto options = std::make_shared<EmitCommand>();
  command
      ->add_option(
          "input", options->input,
          "a .py, .json, .cir, .frzb or .frz file (FILE:NAME for one of several), - or words")
      ->required();
  command->add_option("--kernel", options->kernel, "one of several kernels, as in FILE:NAME");
  OneOf(command->add_option("--to", options->to, "what to emit"), {Rungs.begin(), Rungs.end()})
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "write to a file");
  command->add_option("--symbol", options->symbol, "name of the emitted function")
      ->capture_default_str();
  OneOf(command->add_option("--level", options->level, "what native code may use"),
        {"baseline", "avx2", "avx512"})
      ->capture_default_str();
  command->add_flag("--metered", options->metered,
                    "count fuel in the emitted code; optimized: keep the source's fuel");
  command->add_flag("--certificate", options->certificate,
                    "optimized: the certificate instead of the program");
  SetBody(command, session, [&session, options] {
    if (!options->kernel.empty()) options->input += ":" + options->kernel;
    return Run(session, *options);
  });
}

}  // namespace frazil::cli
