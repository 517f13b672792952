// How one handler goes on to the next. Private to the files that hold handlers.
//
// Under Clang each handler ends in a guaranteed tail call of the next, so the machine's registers stay in the host's
// and every instruction has an indirect branch of its own to predict. Elsewhere, and when stepping, a handler returns
// the next instruction to the loop in Execute.
#pragma once

#include "machines/tasm/heights/attribution.h"
#include "machines/tasm/machine.h"

#if defined(__clang__)
#define FRAZIL_TASM_TAIL [[clang::musttail]] return
#define FRAZIL_TASM_NEXT(next)                        \
  do {                                                \
    if constexpr (mode == Mode::Stepping) {           \
      m.sp = sp;                                      \
      return (next);                                  \
    } else {                                          \
      FRAZIL_TASM_TAIL(next)->handler((next), sp, m); \
    }                                                 \
  } while (0)
#else
#define FRAZIL_TASM_TAIL return
#define FRAZIL_TASM_NEXT(next) \
  do {                         \
    m.sp = sp;                 \
    return (next);             \
  } while (0)
#endif

// One handler per instruction and mode.
#define FRAZIL_TASM_HANDLER(name) \
  template <Mode mode>            \
  const Op* name([[maybe_unused]] const Op* pc, uint64_t* sp, Machine& m)

// Ends the handler with a crash, unless `condition` holds.
#define FRAZIL_TASM_NEED(condition, kind) \
  if (!(condition)) [[unlikely]]          \
  FRAZIL_TASM_TAIL CrashNow<CrashKind::kind>(pc, sp, m)
// The stack must still hold sixteen elements after losing `count`.
#define FRAZIL_TASM_SHRINK(count) FRAZIL_TASM_NEED(sp - (count) >= m.floor, OpStackTooShallow)

namespace frazil::machines::tasm {

constexpr bool IsTraced(Mode mode) { return mode != Mode::Fast; }

template <CrashKind kind>
const Op* CrashNow(const Op* pc, uint64_t* sp, Machine& m) {
  CloseLine(m, pc);
  m.sp = sp;
  m.end = End::Crashed;
  m.crash = kind;
  m.crash_at = pc;
  return nullptr;
}

const Op* Pause(const Op* pc, uint64_t* sp, Machine& m);

inline void AddU32(Machine& m, const Op* pc, U32Op op, uint64_t left, uint64_t right) {
  if (m.rows == nullptr) return;
  const uint64_t rows = m.u32.Add(op, left, right);
  if (rows != 0 && m.attribution != nullptr)
    m.attribution->Add(static_cast<uint32_t>(pc - m.code), Table::U32, rows);
}

inline bool IsU32(uint64_t element) { return element >> 32 == 0; }

template <Mode mode>
Handler ArithmeticHandler(Opcode op);
template <Mode mode>
Handler HashHandler(Opcode op);

}  // namespace frazil::machines::tasm
