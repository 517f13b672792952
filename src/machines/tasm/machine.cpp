// What happens at the ends of straight lines: counting, limits, room.
#include "machines/tasm/machine.h"

#include <algorithm>
#include <cstring>

#include "machines/tasm/fragment.h"
#include "machines/tasm/heights/attribution.h"

namespace frazil::machines::tasm {
namespace {

// How often, at least, a run looks at the stop flag and at its memory.
constexpr uint64_t CyclesBetweenLooks = 1 << 14;

void EndBy(Machine& m, CrashKind kind) {
  m.end = End::Crashed;
  m.crash = kind;
}

}  // namespace

std::vector<StaticRows> SumRows(const Program& program) {
  std::vector<StaticRows> sums(program.code.size() + 1);
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& instruction = program.code[i];
    const OpcodeInfo& info = Info(instruction.op);
    const uint64_t times = info.argument == Argument::Count ? instruction.argument : 1;
    sums[i + 1] = sums[i];
    sums[i + 1].op_stack += times * static_cast<uint64_t>(std::abs(info.delta));
    sums[i + 1].ram += times * info.ram_rows;
    sums[i + 1].hash += instruction.op == Opcode::SpongeInit ? 1 : 6ull * info.permutations;
  }
  return sums;
}

void CloseLine(Machine& m, const Op* pc) {
  m.cycles += static_cast<uint64_t>(pc - m.line);
  if (m.rows != nullptr) {
    const StaticRows& before = m.rows[m.line - m.code];
    const StaticRows& after = m.rows[pc - m.code];
    m.sums.op_stack += after.op_stack - before.op_stack;
    m.sums.ram += after.ram - before.ram;
    m.sums.hash += after.hash - before.hash;
    if (m.attribution != nullptr)
      m.attribution->Line(static_cast<uint32_t>(m.line - m.code),
                          static_cast<uint32_t>(pc - m.code));
    if (m.ran != nullptr)
      for (const Op* op = m.line; op < pc; ++op) m.ran[op - m.code] |= Ran::Was;
  }
  m.line = pc;
}

bool GrowJumps(Machine& m) {
  const auto used = static_cast<size_t>(m.jump - m.jumps.get());
  const size_t capacity = std::max<size_t>(256, 2 * used);
  if (used > m.limits.memory_words / 2) return false;
  auto jumps = std::make_unique_for_overwrite<JumpEntry[]>(capacity);
  std::copy_n(m.jumps.get(), used, jumps.get());
  m.jumps = std::move(jumps);
  m.jump = m.jumps.get() + used;
  m.jump_end = m.jumps.get() + capacity;
  return true;
}

void LookAround(Machine& m, uint64_t*& sp) {
  if (sp > m.roof || m.stack == nullptr) {
    const auto used = m.stack == nullptr ? 0 : static_cast<uint64_t>(sp - m.stack.get()) + 1;
    if (used > m.limits.memory_words) return EndBy(m, CrashKind::Memory);
    const uint64_t capacity = 2 * used + m.growth + 64;
    auto stack = std::make_unique_for_overwrite<uint64_t[]>(capacity);
    std::copy_n(m.stack.get(), used, stack.get());
    m.stack = std::move(stack);
    sp = m.stack.get() + used - 1;
    m.floor = m.stack.get() + 15;
    m.roof = m.stack.get() + (capacity - m.growth - 1);
  }
  if (m.ram.words() + m.output.size() > m.limits.memory_words) return EndBy(m, CrashKind::Memory);
  const bool stop = m.limits.stop != nullptr && m.limits.stop->load(std::memory_order_relaxed);
  if (stop || m.limits.deadline.Passed()) {
    m.stopped = true;
    return EndBy(m, CrashKind::Cycles);
  }
  // From here to the next look, a line can add as many cycles as the program has instructions.
  const auto longest = static_cast<uint64_t>(m.code_end - m.code) + 1;
  const uint64_t safe = m.limits.cycles > longest ? m.limits.cycles - longest : 0;
  if (m.cycles >= safe) {
    m.step = true;
    m.check_at = m.cycles + CyclesBetweenLooks;
  } else {
    m.check_at = std::min(safe, m.cycles + CyclesBetweenLooks);
  }
}

}  // namespace frazil::machines::tasm
