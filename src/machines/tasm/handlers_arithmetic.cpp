// Handlers of the base field, the extension field and 32-bit integers.
#include <bit>
#include <functional>

#include "base/number/goldilocks.h"
#include "machines/tasm/handlers.h"

namespace frazil::machines::tasm {
namespace {

using goldilocks::XElement;

XElement Load(const uint64_t* top) { return {top[0], top[-1], top[-2]}; }
void Store(uint64_t* top, const XElement& element) {
  top[0] = element[0];
  top[-1] = element[1];
  top[-2] = element[2];
}

XElement Read(Machine& m, uint64_t& pointer) {
  XElement element;
  for (uint64_t& coefficient : element) {
    coefficient = m.ram.Read(pointer);
    pointer = goldilocks::Add(pointer, 1);
  }
  return element;
}

FRAZIL_TASM_HANDLER(DoAdd) {
  FRAZIL_TASM_SHRINK(1);
  sp[-1] = goldilocks::Add(sp[-1], sp[0]);
  --sp;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoAddI) {
  *sp = goldilocks::Add(*sp, pc->argument);
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoMul) {
  FRAZIL_TASM_SHRINK(1);
  sp[-1] = goldilocks::Mul(sp[-1], sp[0]);
  --sp;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoInvert) {
  FRAZIL_TASM_NEED(*sp != 0, InverseOfZero);
  *sp = goldilocks::Invert(*sp);
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoEq) {
  FRAZIL_TASM_SHRINK(1);
  sp[-1] = sp[-1] == sp[0] ? 1 : 0;
  --sp;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoSplit) {
  const uint64_t high = *sp >> 32;
  const uint64_t low = *sp & 0xffff'ffffu;
  *sp = high;
  *++sp = low;
  if constexpr (IsTraced(mode)) AddU32(m, pc, U32Op::Split, low, high);
  FRAZIL_TASM_NEXT(pc + 1);
}

// Two words into one, and the row of the u32 table for it.
template <Mode mode, U32Op row, typename Result>
const Op* DoWords(const Op* pc, uint64_t* sp, Machine& m) {
  FRAZIL_TASM_SHRINK(1);
  FRAZIL_TASM_NEED(IsU32(sp[0] | sp[-1]), NotU32);
  if constexpr (IsTraced(mode)) AddU32(m, pc, row, sp[0], sp[-1]);
  sp[-1] = Result{}(sp[0], sp[-1]);
  --sp;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoLog2Floor) {
  FRAZIL_TASM_NEED(IsU32(*sp), NotU32);
  FRAZIL_TASM_NEED(*sp != 0, LogarithmOfZero);
  if constexpr (IsTraced(mode)) AddU32(m, pc, U32Op::Log2Floor, *sp, 0);
  *sp = static_cast<uint64_t>(std::bit_width(*sp) - 1);
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoPow) {
  FRAZIL_TASM_SHRINK(1);
  FRAZIL_TASM_NEED(IsU32(sp[-1]), NotU32);
  if constexpr (IsTraced(mode)) AddU32(m, pc, U32Op::Pow, sp[0], sp[-1]);
  sp[-1] = goldilocks::Pow(sp[0], sp[-1]);
  --sp;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoDivMod) {
  FRAZIL_TASM_NEED(IsU32(sp[0] | sp[-1]), NotU32);
  FRAZIL_TASM_NEED(sp[-1] != 0, DivisionByZero);
  const auto numerator = static_cast<uint32_t>(sp[0]);
  const auto denominator = static_cast<uint32_t>(sp[-1]);
  const uint32_t quotient = numerator / denominator;
  const uint32_t remainder = numerator % denominator;
  if constexpr (IsTraced(mode)) {
    AddU32(m, pc, U32Op::Lt, remainder, denominator);
    AddU32(m, pc, U32Op::Split, numerator, quotient);
  }
  sp[-1] = quotient;
  sp[0] = remainder;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoPopCount) {
  FRAZIL_TASM_NEED(IsU32(*sp), NotU32);
  if constexpr (IsTraced(mode)) AddU32(m, pc, U32Op::PopCount, *sp, 0);
  *sp = static_cast<uint64_t>(std::popcount(*sp));
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoXxAdd) {
  FRAZIL_TASM_SHRINK(3);
  for (int i = 3; i < 6; ++i) sp[-i] = goldilocks::Add(sp[-i], sp[3 - i]);
  sp -= 3;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoXxMul) {
  FRAZIL_TASM_SHRINK(3);
  Store(sp - 3, goldilocks::Mul(Load(sp), Load(sp - 3)));
  sp -= 3;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoXInvert) {
  FRAZIL_TASM_NEED((sp[0] | sp[-1] | sp[-2]) != 0, InverseOfZero);
  Store(sp, goldilocks::Invert(Load(sp)));
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoXbMul) {
  FRAZIL_TASM_SHRINK(1);
  Store(sp - 1, goldilocks::Scale(Load(sp - 1), *sp));
  --sp;
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoXxDotStep) {
  const XElement right = Read(m, sp[0]);
  const XElement left = Read(m, sp[-1]);
  Store(sp - 2, goldilocks::Add(Load(sp - 2), goldilocks::Mul(left, right)));
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoXbDotStep) {
  const uint64_t right = m.ram.Read(sp[0]);
  sp[0] = goldilocks::Add(sp[0], 1);
  const XElement left = Read(m, sp[-1]);
  Store(sp - 2, goldilocks::Add(Load(sp - 2), goldilocks::Scale(left, right)));
  FRAZIL_TASM_NEXT(pc + 1);
}

// e x + c: x in st0..st2, the pointer in st5, e in st7..st9. Pointers walk downward.
FRAZIL_TASM_HANDLER(DoBHornerStep) {
  const XElement coefficient = {m.ram.Read(sp[-5]), 0, 0};
  sp[-5] = goldilocks::Sub(sp[-5], 1);
  Store(sp - 7, goldilocks::Add(goldilocks::Mul(Load(sp - 7), Load(sp)), coefficient));
  FRAZIL_TASM_NEXT(pc + 1);
}

FRAZIL_TASM_HANDLER(DoXHornerStep) {
  XElement coefficient;
  for (size_t i = 3; i-- > 0;) {
    coefficient[i] = m.ram.Read(sp[-5]);
    sp[-5] = goldilocks::Sub(sp[-5], 1);
  }
  Store(sp - 7, goldilocks::Add(goldilocks::Mul(Load(sp - 7), Load(sp)), coefficient));
  FRAZIL_TASM_NEXT(pc + 1);
}

}  // namespace

template <Mode mode>
Handler ArithmeticHandler(Opcode op) {
  switch (op) {
    case Opcode::Add: return DoAdd<mode>;
    case Opcode::AddI: return DoAddI<mode>;
    case Opcode::Mul: return DoMul<mode>;
    case Opcode::Invert: return DoInvert<mode>;
    case Opcode::Eq: return DoEq<mode>;
    case Opcode::Split: return DoSplit<mode>;
    case Opcode::Lt: return DoWords<mode, U32Op::Lt, std::less<>>;
    case Opcode::And: return DoWords<mode, U32Op::And, std::bit_and<>>;
    // The table computes it from the `and` of the same operands.
    case Opcode::Xor: return DoWords<mode, U32Op::And, std::bit_xor<>>;
    case Opcode::Log2Floor: return DoLog2Floor<mode>;
    case Opcode::Pow: return DoPow<mode>;
    case Opcode::DivMod: return DoDivMod<mode>;
    case Opcode::PopCount: return DoPopCount<mode>;
    case Opcode::XxAdd: return DoXxAdd<mode>;
    case Opcode::XxMul: return DoXxMul<mode>;
    case Opcode::XInvert: return DoXInvert<mode>;
    case Opcode::XbMul: return DoXbMul<mode>;
    case Opcode::XxDotStep: return DoXxDotStep<mode>;
    case Opcode::XbDotStep: return DoXbDotStep<mode>;
    case Opcode::BHornerStep: return DoBHornerStep<mode>;
    case Opcode::XHornerStep: return DoXHornerStep<mode>;
    default: return nullptr;
  }
}

template Handler ArithmeticHandler<Mode::Fast>(Opcode op);
template Handler ArithmeticHandler<Mode::Traced>(Opcode op);
template Handler ArithmeticHandler<Mode::Stepping>(Opcode op);

}  // namespace frazil::machines::tasm
