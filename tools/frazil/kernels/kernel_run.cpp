// frazil kernel run: a kernel that is loaded now, with named arguments.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "arguments/bind.h"
#include "arguments/npy.h"
#include "base/duration.h"
#include "cli.h"
#include "kernel_file.h"

namespace frazil::cli {
namespace {

struct KernelRun {
  std::string file;
  std::string kernel;
  std::vector<std::string> binds;
  std::vector<std::string> saves;
  std::string target = "isa";
  arguments::LaunchFlags launch;
  int repeat = 1;
  bool sanitize = false;
};

// Writable buffers and results, and what was asked to be kept.
Result<void> ShowOutcome(Session& session, const registry::LoadedKernel& kernel,
                         std::span<const exec::Value> values, const exec::Outcome& outcome,
                         const arguments::Pairs& saves, nlohmann::ordered_json& json) {
  for (uint32_t i = 0; i < values.size(); ++i) {
    const ir::KernelParam& param = kernel.signature.params[i];
    if (!param.type.is_buffer()) continue;
    auto save = saves.find(param.name);
    if (save != saves.end()) TRY_VOID(arguments::WriteNpy(save->second, *values[i].memory));
    if (param.type.access == ir::Access::In) continue;
    json["buffers"][param.name] = arguments::PrintShortened(*values[i].memory);
    if (!session.json)
      fmt::print("{} = {}\n", param.name, arguments::PrintShortened(*values[i].memory));
  }
  for (const exec::Value& value : outcome.results) {
    json["results"].push_back(exec::PrintValue(value));
    if (!session.json) fmt::print("{}\n", exec::PrintValue(value));
  }
  return {};
}

Result<int> RunSanitized(Session& session, const registry::LoadedKernel& kernel,
                         std::span<const exec::Value> values, const exec::RunContext& context) {
  const std::vector<std::string> findings = TRY(kernel.sanitize(values, context));
  const nlohmann::ordered_json json = {{"kernel", kernel.signature.name}, {"findings", findings}};
  if (session.json) {
    PrintJson(json);
  } else {
    for (const std::string& finding : findings) fmt::print("{}\n", finding);
    if (findings.empty())
      fmt::print(
          "nothing found: no race, nothing out of bounds, nothing read before it was written\n");
  }
  return findings.empty() ? 0 : 1;
}

Result<int> Run(Session& session, const KernelRun& options) {
  const auto begun = std::chrono::steady_clock::now();
  const exec::LaunchShape shape = arguments::ShapeOf(options.launch);
  const registry::LoadedKernel kernel =
      TRY(LoadKernelFile(options.file, options.target, shape, session.limits));
  const arguments::Pairs saves =
      TRY(arguments::SplitBufferPairs(options.saves, "--save", kernel.signature));
  arguments::MemoryBudget budget(session.limits.memory_bytes);
  const std::vector<exec::Value> values = TRY(arguments::Bind(
      kernel.signature, kernel.entry(), TRY(arguments::SplitPairs(options.binds, "--bind")), shape,
      budget, session.limits));
  exec::RunContext context;
  context.limits = session.limits;
  context.limits.memory_bytes = budget.left();
  if (!kernel.note.empty()) Say("frazil: {}\n", kernel.note);
  if (options.sanitize) return RunSanitized(session, kernel, values, context);
  const double to_ready =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
  const registry::TimedRun timed = TRY(registry::RunTimed(kernel, values, context, options.repeat));
  const exec::Outcome& outcome = timed.outcome;
  nlohmann::ordered_json json = {{"kernel", kernel.signature.name},
                                 {"target", kernel.target},
                                 {"ready_ns", to_ready},
                                 {"run_ns", timed.best_ns}};
  if (outcome.trap) return ReportTrap(session, outcome, options.file, kernel.types, json);
  TRY_VOID(ShowOutcome(session, kernel, values, outcome, saves, json));
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  PrintFact(session, "kernel", fmt::format("{} on {}", kernel.signature.name, kernel.target));
  PrintFact(session, "ready", fmt::format("{} after the start", PrintDuration(to_ready)));
  PrintFact(session, "ran",
            fmt::format("{}{}", PrintDuration(timed.best_ns),
                        options.repeat > 1 ? fmt::format(" (best of {})", options.repeat) : ""));
  return 0;
}

}  // namespace

void AddKernelRun(CLI::App& kernel, Session& session) {
  CLI::App* command = AddCommand(
      kernel, "run", "load a kernel and run it with named arguments",
      "  frazil kernel run examples/kernels/saxpy.py --bind a=2,x=[1,2,3],y=[10,20,30]\n"
      "  frazil kernel run saxpy.frzb --bind x=x.npy,y=y.npy,a=2 --n 1000000 --save y=out.npy\n"
      "  frazil kernel run examples/kernels/saxpy.py --bind a=2,x=iota:1000,y=ones:1000 --target "
      "native");
  auto options = std::make_shared<KernelRun>();
  command
      ->add_option("file", options->file,
                   "a .py, .json, .cir, .frzb, .isa or .frz file; FILE:NAME picks one of several")
      ->required();
  command->add_option("--kernel", options->kernel, "one of several kernels, as in FILE:NAME");
  command
      ->add_option("--bind", options->binds,
                   "name=value: a literal, [1,2,3], a .npy file, zeros:N, ones:N, iota:N, "
                   "random:N (drawn from the buffer's name), or an earlier buffer")
      ->allow_extra_args(false);
  command->add_option("--save", options->saves, "name=file.npy: write a buffer after the run")
      ->allow_extra_args(false);
  command->add_option("--n", options->launch.n, "lanes, and every extent that is not bound");
  command->add_option("--grid", options->launch.grid, "blocks: x,y,z")
      ->delimiter(',')
      ->expected(1, 3);
  command->add_option("--block", options->launch.block, "lanes of a block: x,y,z")
      ->delimiter(',')
      ->expected(1, 3);
  command->add_option("--shared", options->launch.shared_bytes,
                      "bytes that the lanes of a block share by lds and sts, in a launch module");
  command->add_option("--lanes", options->launch.lanes, "lanes of a kernel without a guard: x,y,z")
      ->delimiter(',')
      ->expected(1, 3);
  OneOf(command->add_option("--target", options->target, "where it runs"), TargetNames())
      ->capture_default_str();
  AtLeastOne(
      command->add_option("--repeat", options->repeat, "run it so often and report the best time"))
      ->capture_default_str();
  command->add_flag(
      "--sanitize", options->sanitize,
      "run lane by lane and report races, accesses out of bounds and reads before writes");
  SetBody(command, session, [&session, options] {
    if (!options->kernel.empty()) options->file += ":" + options->kernel;
    return Run(session, *options);
  });
}

}  // namespace frazil::cli
