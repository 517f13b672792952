// frazil tri run: on the machine that will be proved, or on any other target before anything is proved.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "tri.h"

namespace frazil::cli {
namespace {

struct RunCommand {
  TriFlags flags;
  std::string target = "tasm";
  int64_t ram_words = 65'536;
  tri::CallStart start;            // one call of a function, from a given stack
  std::vector<std::string> stack;  // "1,2,3", top last
};

Result<int> RunCall(Session& session, const RunCommand& command) {
  const tri::Source source = TRY(SourceOf(command.flags));
  tri::CallStart start = command.start;
  for (const std::string& text : command.stack)
    for (uint64_t element : TRY(tri::ParseElements(text))) start.stack.push_back(element);
  const auto [run, stack, kept, crash] =
      TRY(CallTri(session, command.flags.cycles, [&](const tri::Options& options) {
        return tri::Call(source, start, command.flags.inputs, options);
      }));
  const std::map<uint64_t, uint64_t> ram(run.written.begin(), run.written.end());
  nlohmann::ordered_json json = {{"target", "tasm"},
                                 {"stack", stack},
                                 {"below_kept", kept},
                                 {"output", run.output},
                                 {"cycles", run.cycles},
                                 {"halted", run.halted},
                                 {"read", {run.inputs_read, run.secrets_read, run.digests_read}},
                                 {"ram", nlohmann::ordered_json::object()}};
  for (const auto& [address, value] : ram) json["ram"][std::to_string(address)] = value;
  if (run.sponge) json["sponge"] = run.sponge->elements;
  if (crash) return ReportCrash(session, *crash, json);
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  fmt::print("{}\n", Bold(session, PrintElements(stack)));
  PrintFact(session, "stack",
            kept ? "top last" : "top last; words below the given ones were changed");
  if (!run.output.empty()) PrintFact(session, "output", PrintElements(run.output));
  for (const auto& [address, value] : ram)
    PrintFact(session, "ram", fmt::format("{} = {}", address, value));
  PrintFact(session, "cycles", std::to_string(run.cycles));
  return 0;
}

Result<int> RunMachine(Session& session, const RunCommand& command) {
  const tri::Source source = TRY(SourceOf(command.flags));
  const tri::Ran ran = TRY(CallTri(session, command.flags.cycles, [&](const tri::Options& options) {
    return tri::Run(source, command.flags.inputs, options);
  }));
  nlohmann::ordered_json json = {{"target", "tasm"},
                                 {"assembly", StandingName(ran.standing)},
                                 {"output", ran.run.output},
                                 {"cycles", ran.run.cycles},
                                 {"milliseconds", ran.milliseconds}};
  if (!session.json && (!ran.run.output.empty() || !ran.crash))
    fmt::print("{}\n", Bold(session, PrintElements(ran.run.output)));
  if (ran.crash) return ReportCrash(session, *ran.crash, json);
  if (ran.unread != 0) {
    json["unread"] = ran.unread;
    if (!session.json)
      Say("frazil: warning: {}\n", tri::UnreadInput(ran.inputs.machine.input.size(), ran.unread));
  }
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  PrintFact(session, "target", "tasm");
  PrintStanding(session, ran.standing);
  PrintFact(session, "cycles", std::to_string(ran.run.cycles));
  if (ran.inputs.from_file) PrintFact(session, "inputs", "from the file's run line");
  return 0;
}

Result<int> RunElsewhere(Session& session, const RunCommand& command) {
  const exec::Target* target = TRY(FindTarget(command.target));
  const tri::Source source = TRY(SourceOf(command.flags));
  const tri::OffMachine off =
      TRY(CallTri(session, command.flags.cycles, [&](const tri::Options& options) {
        return tri::TakeOffMachine(source, command.flags.inputs, command.ram_words, options);
      }));
  auto progress = std::make_unique<Progress>(session, "running on " + command.target);
  const LoadedProgram loaded = TRY(LoadOn(*target, off.program, session.limits));
  if (!loaded.note.empty()) Say("frazil: {}\n", loaded.note);
  const auto start = std::chrono::steady_clock::now();
  const exec::Outcome outcome =
      TRY(RunWatched(session, *loaded.callable, off.arguments, off.context));
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  progress.reset();
  std::vector<std::string> output;
  for (const exec::Value& value : outcome.output) output.push_back(exec::PrintValue(value));
  nlohmann::ordered_json json = {
      {"target", loaded.target}, {"output", output}, {"milliseconds", ms}};
  if (!session.json && (!output.empty() || !outcome.trap))
    fmt::print("{}\n", Bold(session, fmt::format("{}", fmt::join(output, ", "))));
  if (outcome.trap) return ReportTrap(session, outcome, source.file, off.program, json);
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  PrintFact(session, "target", loaded.target);
  PrintFact(session, "time", fmt::format("{:.3f} ms", ms));
  if (off.inputs.from_file) PrintFact(session, "inputs", "from the file's run line");
  return 0;
}

}  // namespace

void AddTriRun(CLI::App& tri, Session& session) {
  CLI::App* command =
      AddCommand(tri, "run", "run a program on Triton VM, or on another target",
                 "  frazil tri run examples/trident/fibonacci.tri --input 10\n"
                 "  frazil tri run examples/trident/fibonacci.tri --input 10 --target native\n"
                 "  frazil tri run program.tasm --input 1,2,3 --secret 4,5\n"
                 "  frazil tri run program.tasm --call square --stack 7");
  auto options = std::make_shared<RunCommand>();
  AddProgramOptions(command, options->flags);
  AddInputOptions(command, options->flags);
  OneOf(command->add_option("--target", options->target, "where it runs"), TargetNames())
      ->capture_default_str();
  command->add_option("--ram-words", options->ram_words, "words of RAM on targets other than tasm")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 28))
      ->capture_default_str();
  command->add_option("--call", options->start.label,
                      "call this label of the assembly, with --stack, and show what it leaves");
  CLI::Option* stack =
      command->add_option("--stack", options->stack, "the stack of one call, top last, as in 1,2,3")
          ->allow_extra_args(false);
  command->add_flag("--sponge", options->start.sponge,
                    "the call finds an empty sponge: sponge_init came before");
  SetBody(command, session, [&session, options, stack]() -> Result<int> {
    if (stack->count() > 0 || !options->start.label.empty()) return RunCall(session, *options);
    return options->target == "tasm" ? RunMachine(session, *options)
                                     : RunElsewhere(session, *options);
  });
}

}  // namespace frazil::cli
