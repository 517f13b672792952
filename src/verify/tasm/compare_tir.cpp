// TIR against assembly. Counterexamples come from TIR's own interpreter and the machine.
#include <fmt/core.h>

#include "machines/tasm/fragment.h"
#include "machines/tasm/tip5/tip5.h"
#include "machines/tir/interpreter.h"
#include "verify/tasm/compare.h"

namespace frazil::verify::tasm {

namespace {

void AddConstants(const std::vector<tir::Op>& ops, std::vector<uint64_t>& constants) {
  for (const tir::Op& op : ops) {
    if (op.kind == tir::Kind::Push || op.kind == tir::Kind::AddI) constants.push_back(op.number);
    AddConstants(op.body, constants);
    AddConstants(op.other, constants);
  }
}

}  // namespace

std::optional<Ending> RunTir(const tir::Program& program, const MachineStart& inputs) {
  tir::Inputs own;
  own.input = inputs.inputs.input;
  own.secret = inputs.inputs.secret;
  own.digests = inputs.inputs.digests;
  own.ram = inputs.inputs.ram;
  auto run = tir::Interpret(program, own, mt::PermuteElements, 50'000);
  if (!run || (run->crash && run->crash->kind == tir::CrashKind::Steps)) return std::nullopt;
  Ending ending;
  if (run->crash) ending.crash = std::string(tir::CrashName(run->crash->kind));
  ending.output = std::move(run->output);
  ending.inputs_read = run->inputs_read;
  ending.secrets_read = run->secrets_read;
  ending.digests_read = run->digests_read;
  return ending;
}

std::optional<Ending> RunProgram(const Machine& machine, const MachineStart& inputs) {
  mt::FragmentStart start;
  start.stack = machine.Stack();
  mt::RunLimits limits;
  limits.cycles = 100'000;
  limits.memory_words = 1 << 20;
  const mt::FragmentResult run = mt::RunFragment(machine.program(), start, inputs.inputs, limits);
  if (run.crash &&
      (run.crash->kind == mt::CrashKind::Cycles || run.crash->kind == mt::CrashKind::Memory))
    return {};
  Ending ending = EndingOf(run);
  if (!run.crash && !run.halted) ending.crash = "ran off the end of the program";
  return ending;
}

Verdict Compare(const tir::Program& source, const mt::Program& candidate, const Options& options) {
  if (auto shapes = tir::Check(source); !shapes) return Unknown{shapes.error().message};
  Options whole = options;
  whole.fragments = false;
  std::vector<uint64_t> constants;
  AddConstants(source.ops, constants);
  AddConstants(candidate, constants);
  Sampler sampler(std::move(constants), false, 0x71a5'0001u + candidate.code.size());
  const Machine machine(candidate);
  Sides sides{SeedOf(source, candidate, whole), {}, {}};
  sides.source = [&](Heads* heads) { return MakeTirSide(source, heads); };
  sides.candidate = [&](Heads* heads) { return MakeTasmSide(candidate, false, heads); };
  return Decide(sides, whole, sampler,
                [&](const MachineStart& inputs) -> std::optional<std::string> {
                  const auto a = RunTir(source, inputs), b = RunProgram(machine, inputs);
                  if (!a || !b) return std::nullopt;
                  return Difference(*a, *b);
                });
}

}  // namespace frazil::verify::tasm
