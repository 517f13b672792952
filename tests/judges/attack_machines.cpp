// Triton VM assembly and TIR: what verify/tasm calls equal is run on the machine itself, from stacks, streams and RAM of
// edge values, small numbers and the programs' own constants.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/number/goldilocks.h"
#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "ir/text/text.h"
#include "judges/attacks.h"
#include "judges/machine_points.h"
#include "machines/tasm/fragment.h"
#include "machines/tasm/tip5/tip5.h"
#include "machines/tir/interpreter.h"
#include "targets/tasm/tasm.h"
#include "verify/tasm/tasm.h"
#include "verify/tasm/test_mutants.h"

namespace frazil::tests {
namespace {

namespace mt = machines::tasm;
namespace tir = machines::tir;
namespace vt = verify::tasm;

vt::Options Quick(bool fragments) {
  vt::Options options;
  options.fragments = fragments;
  options.steps = 20'000;
  options.samples = 2;
  options.milliseconds = 300;
  return options;
}

Constants ConstantsOf(const mt::Program& program) {
  Constants constants;
  for (const mt::Instruction& instruction : program.code) constants.push_back(instruction.argument);
  return constants;
}

uint64_t Cell(const mt::FragmentResult& run, const mt::Inputs& inputs, uint64_t address) {
  if (auto found = run.written.find(address); found != run.written.end()) return found->second;
  auto found = inputs.ram.find(address);
  return found == inputs.ram.end() ? 0 : found->second;
}

bool IsLimit(const std::optional<mt::Crash>& crash) {
  return crash && (crash->kind == mt::CrashKind::Cycles || crash->kind == mt::CrashKind::Memory);
}

std::string FragmentDifference(const mt::Program& a, const mt::Program& b, const Start& start) {
  mt::RunLimits limits;
  limits.cycles = 20'000;
  const mt::FragmentResult x = mt::RunFragment(a, start.fragment, start.inputs, limits);
  if (IsLimit(x.crash)) return {};
  // A fragment starts on a stack that is deep enough for the source.
  if (x.crash && x.crash->kind == mt::CrashKind::OpStackTooShallow) return {};
  const mt::FragmentResult y = mt::RunFragment(b, start.fragment, start.inputs, limits);
  if (IsLimit(y.crash) || (x.crash && y.crash)) return {};
  if (x.crash.has_value() != y.crash.has_value())
    return "crash: " + (x.crash ? x.crash : y.crash)->sentence;
  if (x.output != y.output) return "the output differs";
  if (x.inputs_read != y.inputs_read || x.secrets_read != y.secrets_read ||
      x.digests_read != y.digests_read)
    return "what was read differs";
  if (x.halted != y.halted) return "one halts";
  if (x.halted) return {};
  if (x.stack != y.stack) return "the stack differs";
  if (x.sponge.has_value() != y.sponge.has_value() ||
      (x.sponge && x.sponge->elements != y.sponge->elements))
    return "the sponge differs";
  std::set<uint64_t> addresses;
  for (const auto& run : {x.written, y.written})
    for (auto [address, value] : run) addresses.insert(address);
  for (uint64_t address : addresses) {
    if (Cell(x, start.inputs, address) != Cell(y, start.inputs, address))
      return fmt::format("RAM {} differs", address);
  }
  return {};
}

std::string ProgramDifference(const mt::Program& a, const mt::Program& b, const Start& start) {
  mt::RunLimits limits;
  limits.cycles = 20'000;
  const mt::RunResult x = mt::Run(a, start.inputs, limits);
  if (IsLimit(x.crash)) return {};
  const mt::RunResult y = mt::Run(b, start.inputs, limits);
  if (IsLimit(y.crash) || (x.crash && y.crash)) return {};
  if (x.crash.has_value() != y.crash.has_value())
    return "crash: " + (x.crash ? x.crash : y.crash)->sentence;
  if (x.output != y.output) return "the output differs";
  return x.inputs_read != y.inputs_read ? "what was read differs" : "";
}

template <typename Differs>
void Count(const verify::Verdict& verdict, const Constants& constants, Choices& choices,
           Tally& tally, const std::function<std::string()>& tell, Differs differs) {
  Choices searching(choices.Next());  // as CountVerdict's
  if (!tally.blind && std::holds_alternative<verify::Refuted>(verdict))
    return tally.Judged(&Tally::refuted);
  if (!tally.blind && std::holds_alternative<verify::Unknown>(verdict))
    return tally.Judged(&Tally::unknown);
  for (int i = 0; i < 120; ++i) {
    const Start start = DrawStart(constants, searching);
    const std::string difference = differs(start, searching);
    if (difference.empty()) continue;
    return tally.Wrong(fmt::format(
        "called {}: {} from stack {}, input {}\n{}", verify::Describe(verdict), difference,
        fmt::join(start.fragment.stack, " "), fmt::join(start.inputs.input, " "), tell()));
  }
  tally.Judged(&Tally::equal);
}

// Pieces that do nothing, and their like that do.
mt::Program WithDetour(const mt::Program& program, Choices& choices) {
  constexpr const char* Detours[] = {"push 5 pop 1",
                                     "dup 0 pop 1",
                                     "swap 3 swap 3",
                                     "push 0 add",
                                     "push 1 mul",
                                     "addi 0",
                                     "pick 2 place 2",
                                     "push -1 mul push -1 mul",
                                     "nop",
                                     "dup 1 pop 1",
                                     "swap 1 swap 2",
                                     "push 2 mul push 2 invert mul",
                                     "pick 2 place 3",
                                     "addi 1 addi -1",
                                     "invert invert",
                                     "split push 4294967296 mul add",
                                     "dup 0 split pop 2",
                                     "swap 1 add",
                                     "push 0 swap 1 add",
                                     "dup 0 dup 0 eq assert",
                                     "split swap 1 push 4294967296 mul add",
                                     "dup 15 pop 1"};
  const Result<mt::Program> piece = mt::Parse(choices.OneOf(Detours));
  if (!piece) return program;
  mt::Program result = program;
  const auto at = static_cast<uint32_t>(choices.Below(program.code.size() + 1));
  const auto size = static_cast<uint32_t>(piece->code.size());
  auto move = [&](auto& target) {
    if (target > at) target += size;
  };
  for (mt::Label& label : result.labels) move(label.instruction);
  for (mt::Instruction& instruction : result.code) {
    if (instruction.op == mt::Opcode::Call) move(instruction.argument);
  }
  result.code.insert(result.code.begin() + at, piece->code.begin(), piece->code.end());
  return result;
}

mt::Program Mutated(const mt::Program& program, Choices& choices) {
  mt::Program mutant = program;
  for (int changes = 0; changes == 0 || (changes < 3 && choices.Chance(35)); ++changes) {
    if (choices.Chance(35)) {
      mutant = WithDetour(mutant, choices);
      continue;
    }
    std::vector<vt::mutants::Mutant> all = vt::mutants::Mutate(mutant);
    if (!all.empty()) mutant = std::move(all[choices.Below(all.size())].program);
  }
  return mutant;
}

std::string RandomFragment(Choices& choices) {
  constexpr const char* Pieces[] = {"add",
                                    "mul",
                                    "dup 0",
                                    "dup 1",
                                    "dup 3",
                                    "swap 1",
                                    "swap 2",
                                    "swap 5",
                                    "pop 1",
                                    "push 3",
                                    "push -1",
                                    "addi 2",
                                    "eq",
                                    "split",
                                    "pick 3",
                                    "place 2",
                                    "push 7 write_mem 1",
                                    "read_mem 1",
                                    "and",
                                    "xor",
                                    "lt",
                                    "invert",
                                    "xx_add",
                                    "xx_mul",
                                    "xb_mul",
                                    "div_mod",
                                    "pop_count",
                                    "skiz",
                                    "read_io 1",
                                    "write_io 1",
                                    "divine 1",
                                    "pow",
                                    "log_2_floor",
                                    "assert",
                                    "pick 1",
                                    "hash"};
  std::string text;
  for (uint64_t i = 2 + choices.Below(9); i > 0; --i)
    text += std::string(choices.OneOf(Pieces)) + " ";
  return text;
}

// A program of the IR over what the machine has.
ir::Program FieldProgram(Choices& choices) {
  generator::GeneratorOptions options;
  options.seed = choices.Next();
  options.size = 2 + static_cast<uint32_t>(choices.Below(6));
  options.allow_tensors = options.allow_math = options.allow_parallel = false;
  options.allow_buffers = false;
  options.allow_streams = choices.Chance(30);
  options.types = ir::Only(ir::Scalar::Field) | ir::Only(ir::Scalar::U32) | ir::sets::Bool;
  if (choices.Chance(40)) options.types = ir::Only(ir::Scalar::Field) | ir::sets::Bool;
  return generator::Generate(options);
}

void Permutation(std::array<uint64_t, 16>& words) {
  mt::Tip5State state{words};
  mt::Permute(state);
  words = state.elements;
}

std::string TirDifference(const tir::Program& a, const mt::Program& b, const Start& start) {
  tir::Inputs inputs{start.inputs.input, start.inputs.secret, start.inputs.digests,
                     start.inputs.ram};
  const Result<tir::RunResult> x = tir::Interpret(a, inputs, Permutation, 20'000);
  if (!x || (x->crash && x->crash->kind == tir::CrashKind::Steps)) return {};
  mt::RunLimits limits;
  limits.cycles = 200'000;
  const mt::RunResult y = mt::Run(b, start.inputs, limits);
  if (IsLimit(y.crash) || (x->crash && y.crash)) return {};
  if (x->crash.has_value() != y.crash.has_value()) return "one crashes";
  return x->output != y.output ? "the output differs" : "";
}

// The outcome of the interpreter against what the machine's output says.
std::string IrDifference(const ir::Program& program, const targets::tasm::Lowered& lowered,
                         const mt::Program& candidate, uint64_t seed) {
  const std::vector<exec::Value> arguments = exec::RandomArguments(program, seed);
  exec::RunContext context = exec::RandomContext(program, seed);
  context.limits.fuel = 20'000;
  const Result<exec::Outcome> x = exec::Interpret(program, arguments, context);
  const Result<mt::Inputs> inputs = targets::tasm::ToInputs(program, arguments, context);
  if (!x || !inputs || (x->trap && ir::IsLimit(x->trap->kind))) return {};
  mt::RunLimits limits;
  limits.cycles = 500'000;
  const mt::RunResult run = mt::Run(candidate, *inputs, limits);
  if (IsLimit(run.crash)) return {};
  if (x->trap.has_value() != run.crash.has_value()) return "one crashes";
  if (x->trap) return {};
  const Result<exec::Outcome> y = targets::tasm::ToOutcome(program, lowered, run, arguments);
  if (!y) return "the output is none: " + y.error().message;
  return x->results != y->results || x->output != y->output ? "the results differ" : "";
}

}  // namespace

void AttackAssembly(Choices& choices, uint64_t mutants, Tally& tally) {
  bool fragment = true;
  Result<mt::Program> source = mt::Program{};
  if (choices.Chance(60)) {
    const vt::mutants::Original& original = choices.OneOf(vt::mutants::Originals);
    fragment = original.fragment;
    source = mt::Parse(original.text);
  } else {
    source = mt::Parse(RandomFragment(choices));
  }
  if (!source) return;
  for (uint64_t i = 0; i < mutants; ++i) {
    const mt::Program mutant = Mutated(*source, choices);
    Constants constants = ConstantsOf(*source);
    const Constants others = ConstantsOf(mutant);
    constants.insert(constants.end(), others.begin(), others.end());
    Count(
        vt::Compare(*source, mutant, Quick(fragment)), constants, choices, tally,
        [&] { return mt::Print(*source) + "against\n" + mt::Print(mutant); },
        [&](const Start& start, Choices&) {
          return fragment ? FragmentDifference(*source, mutant, start)
                          : ProgramDifference(*source, mutant, start);
        });
  }
}

void AttackTir(Choices& choices, uint64_t mutants, Tally& tally) {
  const ir::Program source = FieldProgram(choices);
  const Result<targets::tasm::Lowered> lowered = targets::tasm::Lower(source);
  if (!lowered || lowered->program.code.size() > 150) return;
  const bool from_tir = choices.Chance(50);
  for (uint64_t i = 0; i < mutants; ++i) {
    const mt::Program mutant = Mutated(lowered->program, choices);
    const verify::Verdict verdict = from_tir ? vt::Compare(lowered->tir, mutant, Quick(false))
                                             : vt::Compare(source, mutant, Quick(false));
    Count(
        verdict, ConstantsOf(mutant), choices, tally,
        [&] { return ir::PrintText(source) + "against\n" + mt::Print(mutant); },
        [&](const Start& start, Choices& searching) {
          return from_tir ? TirDifference(lowered->tir, mutant, start)
                          : IrDifference(source, *lowered, mutant, searching.Next());
        });
  }
}

}  // namespace frazil::tests
