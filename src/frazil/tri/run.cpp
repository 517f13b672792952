// Runs on the machine, with and without heights, and what another target needs for one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "frazil/tri/internal/gate.h"

namespace frazil::tri {
namespace {

mt::RunLimits MachineLimits(const Options& options) {
  mt::RunLimits limits;
  limits.cycles = options.cycles;
  return limits;
}

Result<uint32_t> FindLabel(const mt::Program& program, const std::string& name) {
  for (const mt::Label& label : program.labels)
    if (label.name == name) return label.instruction;
  return Fail(Diag::UnknownSymbol, fmt::format("there is no label `{}` in the assembly", name));
}

// The parameter `ram` is memory of so many words with what the prover put there.
Result<std::vector<exec::Value>> Arguments(const ir::Program& program, const Inputs& inputs,
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

}  // namespace

Result<Built> Build(const Source& source, const InputTexts& inputs, const Options& options,
                    bool verify) {
  Built built;
  Program program = TRY(Read(source, options));
  built.inputs = TRY(ReadInputs(inputs, program.text));
  if (!program.ir && !program.lowered) {
    built.written = std::move(program.assembly);
  } else if (verify) {
    built.admitted = TRY(AdmitAssembly(source, program, built.inputs.machine, options));
    built.lowering = built.admitted->lowering();
  } else {
    // Neither looked for nor kept: what nobody judged has no place in a store.
    Options without = options;
    without.use_store = false;
    built.proposal = program.lowered ? std::move(program.assembly)
                                     : std::move(TRY(Load(source, without)).assembly);
  }
  built.ir = std::move(program.ir);
  if (source.callable) return built;
  const mt::Program& assembly = built.assembly();
  {
    const Step step(options, "running");
    built.trace = mt::Trace(assembly, built.inputs.machine, MachineLimits(options));
  }
  if (built.trace.run.crash) {
    built.bounds = mt::StaticBounds(assembly);
  } else {
    built.cliff = mt::ExplainCliff(assembly, built.trace);
  }
  return built;
}

Result<Ran> Run(const Source& source, const InputTexts& inputs, const Options& options) {
  Program program = TRY(Load(source, options));
  Ran ran;
  ran.standing = program.standing();
  ran.inputs = TRY(ReadInputs(inputs, program.text));
  const auto start = std::chrono::steady_clock::now();
  {
    const Step step(options, "running");
    ran.run = mt::Run(program.assembly, ran.inputs.machine, MachineLimits(options));
  }
  ran.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  ran.unread = ran.inputs.machine.input.size() - ran.run.inputs_read;
  ran.crash = Report(program, ran.run.crash);
  return ran;
}

std::string UnreadInput(uint64_t given, uint64_t unread) {
  return fmt::format(
      "{} of {} words of public input are never read; only a claim without them can be proved",
      unread, given);
}

Result<Called> Call(const Source& source, const CallStart& start, const InputTexts& inputs,
                    const Options& options) {
  Source called_source = source;
  if (!source.function.empty()) called_source.callable = true;
  Program program = TRY(Load(called_source, options));
  const Inputs read = TRY(ReadInputs(inputs, ""));
  // Whoever calls has sixteen words of the machine's below its own.
  constexpr size_t Below = 16;
  mt::FragmentStart from;
  from.called = true;
  from.stack.assign(Below, 0);
  from.stack.insert(from.stack.end(), start.stack.begin(), start.stack.end());
  if (start.sponge) from.sponge = mt::Tip5State{};
  if (!start.label.empty()) from.instruction = TRY(FindLabel(program.assembly, start.label));
  Called called;
  called.run = mt::RunFragment(program.assembly, from, read.machine, MachineLimits(options));
  const std::vector<uint64_t>& stack = called.run.stack;
  const auto below = stack.begin() + static_cast<ptrdiff_t>(std::min(Below, stack.size()));
  called.stack.assign(below, stack.end());
  called.below_kept = stack.size() >= Below &&
                      std::all_of(stack.begin(), below, [](uint64_t word) { return word == 0; });
  called.crash = Report(program, called.run.crash);
  return called;
}

Result<OffMachine> TakeOffMachine(const Source& source, const InputTexts& inputs, int64_t ram_words,
                                  const Options& options) {
  Program program = TRY(LoadIr(source, options));
  OffMachine off;
  off.program = std::move(*program.ir);
  off.inputs = TRY(ReadInputs(inputs, program.text));
  off.arguments = TRY(Arguments(off.program, off.inputs, ram_words));
  off.context.limits = options.limits;
  for (uint64_t element : off.inputs.machine.input)
    off.context.input.push_back(exec::Value::Word(ir::types::Field, element));
  off.context.hints = off.inputs.hints;
  return off;
}

Result<Profiled> Profile(const Source& source, const InputTexts& inputs, const Options& options) {
  Program program = TRY(Load(source, options));
  const Inputs read = TRY(ReadInputs(inputs, program.text));
  Profiled profiled;
  profiled.standing = program.standing();
  profiled.trace = mt::Trace(program.assembly, read.machine, MachineLimits(options));
  profiled.crash = Report(program, profiled.trace.run.crash);
  return profiled;
}

}  // namespace frazil::tri
