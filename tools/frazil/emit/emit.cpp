// frazil emit: a program at one rung of the ladder from text to target code.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "cli.h"
#include "exec/native/native_code.h"
#include "ir/digest.h"
#include "rungs.h"

namespace frazil::cli {
namespace {

struct EmitCommand {
  std::string input;
  std::string kernel;
  std::string to = "ir";
  std::string output;
  RungOptions rung;
};

// JSON is what Python says, before it is a program.
Result<void> CheckJsonInput(const std::string& input) {
  const std::string path = sources::PathOf(input);
  if (!path.ends_with(".py"))
    return Fail(Diag::BadUsage,
                "--to json takes a .py file: it is the form in which Python hands kernels over");
  if (path != input)
    return Fail(Diag::BadUsage, "--to json gives every kernel of the file: leave out the name");
  return {};
}

void Print(const Session& session, const EmitCommand& command, bool is_binary,
           const std::string& bytes, const ir::Program* program) {
  if (session.json) {
    nlohmann::ordered_json json = {{"to", command.to}};
    if (program != nullptr) json["signature"] = ir::ExactDigest(*program);
    json["bytes"] = bytes.size();
    if (!command.output.empty())
      json["file"] = command.output;
    else
      json[is_binary ? "hex" : "text"] = is_binary ? Hex(bytes) : bytes;
    PrintJson(json);
  } else if (command.output.empty()) {
    // Raw bytes into a pipe, hexadecimal for eyes.
    if (is_binary && isatty(STDOUT_FILENO))
      fmt::print("{}\n", Hex(bytes));
    else
      std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  }
}

Result<int> Emit(Session& session, EmitCommand& command) {
  const Rung* rung = TRY(FindRung(command.to));
  if (command.rung.certificate && command.to != "optimized")
    return Fail(Diag::BadUsage, "--certificate belongs to --to optimized");
  const bool is_json = command.to == "json";
  if (is_json) TRY_VOID(CheckJsonInput(command.input));
  const ir::Program program =
      is_json ? ir::Program() : TRY(ReadProgram(command.input, session.limits));
  command.rung.input = command.input;
  command.rung.limits = session.limits;
  Result<std::string> emitted = rung->emit(program, command.rung);
  // Places in a program are places in the file that it was read from.
  if (!emitted && emitted.error().location.line > 0 && emitted.error().file.empty())
    emitted.error().file = command.input;
  const std::string bytes = TRY(std::move(emitted));
  if (!command.output.empty()) TRY_VOID(WriteFile(command.output, bytes));
  Print(session, command, rung->is_binary, bytes, is_json ? nullptr : &program);
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
  options->rung.level = exec::CpuLevelName(exec::HostLevel());
  command
      ->add_option(
          "input", options->input,
          "a .py, .json, .cir, .frzb or .frz file (FILE:NAME for one of several), - or words")
      ->required();
  command->add_option("--kernel", options->kernel, "one of several kernels, as in FILE:NAME");
  OneOf(command->add_option("--to", options->to, "what to emit"), RungNames())
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "write to a file");
  command->add_option("--symbol", options->rung.symbol, "name of the emitted function")
      ->capture_default_str();
  OneOf(command->add_option("--level", options->rung.level, "what native code may use"),
        {"baseline", "avx2", "avx512"})
      ->capture_default_str();
  command->add_flag("--metered", options->rung.metered,
                    "count fuel in the emitted code; optimized: keep the source's fuel");
  command->add_flag("--certificate", options->rung.certificate,
                    "optimized: the certificate instead of the program");
  SetBody(command, session, [&session, options] {
    if (!options->kernel.empty()) options->input += ":" + options->kernel;
    return Emit(session, *options);
  });
}

}  // namespace frazil::cli
