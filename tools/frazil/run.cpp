// frazil run: a program with arguments on a target.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "arguments/buffers.h"
#include "cli.h"
#include "exec/value.h"
#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::cli {
namespace {

struct RunOptions {
  std::string file;
  std::vector<std::string> arguments;
  std::string target = "interp";
  std::vector<std::string> input;
  std::vector<std::string> hints;
};

nlohmann::ordered_json ToJson(std::span<const exec::Value> values) {
  auto json = nlohmann::ordered_json::array();
  for (const exec::Value& value : values) json.push_back(exec::PrintValue(value));
  return json;
}

Result<int> Run(Session& session, const RunOptions& options) {
  ir::Program program = TRY(ReadProgramFile(options.file, session.limits));
  const exec::Target* target = TRY(FindTarget(options.target));
  std::vector<exec::Value> values = TRY(ParseArguments(program, options.arguments, session.limits));
  arguments::MemoryBudget budget(session.limits.memory_bytes);
  TRY_VOID(budget.ChargeArguments(values));
  exec::RunContext context;
  context.limits = session.limits;
  context.limits.memory_bytes = budget.left();
  context.input = TRY(arguments::ParseStream(options.input, session.limits));
  context.hints = TRY(arguments::ParseStream(options.hints, session.limits));

  auto start = std::chrono::steady_clock::now();
  exec::Outcome outcome;
  std::string ran_on;
  {
    Progress progress(session, fmt::format("running on {}", options.target));
    LoadedProgram loaded = TRY(LoadOn(*target, program, session.limits));
    if (!loaded.note.empty()) Say("frazil: {}\n", loaded.note);
    ran_on = loaded.target;
    outcome = TRY(RunWatched(session, *loaded.callable, values, context));
  }
  double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();

  const ir::Function& entry = program.entry_function();
  nlohmann::ordered_json json = {{"target", ran_on},
                                 {"signature", ir::ExactDigest(program)},
                                 {"results", ToJson(outcome.results)},
                                 {"output", ToJson(outcome.output)},
                                 {"milliseconds", ms}};
  for (uint32_t i = 0; i < values.size(); ++i) {
    ir::Type type = entry.param_type(i);
    if (type.is_buffer() && type.access != ir::Access::In)
      json["buffers"].push_back({{"parameter", i}, {"value", exec::PrintValue(values[i])}});
  }
  if (!session.json)
    for (const exec::Value& value : outcome.output)
      fmt::print("output {}\n", exec::PrintValue(value));
  if (outcome.trap) return ReportTrap(session, outcome, options.file, program, json);
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  for (const exec::Value& value : outcome.results) fmt::print("{}\n", exec::PrintValue(value));
  for (uint32_t i = 0; i < values.size(); ++i) {
    ir::Type type = entry.param_type(i);
    if (!type.is_buffer() || type.access == ir::Access::In) continue;
    fmt::print("{} = {}\n", arguments::ParamName(entry, i), exec::PrintValue(values[i]));
  }
  return 0;
}

}  // namespace

void AddRun(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "run", "run a program with arguments",
                 "  frazil run examples/muladd.frz 6 7 0\n"
                 "  frazil run examples/saxpy.frz 2 3 [1,2,3] [10,20,30] --target c\n"
                 "  frazil run examples/streams.frz --input field:5 --input field:7");
  auto options = std::make_shared<RunOptions>();
  command
      ->add_option("file", options->file,
                   "a .frz, .py, .json, .cir, .frzb, .tri or .tir file, or - for standard input")
      ->required();
  command->add_option("arguments", options->arguments,
                      "scalars as literals, buffers and tensors as [1,2,3]");
  OneOf(command->add_option("--target", options->target, "where it runs"), TargetNames())
      ->capture_default_str();
  command->add_option("--input", options->input, "next element of the input stream, type:value")
      ->allow_extra_args(false);
  command->add_option("--hint", options->hints, "next element of the hint stream, type:value")
      ->allow_extra_args(false);
  SetBody(command, session, [&session, options] { return Run(session, *options); });
}

}  // namespace frazil::cli
