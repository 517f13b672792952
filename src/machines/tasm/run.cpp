// The doors: a run, a run with heights, and a run of a fragment, all on one machine.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/number/goldilocks.h"
#include "machines/tasm/fragment.h"
#include "machines/tasm/heights/attribution.h"
#include "machines/tasm/machine.h"

namespace frazil::machines::tasm {
namespace {

struct Setup {
  const std::vector<uint64_t>& stack;  // at least sixteen, top last
  uint32_t instruction = 0;
  bool called = false;
};

void Prepare(Machine& m, const Program& program, const Inputs& inputs, const RunLimits& limits,
             const Setup& setup, const std::vector<Op>& code) {
  m.code = code.data();
  m.code_end = code.data() + program.code.size();
  m.inputs = &inputs;
  m.limits = limits;
  for (const Instruction& instruction : program.code) {
    const OpcodeInfo& info = Info(instruction.op);
    if (info.delta > 0)
      m.growth += static_cast<uint64_t>(info.delta) * (info.argument == Argument::Count ? 5 : 1);
  }
  m.growth += 16;
  const uint64_t used = setup.stack.size();
  const uint64_t capacity = used + m.growth + 1024;
  m.stack = std::make_unique_for_overwrite<uint64_t[]>(capacity);
  std::ranges::copy(setup.stack, m.stack.get());
  m.sp = m.stack.get() + used - 1;
  m.floor = m.stack.get() + 15;
  m.roof = m.stack.get() + (capacity - m.growth - 1);
  for (const auto& [address, value] : inputs.ram)
    m.ram.Preset(goldilocks::FromUint64(address), goldilocks::FromUint64(value));
  GrowJumps(m);
  if (setup.called) *m.jump++ = {m.code_end, m.code + setup.instruction};
}

std::string_view LabelAbove(const Program& program, uint32_t instruction) {
  const auto after = std::ranges::upper_bound(program.labels, instruction, {}, &Label::instruction);
  if (after == program.labels.begin()) return {};
  return std::prev(after)->name;
}

Crash MakeCrash(const Machine& m, const Program& program, CrashKind kind) {
  Crash crash{
      .kind = kind, .instruction = static_cast<uint32_t>(m.crash_at - m.code), .cycle = m.cycles};
  std::string where = "the end";
  if (crash.instruction < program.code.size()) {
    // An assertion that finds no operand has not failed: the published machine gives no id then.
    if (kind == CrashKind::AssertionFailed || kind == CrashKind::VectorAssertionFailed)
      crash.error_id = program.code[crash.instruction].error_id;
    where = fmt::format("instruction {} ({})", crash.instruction,
                        PrintInstruction(program, crash.instruction));
  }
  const std::string_view label = LabelAbove(program, crash.instruction);
  crash.sentence =
      fmt::format("{} at {}{}, cycle {}", m.stopped ? "stopped" : CrashName(kind), where,
                  label.empty() ? "" : fmt::format(" in `{}`", label), crash.cycle);
  return crash;
}

std::vector<uint64_t> StackOf(const Machine& m) { return {m.stack.get(), m.sp + 1}; }

// The machine puts the program's digest at the bottom, its first element highest.
std::vector<uint64_t> InitialStack(const Digest& digest) {
  std::vector<uint64_t> stack(16);
  std::ranges::reverse_copy(digest, stack.begin());
  return stack;
}

void Finish(Machine& m, const Program& program, RunResult& result) {
  if (m.end == End::Crashed) result.crash = MakeCrash(m, program, m.crash);
  if (m.end == End::OffTheEnd) result.crash = MakeCrash(m, program, CrashKind::InstructionPointer);
  result.cycles = m.cycles;
  result.stack = StackOf(m);
  result.output = std::move(m.output);
  result.inputs_read = m.input_at;
}

}  // namespace

RunResult Run(const Program& program, const Inputs& inputs, const RunLimits& limits) {
  std::vector<Op> code = Predecode(program, Mode::Fast);
  Machine m;
  const std::vector<uint64_t> stack = InitialStack(ProgramDigest(program));
  Prepare(m, program, inputs, limits, {stack}, code);
  Execute(m, code.data(), program, code);
  RunResult result;
  Finish(m, program, result);
  return result;
}

TraceResult Trace(const Program& program, const Inputs& inputs, const RunLimits& limits,
                  bool attribute) {
  std::vector<Op> code = Predecode(program, Mode::Traced);
  const std::vector<StaticRows> rows = SumRows(program);
  std::optional<Attribution> attribution;
  if (attribute) attribution.emplace(program, rows.data());

  Machine m;
  m.rows = rows.data();
  m.attribution = attribute ? &*attribution : nullptr;
  const std::vector<uint64_t> words = Encode(program);
  const std::vector<uint64_t> stack = InitialStack(HashWordsRecording(words, m.limbs));
  Prepare(m, program, inputs, limits, {stack}, code);
  Execute(m, code.data(), program, code);

  TraceResult result;
  Finish(m, program, result.run);
  const uint64_t chunks = words.size() / Tip5Rate + 1;
  auto& heights = result.profile.heights;
  const auto set = [&](Table table, uint64_t height) {
    heights[static_cast<size_t>(table)] = height;
  };
  set(Table::Program, chunks * Tip5Rate);
  set(Table::Processor, m.cycles);
  set(Table::OpStack, m.sums.op_stack);
  set(Table::Ram, m.sums.ram);
  set(Table::JumpStack, m.cycles);
  set(Table::Hash, m.sums.hash + 6 * chunks);
  set(Table::Cascade, m.limbs.count());
  set(Table::Lookup, 256);
  set(Table::U32, m.u32.rows());
  if (attribute) {
    attribution->Finish(result);
    result.execution_limbs.assign(m.execution_limbs.bits().begin(), m.execution_limbs.bits().end());
  }
  return result;
}

FragmentResult RunFragment(const Program& program, const FragmentStart& start, const Inputs& inputs,
                           const RunLimits& limits) {
  std::vector<uint64_t> stack(start.stack.size() < 16 ? 16 - start.stack.size() : 0);
  for (const uint64_t element : start.stack) stack.push_back(goldilocks::FromUint64(element));
  std::vector<Op> code = Predecode(program, start.ran == nullptr ? Mode::Fast : Mode::Traced);
  Machine m;
  m.sponge = start.sponge;
  std::vector<StaticRows> rows;
  if (start.ran != nullptr) {
    CHECK(start.ran->size() >= program.code.size());
    rows = SumRows(program);
    m.rows = rows.data();
    m.ran = start.ran->data();
  }
  const auto first =
      static_cast<uint32_t>(std::min<size_t>(start.instruction, program.code.size()));
  if (start.found) m.ram.AskFor(&start.found);
  Prepare(m, program, inputs, limits, {stack, first, start.called}, code);
  Execute(m, code.data() + first, program, code);

  FragmentResult result;
  if (m.end == End::Crashed) result.crash = MakeCrash(m, program, m.crash);
  result.halted = m.end == End::Halted;
  result.stack = StackOf(m);
  result.output = std::move(m.output);
  result.written = m.ram.Written();
  result.sponge = m.sponge;
  result.inputs_read = m.input_at;
  result.secrets_read = m.secret_at;
  result.digests_read = m.digest_at;
  result.cycles = m.cycles;
  return result;
}

}  // namespace frazil::machines::tasm
