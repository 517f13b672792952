// Integers that wrap, bits, order and division. Types below 32 bits live in an i32 extended to
// their type; Normalize brings a result back to that form, and is left out where the result fits
// anyway.
#include "base/check.h"
#include "targets/wasm/emit/function_emitter.h"

namespace frazil::targets::wasm {

using Ir = ir::Op;

void FunctionEmitter::Normalize(IntKind kind) {
  if (!kind.is_narrow()) return;
  if (kind.is_signed) return Op(kind.bits == 8 ? Opcode::I32Extend8S : Opcode::I32Extend16S);
  code_.I32((1 << kind.bits) - 1);
  Op(Opcode::I32And);
}

void FunctionEmitter::PushInt(IntKind kind, int64_t value) {
  if (kind.is64())
    code_.I64(value);
  else
    code_.I32(static_cast<int32_t>(value));
}

void FunctionEmitter::EmitInteger(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  switch (inst.op) {
    case Ir::Add: return EmitIntegerBinary(inst, Opcode::I32Add, Opcode::I64Add);
    case Ir::Sub: return EmitIntegerBinary(inst, Opcode::I32Sub, Opcode::I64Sub);
    case Ir::Mul: return EmitIntegerBinary(inst, Opcode::I32Mul, Opcode::I64Mul);
    case Ir::And: return EmitIntegerBinary(inst, Opcode::I32And, Opcode::I64And);
    case Ir::Or: return EmitIntegerBinary(inst, Opcode::I32Or, Opcode::I64Or);
    case Ir::Xor: return EmitIntegerBinary(inst, Opcode::I32Xor, Opcode::I64Xor);
    case Ir::Neg:
      PushInt(kind, 0);
      Push(operand(inst, 0));
      IntOp(kind, Opcode::I32Sub, Opcode::I64Sub);
      if (!plan_.ranges().fits(inst)) Normalize(kind);
      return;
    case Ir::Not: return EmitNot(inst);
    case Ir::MulHi: return EmitMulHi(inst);
    case Ir::Abs: return EmitAbs(inst);
    case Ir::Shl:
    case Ir::Shr: return EmitShift(inst);
    case Ir::Rotl:
    case Ir::Rotr: return EmitRotate(inst);
    case Ir::Clz:
    case Ir::Ctz:
    case Ir::Popcnt: return EmitBitCount(inst);
    case Ir::Min:
    case Ir::Max: return EmitMinMax(inst);
    case Ir::Eq:
    case Ir::Ne:
    case Ir::Lt:
    case Ir::Le:
    case Ir::Gt:
    case Ir::Ge: return EmitCompare(inst);
    case Ir::DivTrunc:
    case Ir::DivFloor:
    case Ir::RemTrunc:
    case Ir::RemFloor:
    case Ir::DivChecked:
    case Ir::RemChecked: return EmitDivision(inst);
    case Ir::AddChecked:
    case Ir::SubChecked:
    case Ir::MulChecked: return EmitChecked(inst);
    case Ir::NegChecked:
    case Ir::AbsChecked: return EmitCheckedUnary(inst);
    default: CHECK(!"an op on integers");
  }
}

void FunctionEmitter::EmitIntegerBinary(const ir::Inst& inst, Opcode narrow, Opcode wide) {
  IntKind kind = IntKindOf(inst.type);
  Push(operand(inst, 0));
  Push(operand(inst, 1));
  IntOp(kind, narrow, wide);
  bool bitwise = inst.op == Ir::And || inst.op == Ir::Or || inst.op == Ir::Xor;
  if (!bitwise && !plan_.ranges().fits(inst)) Normalize(kind);
}

void FunctionEmitter::EmitNot(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  Push(operand(inst, 0));
  if (kind.bits == 1) return Op(Opcode::I32Eqz);
  PushInt(kind, kind.is_signed || !kind.is_narrow() ? -1 : (1 << kind.bits) - 1);
  IntOp(kind, Opcode::I32Xor, Opcode::I64Xor);
}

void FunctionEmitter::EmitMulHi(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  if (kind.is64()) {
    Push(operand(inst, 0));
    Push(operand(inst, 1));
    return Call(kind.is_signed ? Helper::MulHiS : Helper::MulHiU);
  }
  if (kind.is_narrow()) {
    Push(operand(inst, 0));
    Push(operand(inst, 1));
    Op(Opcode::I32Mul);
    code_.I32(kind.bits);
    return Op(kind.is_signed ? Opcode::I32ShrS : Opcode::I32ShrU);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    Push(operand(inst, i));
    Op(kind.is_signed ? Opcode::I64ExtendI32S : Opcode::I64ExtendI32U);
  }
  Op(Opcode::I64Mul);
  code_.I64(32);
  Op(Opcode::I64ShrU);
  Op(Opcode::I32WrapI64);
}

// x ^ s - s with s = x >> (width - 1).
void FunctionEmitter::EmitAbs(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  Held x = Hold(operand(inst, 0));
  PushHeld(x);
  PushInt(kind, kind.is64() ? 63 : 31);
  IntOp(kind, Opcode::I32ShrS, Opcode::I64ShrS);
  uint32_t sign = HoldTop(WordType(inst.type));
  code_.Get(sign);
  PushHeld(x);
  IntOp(kind, Opcode::I32Xor, Opcode::I64Xor);
  code_.Get(sign);
  IntOp(kind, Opcode::I32Sub, Opcode::I64Sub);
  Normalize(kind);
}

void FunctionEmitter::EmitShift(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  bool left = inst.op == Ir::Shl;
  Push(operand(inst, 0));
  if (std::optional<int64_t> amount = ConstantOf(operand(inst, 1))) {
    PushInt(kind, *amount & (kind.bits - 1));
  } else {
    Push(operand(inst, 1));
    // The instructions take their amount modulo 32 or 64 themselves.
    if (kind.is_narrow()) {
      code_.I32(kind.bits - 1);
      Op(Opcode::I32And);
    }
  }
  if (left)
    IntOp(kind, Opcode::I32Shl, Opcode::I64Shl);
  else if (kind.is_signed)
    IntOp(kind, Opcode::I32ShrS, Opcode::I64ShrS);
  else
    IntOp(kind, Opcode::I32ShrU, Opcode::I64ShrU);
  if (left) Normalize(kind);
}

void FunctionEmitter::EmitRotate(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  bool left = inst.op == Ir::Rotl;
  if (!kind.is_narrow()) {
    Push(operand(inst, 0));
    Push(operand(inst, 1));
    return left ? IntOp(kind, Opcode::I32Rotl, Opcode::I64Rotl)
                : IntOp(kind, Opcode::I32Rotr, Opcode::I64Rotr);
  }
  // x << n | x >> (width - n) on the bits alone; a shift by the whole width is still less than 32.
  Push(operand(inst, 0));
  code_.I32((1 << kind.bits) - 1);
  Op(Opcode::I32And);
  uint32_t x = HoldTop(ValType::I32);
  Push(operand(inst, 1));
  code_.I32(kind.bits - 1);
  Op(Opcode::I32And);
  uint32_t amount = HoldTop(ValType::I32);
  code_.Get(x);
  code_.Get(amount);
  Op(left ? Opcode::I32Shl : Opcode::I32ShrU);
  code_.Get(x);
  code_.I32(kind.bits);
  code_.Get(amount);
  Op(Opcode::I32Sub);
  Op(left ? Opcode::I32ShrU : Opcode::I32Shl);
  Op(Opcode::I32Or);
  Normalize(kind);
}

void FunctionEmitter::EmitBitCount(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  Push(operand(inst, 0));
  int32_t mask = kind.is_narrow() ? (1 << kind.bits) - 1 : 0;
  if (kind.is_narrow() && inst.op == Ir::Ctz) {
    // A bit above the type stops the count there.
    code_.I32(mask + 1);
    Op(Opcode::I32Or);
    return Op(Opcode::I32Ctz);
  }
  if (kind.is_narrow() && kind.is_signed) {
    code_.I32(mask);
    Op(Opcode::I32And);
  }
  if (inst.op == Ir::Popcnt) return IntOp(kind, Opcode::I32Popcnt, Opcode::I64Popcnt);
  if (inst.op == Ir::Ctz) return IntOp(kind, Opcode::I32Ctz, Opcode::I64Ctz);
  IntOp(kind, Opcode::I32Clz, Opcode::I64Clz);
  if (!kind.is_narrow()) return;
  code_.I32(32 - kind.bits);
  Op(Opcode::I32Sub);
}

void FunctionEmitter::EmitMinMax(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  const auto [a, b] = PushBothHeld(inst);
  PushHeld(a);
  PushHeld(b);
  SelectLess(kind, inst.op == Ir::Min);
}

// Of two values that stand on the stack twice: the less or the greater one.
void FunctionEmitter::SelectLess(IntKind kind, bool less) {
  if (kind.is_signed)
    less ? IntOp(kind, Opcode::I32LtS, Opcode::I64LtS)
         : IntOp(kind, Opcode::I32GtS, Opcode::I64GtS);
  else
    less ? IntOp(kind, Opcode::I32LtU, Opcode::I64LtU)
         : IntOp(kind, Opcode::I32GtU, Opcode::I64GtU);
  Op(Opcode::Select);
}

std::pair<FunctionEmitter::Held, FunctionEmitter::Held> FunctionEmitter::PushBothHeld(
    const ir::Inst& inst) {
  Held a = Hold(operand(inst, 0));
  Held b = Hold(operand(inst, 1));
  PushHeld(a);
  PushHeld(b);
  return {a, b};
}

void FunctionEmitter::EmitCompare(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  Push(operand(inst, 0));
  if (inst.op == Ir::Eq && ConstantOf(operand(inst, 1)) == 0)
    return IntOp(kind, Opcode::I32Eqz, Opcode::I64Eqz);
  Push(operand(inst, 1));
  bool is_signed = kind.is_signed;
  switch (inst.op) {
    case Ir::Eq: return IntOp(kind, Opcode::I32Eq, Opcode::I64Eq);
    case Ir::Ne: return IntOp(kind, Opcode::I32Ne, Opcode::I64Ne);
    case Ir::Lt:
      return is_signed ? IntOp(kind, Opcode::I32LtS, Opcode::I64LtS)
                       : IntOp(kind, Opcode::I32LtU, Opcode::I64LtU);
    case Ir::Le:
      return is_signed ? IntOp(kind, Opcode::I32LeS, Opcode::I64LeS)
                       : IntOp(kind, Opcode::I32LeU, Opcode::I64LeU);
    case Ir::Gt:
      return is_signed ? IntOp(kind, Opcode::I32GtS, Opcode::I64GtS)
                       : IntOp(kind, Opcode::I32GtU, Opcode::I64GtU);
    default:
      return is_signed ? IntOp(kind, Opcode::I32GeS, Opcode::I64GeS)
                       : IntOp(kind, Opcode::I32GeU, Opcode::I64GeU);
  }
}

void FunctionEmitter::EmitDivision(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  const Interval& divisor = plan_.ranges().of(operand(inst, 1));
  const Interval& dividend = plan_.ranges().of(operand(inst, 0));
  Int128 least = TypeInterval(inst.type).lo;
  bool may_be_zero = divisor.Contains(0);
  bool may_wrap = kind.is_signed && divisor.Contains(-1) && dividend.Contains(least);
  bool is_rem = inst.op == Ir::RemTrunc || inst.op == Ir::RemFloor || inst.op == Ir::RemChecked;
  bool floors = kind.is_signed && (inst.op == Ir::DivFloor || inst.op == Ir::RemFloor);
  if (may_be_zero || (may_wrap && inst.op == Ir::DivChecked)) {
    Held a = Hold(operand(inst, 0));
    Held b = Hold(operand(inst, 1));
    if (may_be_zero) {
      PushHeld(b);
      IntOp(kind, Opcode::I32Eqz, Opcode::I64Eqz);
      TrapIf(ir::Trap::DivisionByZero, inst.op);
    }
    if (may_wrap && inst.op == Ir::DivChecked) {
      PushHeld(a);
      PushInt(kind, static_cast<int64_t>(least));
      IntOp(kind, Opcode::I32Eq, Opcode::I64Eq);
      PushHeld(b);
      PushInt(kind, -1);
      IntOp(kind, Opcode::I32Eq, Opcode::I64Eq);
      Op(Opcode::I32And);
      TrapIf(ir::Trap::Overflow, inst.op);
      may_wrap = false;
    }
    PushHeld(a);
    PushHeld(b);
  } else {
    Push(operand(inst, 0));
    Push(operand(inst, 1));
  }
  if (floors) {
    Call(is_rem ? (kind.is64() ? Helper::RemFloor64 : Helper::RemFloor32)
                : (kind.is64() ? Helper::DivFloor64 : Helper::DivFloor32));
  } else if (is_rem) {
    kind.is_signed ? IntOp(kind, Opcode::I32RemS, Opcode::I64RemS)
                   : IntOp(kind, Opcode::I32RemU, Opcode::I64RemU);
  } else if (kind.is_signed && may_wrap && !kind.is_narrow()) {
    Call(kind.is64() ? Helper::DivS64 : Helper::DivS32);
  } else {
    kind.is_signed ? IntOp(kind, Opcode::I32DivS, Opcode::I64DivS)
                   : IntOp(kind, Opcode::I32DivU, Opcode::I64DivU);
  }
  // -128 / -1 is 128 in an i32.
  if (may_wrap && !is_rem) Normalize(kind);
}

}  // namespace frazil::targets::wasm
