// frazil tri run: on the machine that will be proved, or on any other target before anything is proved.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tri.h"

namespace frazil::cli {
namespace {

struct RunCommand {
  TriOptions program;
  std::string target = "tasm";
  int64_t ram_words = 65'536;
};

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
    if (!loaded.note.empty()) fmt::print(stderr, "frazil: {}\n", loaded.note);
    ran_on = loaded.target;
    const auto start = std::chrono::steady_clock::now();
    outcome = TRY(loaded.callable->Run(arguments, context));
    ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  std::vector<std::string> output;
  for (const exec::Value& value : outcome.output) output.push_back(exec::PrintValue(value));
  nlohmann::ordered_json json = {{"target", ran_on}, {"output", output}, {"milliseconds", ms}};
  if (!session.json && (!output.empty() || !outcome.trap))
    fmt::print("{}\n", Bold(session, fmt::format("{}", fmt::join(output, ", "))));
  if (outcome.trap) return ReportTrap(session, *outcome.trap, json);
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
                 "  frazil tri run program.tasm --input 1,2,3 --secret 4,5");
  auto options = std::make_shared<RunCommand>();
  AddProgramOptions(command, options->program);
  AddInputOptions(command, options->program);
  command->add_option("--target", options->target, "tasm, interp, native, wasm, c or isa")
      ->capture_default_str();
  command->add_option("--ram-words", options->ram_words, "words of RAM on targets other than tasm")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 28))
      ->capture_default_str();
  SetBody(command, session, [&session, options] {
    return options->target == "tasm" ? RunMachine(session, *options)
                                     : RunElsewhere(session, *options);
  });
}

}  // namespace frazil::cli
