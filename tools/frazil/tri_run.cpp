// frazil tri run: on the machine that will be proved, or on any other target before anything is proved.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "machines/tasm/fragment.h"
#include "tri.h"

namespace frazil::cli {
namespace {

struct RunCommand {
  TriOptions program;
  std::string target = "tasm";
  int64_t ram_words = 65'536;
  std::string call;                // a label: one call of that function, from a given stack
  std::vector<std::string> stack;  // "1,2,3", top last
  bool sponge = false;             // initialized before the call
};

Result<uint32_t> FindLabel(const mt::Program& program, const std::string& name) {
  for (const mt::Label& label : program.labels)
    if (label.name == name) return label.instruction;
  return Fail(Diag::UnknownSymbol, fmt::format("there is no label `{}` in the assembly", name));
}

// One call of a function: what assembly that calls it would find afterwards.
Result<int> RunCall(Session& session, RunCommand command) {
  if (!command.program.function.empty()) command.program.callable = true;
  const TriProgram program = TRY(LoadTri(session, command.program));
  const TriInputs inputs = TRY(ReadTriInputs(command.program, ""));
  // Whoever calls has sixteen words of the machine's below its own.
  constexpr size_t Below = 16;
  mt::FragmentStart start;
  start.called = true;
  start.stack.assign(Below, 0);
  if (command.sponge) start.sponge = mt::Tip5State{};
  if (!command.call.empty()) start.instruction = TRY(FindLabel(program.assembly, command.call));
  for (const std::string& text : command.stack)
    for (uint64_t element : TRY(ParseElements(text))) start.stack.push_back(element);
  mt::RunLimits limits;
  limits.cycles = command.program.cycles;
  const mt::FragmentResult run = mt::RunFragment(program.assembly, start, inputs.machine, limits);
  const auto below = static_cast<ptrdiff_t>(std::min(Below, run.stack.size()));
  const std::vector<uint64_t> stack(run.stack.begin() + below, run.stack.end());
  const bool kept =
      run.stack.size() >= Below && std::all_of(run.stack.begin(), run.stack.begin() + below,
                                               [](uint64_t word) { return word == 0; });
  nlohmann::ordered_json json = {{"target", "tasm"},
                                 {"stack", stack},
                                 {"below_kept", kept},
                                 {"output", run.output},
                                 {"cycles", run.cycles},
                                 {"halted", run.halted},
                                 {"read", {run.inputs_read, run.secrets_read, run.digests_read}}};
  const std::map<uint64_t, uint64_t> ram(run.written.begin(), run.written.end());
  json["ram"] = nlohmann::ordered_json::object();
  for (const auto& [address, value] : ram) json["ram"][std::to_string(address)] = value;
  if (run.sponge)
    json["sponge"] =
        std::vector<uint64_t>(run.sponge->elements.begin(), run.sponge->elements.end());
  if (run.crash) return ReportCrash(session, program, *run.crash, json);
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
  const TriProgram program = TRY(LoadTri(session, command.program));
  const TriInputs inputs = TRY(ReadTriInputs(command.program, program.source));
  mt::RunLimits limits;
  limits.cycles = command.program.cycles;
  mt::RunResult run;
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress(session, "running");
    run = mt::Run(program.assembly, inputs.machine, limits);
  }
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  nlohmann::ordered_json json = {
      {"target", "tasm"}, {"output", run.output}, {"cycles", run.cycles}, {"milliseconds", ms}};
  if (!session.json && (!run.output.empty() || !run.crash))
    fmt::print("{}\n", Bold(session, PrintElements(run.output)));
  if (run.crash) return ReportCrash(session, program, *run.crash, json);
  const uint64_t unread = inputs.machine.input.size() - run.inputs_read;
  if (unread != 0) {
    json["unread"] = unread;
    if (!session.json)
      Say("frazil: warning: {}\n", UnreadInput(inputs.machine.input.size(), unread));
  }
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  PrintFact(session, "target", "tasm");
  PrintFact(session, "cycles", std::to_string(run.cycles));
  if (inputs.from_file) PrintFact(session, "inputs", "from the file's run line");
  return 0;
}

// The parameter `ram` is memory of so many words with what --ram put there.
Result<std::vector<exec::Value>> Arguments(const ir::Program& program, const TriInputs& inputs,
                                           int64_t ram_words) {
  const ir::Function& entry = program.entry_function();
  std::vector<exec::Value> arguments;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const bool is_ram = i < entry.value_names.size() && entry.value_names[i] == "ram" &&
                        entry.param_type(i).is_buffer();
    if (!is_ram)
      return Fail(
          Diag::WrongArgument,
          "the program has parameters: give them to `frazil run FILE ARGUMENTS --target ...`");
    auto memory = std::make_shared<exec::Memory>(ir::types::Field, ram_words);
    for (const auto& [address, value] : inputs.machine.ram) {
      if (address >= static_cast<uint64_t>(ram_words))
        return Fail(
            Diag::WrongArgument,
            fmt::format("--ram names address {}; off the machine RAM has {} words (--ram-words)",
                        address, ram_words));
      memory->Set(static_cast<int64_t>(address), std::span(&value, 1));
    }
    arguments.push_back(exec::Value::Buffer(std::move(memory)));
  }
  return arguments;
}

