// Handlers of the stack, control, memory and streams; and the loop around them. Each checks first whether the stack
// would become too shallow, then what else can go wrong, in the order of the published machine, and only then changes
// anything.
#include "machines/tasm/handlers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/number/goldilocks.h"
#include "machines/tasm/fragment.h"

namespace frazil::machines::tasm {
namespace {

using goldilocks::P;

FRAZIL_TASM_HANDLER(DoPop) {
  const auto count = static_cast<ptrdiff_t>(pc->argument);
  FRAZIL_TASM_SHRINK(count);
  sp -= count;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoPush) {
  *++sp = pc->argument;
  FRAZIL_TASM_NEXT(pc + 1);
}

// The next elements of a stream, which has so many, go on the stack; the first lies deepest.
inline uint64_t* PushFrom(const std::vector<uint64_t>& stream, size_t& at, uint64_t count,
                          uint64_t* sp) {
  for (uint64_t i = 0; i < count; ++i) *++sp = goldilocks::FromUint64(stream[at++]);
  return sp;
}

FRAZIL_TASM_HANDLER(DoDivine) {
  FRAZIL_TASM_NEED(m.inputs->secret.size() - m.secret_at >= pc->argument, SecretEmpty);
  sp = PushFrom(m.inputs->secret, m.secret_at, pc->argument, sp);
  FRAZIL_TASM_NEXT(pc + 1);
}

template <Mode mode, int place>
const Op* DoPick(const Op* pc, uint64_t* sp, Machine& m) {
  const uint64_t value = sp[-place];
  std::memmove(sp - place, sp - place + 1, place * sizeof(uint64_t));
  *sp = value;
  FRAZIL_TASM_NEXT(pc + 1);
}

template <Mode mode, int place>
const Op* DoPlace(const Op* pc, uint64_t* sp, Machine& m) {
  const uint64_t value = *sp;
  std::memmove(sp - place + 1, sp - place, place * sizeof(uint64_t));
  sp[-place] = value;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoDup) {
  const uint64_t value = sp[-static_cast<ptrdiff_t>(pc->argument)];
  *++sp = value;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoSwap) {
  std::swap(*sp, sp[-static_cast<ptrdiff_t>(pc->argument)]);
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoHalt) {
  CloseLine(m, pc + 1);
  m.sp = sp;
  m.end = End::Halted;
  return nullptr;
}

FRAZIL_TASM_HANDLER(DoNop) { FRAZIL_TASM_NEXT(pc + 1); }

// A line that skips an instruction is one shorter; with rows to sum it ends here.
FRAZIL_TASM_HANDLER(DoSkiz) {
  FRAZIL_TASM_SHRINK(1);
  const bool skip = *sp == 0;
  --sp;
  if constexpr (IsTraced(mode))
    if (m.ran != nullptr && !skip) m.ran[pc - m.code] |= Ran::On;
  if (!skip) FRAZIL_TASM_NEXT(pc + 1);
  FRAZIL_TASM_NEED(pc + 1 != m.code_end, InstructionPointer);
  if constexpr (IsTraced(mode)) {
    if (m.ran != nullptr) m.ran[pc - m.code] |= Ran::Else;
    CloseLine(m, pc + 1);
    m.line = pc + 2;
  } else {
    ++m.line;
  }
  FRAZIL_TASM_NEXT(pc + 2);
}

template <Mode mode>
inline void EndLine(Machine& m, const Op* pc, const Op* next) {
  if constexpr (IsTraced(mode)) {
    CloseLine(m, pc + 1);
  } else {
    m.cycles += static_cast<uint64_t>(pc + 1 - m.line);
  }
  m.line = next;
}

#define FRAZIL_TASM_GO(next)                              \
  if (m.cycles >= m.check_at || sp > m.roof) [[unlikely]] \
    FRAZIL_TASM_TAIL Pause((next), sp, m);                \
  FRAZIL_TASM_NEXT(next)

FRAZIL_TASM_HANDLER(DoCall) {
  if (m.jump == m.jump_end) [[unlikely]]
    FRAZIL_TASM_NEED(GrowJumps(m), Memory);
  *m.jump++ = {pc + 1, pc->target};
  EndLine<mode>(m, pc, pc->target);
  if constexpr (IsTraced(mode))
    if (m.attribution != nullptr)
      m.attribution->Call(static_cast<uint32_t>(pc - m.code),
                          static_cast<uint32_t>(pc->target - m.code));
  FRAZIL_TASM_GO(pc->target);
}

FRAZIL_TASM_HANDLER(DoReturn) {
  FRAZIL_TASM_NEED(m.jump != m.jumps.get(), JumpStackEmpty);
  const Op* const next = (--m.jump)->origin;
  EndLine<mode>(m, pc, next);
  if constexpr (IsTraced(mode))
    if (m.attribution != nullptr) m.attribution->Return();
  FRAZIL_TASM_GO(next);
}

FRAZIL_TASM_HANDLER(DoRecurse) {
  FRAZIL_TASM_NEED(m.jump != m.jumps.get(), JumpStackEmpty);
  const Op* const next = m.jump[-1].destination;
  EndLine<mode>(m, pc, next);
  FRAZIL_TASM_GO(next);
}

FRAZIL_TASM_HANDLER(DoRecurseOrReturn) {
  FRAZIL_TASM_NEED(m.jump != m.jumps.get(), JumpStackEmpty);
  if constexpr (IsTraced(mode))
    if (m.ran != nullptr) m.ran[pc - m.code] |= sp[-5] == sp[-6] ? Ran::On : Ran::Else;
  if (sp[-5] == sp[-6]) FRAZIL_TASM_TAIL DoReturn<mode>(pc, sp, m);
  FRAZIL_TASM_TAIL DoRecurse<mode>(pc, sp, m);
}

FRAZIL_TASM_HANDLER(DoAssert) {
  FRAZIL_TASM_SHRINK(1);
  FRAZIL_TASM_NEED(*sp == 1, AssertionFailed);
  --sp;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoAssertVector) {
  FRAZIL_TASM_SHRINK(5);
  FRAZIL_TASM_NEED(std::memcmp(sp - 4, sp - 9, 5 * sizeof(uint64_t)) == 0, VectorAssertionFailed);
  sp -= 5;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoReadMem) {
  uint64_t pointer = *sp--;
  for (uint64_t i = 0; i < pc->argument; ++i) {
    *++sp = m.ram.Read(pointer);
    pointer = pointer == 0 ? P - 1 : pointer - 1;
  }
  *++sp = pointer;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoWriteMem) {
  FRAZIL_TASM_SHRINK(static_cast<ptrdiff_t>(pc->argument));
  uint64_t pointer = *sp--;
  for (uint64_t i = 0; i < pc->argument; ++i) {
    m.ram.Write(pointer, *sp--);
    pointer = pointer == P - 1 ? 0 : pointer + 1;
  }
  *++sp = pointer;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoReadIo) {
  FRAZIL_TASM_NEED(m.inputs->input.size() - m.input_at >= pc->argument, InputEmpty);
  sp = PushFrom(m.inputs->input, m.input_at, pc->argument, sp);
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoWriteIo) {
  FRAZIL_TASM_SHRINK(static_cast<ptrdiff_t>(pc->argument));
  for (uint64_t i = 0; i < pc->argument; ++i) m.output.push_back(*sp--);
  FRAZIL_TASM_NEXT(pc + 1);
}

const Op* DoOffTheEnd(const Op* pc, uint64_t* sp, Machine& m) {
  CloseLine(m, pc);
  m.sp = sp;
  m.end = End::OffTheEnd;
  m.crash_at = pc;
  return nullptr;
}

template <Mode mode, size_t... places>
constexpr std::array<Handler, 16> PickHandlers(std::index_sequence<places...>) {
  return {DoPick<mode, static_cast<int>(places)>...};
}
template <Mode mode, size_t... places>
constexpr std::array<Handler, 16> PlaceHandlers(std::index_sequence<places...>) {
  return {DoPlace<mode, static_cast<int>(places)>...};
}

template <Mode mode>
Handler HandlerOf(const Instruction& instruction) {
  static constexpr auto picks = PickHandlers<mode>(std::make_index_sequence<16>());
  static constexpr auto places = PlaceHandlers<mode>(std::make_index_sequence<16>());
  switch (instruction.op) {
    case Opcode::Pop: return DoPop<mode>;
    case Opcode::Push: return DoPush<mode>;
    case Opcode::Divine: return DoDivine<mode>;
    case Opcode::Pick: return picks[instruction.argument & 15];
    case Opcode::Place: return places[instruction.argument & 15];
    case Opcode::Dup: return DoDup<mode>;
    case Opcode::Swap: return DoSwap<mode>;
    case Opcode::Halt: return DoHalt<mode>;
    case Opcode::Nop: return DoNop<mode>;
    case Opcode::Skiz: return DoSkiz<mode>;
    case Opcode::Call: return DoCall<mode>;
    case Opcode::Return: return DoReturn<mode>;
    case Opcode::Recurse: return DoRecurse<mode>;
    case Opcode::RecurseOrReturn: return DoRecurseOrReturn<mode>;
    case Opcode::Assert: return DoAssert<mode>;
    case Opcode::AssertVector: return DoAssertVector<mode>;
    case Opcode::ReadMem: return DoReadMem<mode>;
    case Opcode::WriteMem: return DoWriteMem<mode>;
    case Opcode::ReadIo: return DoReadIo<mode>;
    case Opcode::WriteIo: return DoWriteIo<mode>;
    default: break;
  }
  if (const Handler handler = HashHandler<mode>(instruction.op)) return handler;
  return ArithmeticHandler<mode>(instruction.op);
}

Handler HandlerIn(Mode mode, const Instruction& instruction) {
  switch (mode) {
    case Mode::Fast: return HandlerOf<Mode::Fast>(instruction);
    case Mode::Traced: return HandlerOf<Mode::Traced>(instruction);
    case Mode::Stepping: return HandlerOf<Mode::Stepping>(instruction);
  }
  return nullptr;
}

}  // namespace

std::vector<Op> Predecode(const Program& program, Mode mode) {
  std::vector<Op> code(program.code.size() + 1);
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& instruction = program.code[i];
    CHECK(ArgumentFits(instruction.op, instruction.argument));
    code[i].handler = HandlerIn(mode, instruction);
    if (Info(instruction.op).argument == Argument::Target)
      code[i].target = code.data() + std::min<size_t>(instruction.argument, program.code.size());
    else
      code[i].argument = instruction.argument;
  }
  code.back().handler = DoOffTheEnd;
  return code;
}

const Op* Pause(const Op* pc, uint64_t* sp, Machine& m) {
  LookAround(m, sp);
  m.sp = sp;
  if (m.end == End::Running) return pc;
  m.crash_at = pc;
  return nullptr;
}

void Execute(Machine& m, const Op* pc, const Program& program, std::vector<Op>& code) {
  m.line = pc;
  pc = Pause(pc, m.sp, m);
  while (pc != nullptr && !m.step) pc = pc->handler(pc, m.sp, m);
  if (pc == nullptr) return;
  for (size_t i = 0; i < program.code.size(); ++i)
    code[i].handler = HandlerIn(Mode::Stepping, program.code[i]);
  while (pc != nullptr) {
    if (pc != m.code_end && m.cycles + static_cast<uint64_t>(pc - m.line) >= m.limits.cycles) {
      CrashNow<CrashKind::Cycles>(pc, m.sp, m);
      return;
    }
    pc = pc->handler(pc, m.sp, m);
  }
}

}  // namespace frazil::machines::tasm
