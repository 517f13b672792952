// Two runs on the machine, held against each other. The judge of every refutation.
#include <fmt/core.h>

#include "verify/tasm/compare.h"

namespace frazil::verify::tasm {

using mt::FragmentResult;
using mt::Opcode;

Ending EndingOf(const mt::FragmentResult& run) {
  Ending ending;
  if (run.crash) ending.crash = run.crash->sentence;
  ending.output = run.output;
  ending.inputs_read = run.inputs_read;
  ending.secrets_read = run.secrets_read;
  ending.digests_read = run.digests_read;
  return ending;
}

std::optional<std::string> Difference(const Ending& a, const Ending& b) {
  if (a.crash && b.crash) return std::nullopt;
  if (a.crash) return fmt::format("the source crashes: {}", *a.crash);
  if (b.crash) return fmt::format("the candidate crashes: {}", *b.crash);
  if (a.output.size() != b.output.size())
    return fmt::format("{} outputs against {}", a.output.size(), b.output.size());
  for (size_t i = 0; i < a.output.size(); ++i) {
    if (a.output[i] != b.output[i])
      return fmt::format("output {}: {} against {}", i + 1, a.output[i], b.output[i]);
  }
  if (a.inputs_read != b.inputs_read)
    return fmt::format("inputs read: {} against {}", a.inputs_read, b.inputs_read);
  if (a.secrets_read != b.secrets_read)
    return fmt::format("secrets read: {} against {}", a.secrets_read, b.secrets_read);
  if (a.digests_read != b.digests_read)
    return fmt::format("digests read: {} against {}", a.digests_read, b.digests_read);
  return std::nullopt;
}

namespace {

constexpr uint64_t CycleLimit = 20'000;

mt::RunLimits Limits() {
  mt::RunLimits limits;
  limits.cycles = CycleLimit;
  limits.memory_words = 1 << 22;
  return limits;
}

FragmentResult RunOne(const Machine& machine, const MachineStart& inputs, bool fragments,
                      bool called) {
  mt::FragmentStart start;
  if (fragments) {
    start.stack = inputs.stack;
    start.called = called;
    if (inputs.sponge) start.sponge = mt::Tip5State{*inputs.sponge};
  } else {
    start.stack = machine.Stack();
  }
  FragmentResult result = mt::RunFragment(machine.program(), start, inputs.inputs, Limits());
  if (!fragments && !result.crash && !result.halted) {
    result.crash =
        mt::Crash{mt::CrashKind::InstructionPointer, 0, 0, -1, "ran off the end of the program"};
  }
  return result;
}

bool Inconclusive(const FragmentResult& result) {
  return result.crash && (result.crash->kind == mt::CrashKind::Cycles ||
                          result.crash->kind == mt::CrashKind::Memory);
}

uint64_t Cell(const FragmentResult& result, const mt::Inputs& inputs, uint64_t address) {
  if (auto found = result.written.find(address); found != result.written.end())
    return found->second;
  if (auto found = inputs.ram.find(address); found != inputs.ram.end()) return found->second;
  return 0;
}

std::optional<std::string> FragmentDifference(const FragmentResult& a, const FragmentResult& b,
                                              const mt::Inputs& inputs) {
  if (a.halted != b.halted) return "one halts, the other comes to its end";
  if (a.stack.size() != b.stack.size())
    return fmt::format("height of the stack: {} against {}", a.stack.size(), b.stack.size());
  for (size_t i = 0; i < a.stack.size(); ++i) {
    const size_t at = a.stack.size() - 1 - i;
    if (a.stack[at] != b.stack[at])
      return fmt::format("stack[{}]: {} against {}", i, a.stack[at], b.stack[at]);
  }
  for (const auto* written : {&a.written, &b.written}) {
    for (const auto& [address, unused] : *written) {
      const uint64_t x = Cell(a, inputs, address), y = Cell(b, inputs, address);
      if (x != y) return fmt::format("RAM[{}]: {} against {}", address, x, y);
    }
  }
  if (a.sponge != b.sponge) return "the sponges differ";
  return std::nullopt;
}

}  // namespace

std::vector<uint64_t> Machine::Stack() const {
  if (!digest_) digest_ = mt::ProgramDigest(program_);
  std::vector<uint64_t> stack(16, 0);
  for (size_t i = 0; i < 5; ++i) stack[i] = (*digest_)[4 - i];
  return stack;
}

bool Machine::LeavesByReturn() const {
  if (leaves_) return *leaves_;
  leaves_ = false;
  for (const auto& instruction : program_.code) {
    *leaves_ |= instruction.op == Opcode::Return || instruction.op == Opcode::Recurse ||
                instruction.op == Opcode::RecurseOrReturn;
  }
  return *leaves_;
}

std::optional<std::string> Difference(const Machine& source, const Machine& candidate,
                                      const MachineStart& inputs, bool fragments) {
  const bool called = fragments && (source.LeavesByReturn() || candidate.LeavesByReturn());
  const FragmentResult a = RunOne(source, inputs, fragments, called);
  if (Inconclusive(a)) return std::nullopt;
  // A fragment of source code is not responsible for a stack that is too shallow for it.
  if (fragments && a.crash && a.crash->kind == mt::CrashKind::OpStackTooShallow)
    return std::nullopt;
  const FragmentResult b = RunOne(candidate, inputs, fragments, called);
  if (Inconclusive(b)) return std::nullopt;
  if (auto difference = Difference(EndingOf(a), EndingOf(b))) return difference;
  if (!fragments || a.crash) return std::nullopt;
  return FragmentDifference(a, b, inputs.inputs);
}

bool Replays(const mt::Program& source, const mt::Program& candidate, const MachineStart& start,
             bool fragments) {
  return Difference(source, candidate, start, fragments).has_value();
}

std::string NotEnded(const Machine& source, const Machine& candidate, const MachineStart& inputs,
                     bool fragments) {
  const bool called = fragments && (source.LeavesByReturn() || candidate.LeavesByReturn());
  const FragmentResult a = RunOne(source, inputs, fragments, called);
  if (a.crash || a.cycles > CycleLimit / 40) return {};
  const FragmentResult b = RunOne(candidate, inputs, fragments, called);
  if (!b.crash || b.crash->kind != mt::CrashKind::Cycles) return {};
  return fmt::format("the candidate had not ended after {} cycles where the source ended after {}",
                     CycleLimit, a.cycles);
}

void Trim(const Machine& source, const Machine& candidate, Refuted& refuted, bool fragments) {
  const MachineStart& inputs = refuted.start();
  const bool called = fragments && (source.LeavesByReturn() || candidate.LeavesByReturn());
  const FragmentResult a = RunOne(source, inputs, fragments, called),
                       b = RunOne(candidate, inputs, fragments, called);
  MachineStart shorter = inputs;
  shorter.inputs.input.resize(
      std::min(inputs.inputs.input.size(), std::max(a.inputs_read, b.inputs_read)));
  shorter.inputs.secret.resize(
      std::min(inputs.inputs.secret.size(), std::max(a.secrets_read, b.secrets_read)));
  shorter.inputs.digests.resize(
      std::min(inputs.inputs.digests.size(), std::max(a.digests_read, b.digests_read)));
  if (auto difference = Difference(source, candidate, shorter, fragments))
    refuted = {std::move(shorter), std::move(*difference)};
}

}  // namespace frazil::verify::tasm
