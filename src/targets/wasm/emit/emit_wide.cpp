// Values of several words: fields and digests in locals, int<k> in memory by address.
#include "base/check.h"
#include "targets/wasm/emit/function_emitter.h"

namespace frazil::targets::wasm {

using Ir = ir::Op;
using ir::Function;

void FunctionEmitter::EmitField(const ir::Inst& inst) {
  switch (inst.op) {
    case Ir::Neg: code_.I64(0); break;
    case Ir::FieldDiv:
    case Ir::Invert: return EmitFieldInverse(inst, Helper::FieldInvert, Helper::FieldMul);
    default: break;
  }
  for (uint32_t i = 0; i < inst.operands.count; ++i) Push(operand(inst, i));
  switch (inst.op) {
    case Ir::Add: return Call(Helper::FieldAdd);
    case Ir::Sub:
    case Ir::Neg: return Call(Helper::FieldSub);
    case Ir::Mul: return Call(Helper::FieldMul);
    case Ir::Eq: return Op(Opcode::I64Eq);
    case Ir::Ne: return Op(Opcode::I64Ne);
    default: CHECK(!"an op on field");
  }
}

// `invert` and `div` of either field.
void FunctionEmitter::EmitFieldInverse(const ir::Inst& inst, Helper invert, Helper multiply) {
  const uint32_t words = WordCount(inst.type);
  bool divides = inst.op == Ir::FieldDiv;
  std::optional<Held> dividend;
  if (divides) dividend = Hold(operand(inst, 0));
  Held x = Hold(operand(inst, divides ? 1 : 0));
  for (uint32_t i = 0; i < words; ++i) {
    PushHeld(x, i);
    if (i != 0) Op(Opcode::I64Or);
  }
  Op(Opcode::I64Eqz);
  TrapIf(ir::Trap::InvertOfZero, inst.op);
  for (uint32_t i = 0; divides && i < words; ++i) PushHeld(*dividend, i);
  for (uint32_t i = 0; i < words; ++i) PushHeld(x, i);
  Call(invert);
  if (divides) Call(multiply);
}

// Digests come here too: they are only compared.
void FunctionEmitter::EmitXField(const ir::Inst& inst) {
  switch (inst.op) {
    case Ir::Eq:
    case Ir::Ne: return EmitWideCompare(inst);
    case Ir::Neg:
      for (int i = 0; i < 3; ++i) code_.I64(0);
      Push(operand(inst, 0));
      return Call(Helper::XFieldSub);
    case Ir::FieldDiv:
    case Ir::Invert: return EmitFieldInverse(inst, Helper::XFieldInvert, Helper::XFieldMul);
    default: break;
  }
  Push(operand(inst, 0));
  Push(operand(inst, 1));
  switch (inst.op) {
    case Ir::Add: return Call(Helper::XFieldAdd);
    case Ir::Sub: return Call(Helper::XFieldSub);
    case Ir::Mul: return Call(Helper::XFieldMul);
    default: CHECK(!"an op on xfield");
  }
}

void FunctionEmitter::EmitWideCompare(const ir::Inst& inst) {
  Held a = Hold(operand(inst, 0));
  Held b = Hold(operand(inst, 1));
  for (uint32_t i = 0; i < WordCount(inst.type); ++i) {
    PushHeld(a, i);
    PushHeld(b, i);
    Op(Opcode::I64Xor);
    if (i != 0) Op(Opcode::I64Or);
  }
  Op(Opcode::I64Eqz);
  if (inst.op == Ir::Ne) Op(Opcode::I32Eqz);
}

void FunctionEmitter::EmitParts(const ir::Inst& inst) {
  if (inst.op == Ir::MakeXField || inst.op == Ir::MakeDigest) {
    for (uint32_t i = 0; i < inst.operands.count; ++i) Push(operand(inst, i));
    return;
  }
  Held whole = Hold(operand(inst, 0));
  PushHeld(whole, static_cast<uint32_t>(function_.word(inst, 0)));
}

void FunctionEmitter::EmitSelect(const ir::Inst& inst) {
  ir::Type value_type = inst.type;
  if (IsBig(value_type)) {
    PushResultAddress(inst);
    for (uint32_t i : {1u, 2u, 0u}) Push(operand(inst, i));
    Op(Opcode::Select);
    code_.I32(8 * value_type.limbs);
    return code_.MemoryCopy();
  }
  if (WordCount(value_type) == 1) {
    for (uint32_t i : {1u, 2u, 0u}) Push(operand(inst, i));
    return Op(Opcode::Select);
  }
  Held yes = Hold(operand(inst, 1));
  Held no = Hold(operand(inst, 2));
  Held condition = Hold(operand(inst, 0));
  for (uint32_t i = 0; i < WordCount(value_type); ++i) {
    PushHeld(yes, i);
    PushHeld(no, i);
    PushHeld(condition);
    Op(Opcode::Select);
  }
}

// --- int<k> --------------------------------------------------------------------------------------

void FunctionEmitter::CopyBig(ir::ValueId to, ir::ValueId from) {
  PushAddress(to);
  PushAddress(from);
  code_.I32(8 * type(to).limbs);
  code_.MemoryCopy();
}

void FunctionEmitter::EmitBig(const ir::Inst& inst) {
  int32_t limbs = inst.type.limbs;
  auto push_operands = [&] {
    for (uint32_t i = 0; i < inst.operands.count; ++i) PushAddress(operand(inst, i));
    code_.I32(limbs);
  };
  auto compare = [&](Opcode with_zero) {
    push_operands();
    Call(Helper::BigCompare);
    code_.I32(0);
    Op(with_zero);
  };
  auto compute = [&](Helper helper) {
    PushResultAddress(inst);
    push_operands();
    Call(helper);
    TrapIf(ir::Trap::Overflow, inst.op);
  };
  switch (inst.op) {
    case Ir::AddChecked: return compute(Helper::BigAdd);
    case Ir::SubChecked: return compute(Helper::BigSub);
    case Ir::MulChecked: return compute(Helper::BigMul);
    case Ir::NegChecked: return compute(Helper::BigNegate);
    case Ir::AbsChecked:
      PushAddress(operand(inst, 0));
      code_.Memory(Opcode::I64Load, 3, 8 * (inst.type.limbs - 1u));
      code_.I64(0);
      Op(Opcode::I64LtS);
      code_.Begin(Opcode::If);
      compute(Helper::BigNegate);
      code_.Else();
      CopyBig(Function::result_of(inst), operand(inst, 0));
      return code_.End();
    case Ir::DivChecked:
    case Ir::RemChecked: {
      PushAddress(operand(inst, 1));
      code_.I32(limbs);
      Call(Helper::BigIsZero);
      TrapIf(ir::Trap::DivisionByZero, inst.op);
      bool is_rem = inst.op == Ir::RemChecked;
      if (is_rem) code_.I32(0);
      PushResultAddress(inst);
      if (!is_rem) code_.I32(0);
      push_operands();
      Call(Helper::BigDivRem);
      return is_rem ? Op(Opcode::Drop) : TrapIf(ir::Trap::Overflow, inst.op);
    }
    case Ir::Min:
    case Ir::Max:
      PushResultAddress(inst);
      PushAddress(operand(inst, 0));
      PushAddress(operand(inst, 1));
      compare(inst.op == Ir::Min ? Opcode::I32LtS : Opcode::I32GtS);
      Op(Opcode::Select);
      code_.I32(8 * limbs);
      return code_.MemoryCopy();
    case Ir::Eq:
    case Ir::Ne:
      push_operands();
      Call(Helper::BigEqual);
      if (inst.op == Ir::Ne) Op(Opcode::I32Eqz);
      return;
    case Ir::Lt: return compare(Opcode::I32LtS);
    case Ir::Le: return compare(Opcode::I32LeS);
    case Ir::Gt: return compare(Opcode::I32GtS);
    case Ir::Ge: return compare(Opcode::I32GeS);
    default: CHECK(!"an op on int<k>");
  }
}

void FunctionEmitter::EmitBigCast(const ir::Inst& inst) {
  ir::Type from = type(operand(inst, 0));
  ir::Type to = inst.type;
  if (IsBig(from) && IsBig(to)) {
    PushResultAddress(inst);
    code_.I32(to.limbs);
    PushAddress(operand(inst, 0));
    code_.I32(from.limbs);
    // A helper for each: of one for both, half would never run.
    if (to.limbs >= from.limbs) return Call(Helper::BigExtend);
    Call(Helper::BigCut);
    return TrapIf(ir::Trap::Overflow, inst.op);
  }
  if (IsBig(to)) {
    IntKind kind = IntKindOf(from);
    Push(operand(inst, 0));
    CastIntToInt(kind, {64, kind.is_signed});
    uint32_t low = HoldTop(ValType::I64);
    PushResultAddress(inst);
    code_.I32(to.limbs);
    code_.Get(low);
    if (kind.is_signed) {
      code_.Get(low);
      code_.I64(63);
      Op(Opcode::I64ShrS);
    } else {
      code_.I64(0);
    }
    return Call(Helper::BigFill);
  }
  // To a machine integer: the upper limbs must repeat the sign (be zero), then the low one must
  // fit.
  IntKind kind = IntKindOf(to);
  bool as_unsigned = kind.is64() && !kind.is_signed;
  PushAddress(operand(inst, 0));
  code_.Memory(Opcode::I64Load, 3, 0);
  uint32_t low = HoldTop(ValType::I64);
  PushAddress(operand(inst, 0));
  code_.I32(from.limbs);
  if (as_unsigned) {
    code_.I64(0);
  } else {
    code_.Get(low);
    code_.I64(63);
    Op(Opcode::I64ShrS);
  }
  Call(Helper::BigUpperIs);
  Op(Opcode::I32Eqz);
  if (!kind.is64()) {
    Interval allowed = TypeInterval(to);
    code_.Get(low);
    code_.I64(static_cast<int64_t>(allowed.lo));
    Op(Opcode::I64LtS);
    Op(Opcode::I32Or);
    code_.Get(low);
    code_.I64(static_cast<int64_t>(allowed.hi));
    Op(Opcode::I64GtS);
    Op(Opcode::I32Or);
  }
  TrapIf(ir::Trap::Overflow, inst.op);
  code_.Get(low);
  if (!kind.is64()) Op(Opcode::I32WrapI64);
}

}  // namespace frazil::targets::wasm