Result<int> RunElsewhere(Session& session, const RunCommand& command) {
  const exec::Target* target = TRY(FindTarget(command.target));
  std::string source;
  const ir::Program program = TRY(LoadTriIr(session, command.program, &source));
  const TriInputs inputs = TRY(ReadTriInputs(command.program, source));
  const std::vector<exec::Value> arguments = TRY(Arguments(program, inputs, command.ram_words));
  exec::RunContext context;
  context.limits = session.limits;
  for (uint64_t element : inputs.machine.input)
    context.input.push_back(exec::Value::Word(ir::types::Field, element));
  context.hints = inputs.hints;
  exec::Outcome outcome;
  double ms = 0;
  std::string ran_on;
  {
    Progress progress(session, fmt::format("running on {}", command.target));
    const LoadedProgram loaded = TRY(LoadOn(*target, program, session.limits));
    if (!loaded.note.empty()) Say("frazil: {}\n", loaded.note);
    ran_on = loaded.target;
    const auto start = std::chrono::steady_clock::now();
    outcome = TRY(RunWatched(session, *loaded.callable, arguments, context));
    ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  std::vector<std::string> output;
  for (const exec::Value& value : outcome.output) output.push_back(exec::PrintValue(value));
  nlohmann::ordered_json json = {{"target", ran_on}, {"output", output}, {"milliseconds", ms}};
  if (!session.json && (!output.empty() || !outcome.trap))
    fmt::print("{}\n", Bold(session, fmt::format("{}", fmt::join(output, ", "))));
  if (outcome.trap) return ReportTrap(session, outcome, command.program.file, program, json);
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  PrintFact(session, "target", ran_on);
  PrintFact(session, "time", fmt::format("{:.3f} ms", ms));
  if (inputs.from_file) PrintFact(session, "inputs", "from the file's run line");
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
  AddProgramOptions(command, options->program);
  AddInputOptions(command, options->program);
  OneOf(command->add_option("--target", options->target, "where it runs"), TargetNames())
      ->capture_default_str();
  command->add_option("--ram-words", options->ram_words, "words of RAM on targets other than tasm")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 28))
      ->capture_default_str();
  command->add_option("--call", options->call,
                      "call this label of the assembly, with --stack, and show what it leaves");
  CLI::Option* stack =
      command->add_option("--stack", options->stack, "the stack of one call, top last, as in 1,2,3")
          ->allow_extra_args(false);
  command->add_flag("--sponge", options->sponge,
                    "the call finds an empty sponge: sponge_init came before");
  SetBody(command, session, [&session, options, stack]() -> Result<int> {
    if (stack->count() > 0 || !options->call.empty()) return RunCall(session, *options);
    return options->target == "tasm" ? RunMachine(session, *options)
                                     : RunElsewhere(session, *options);
  });
}

}  // namespace frazil::cli
