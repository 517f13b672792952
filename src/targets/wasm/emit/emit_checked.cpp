// Integers that trap on overflow. What the ranges prove harmless is the plain instruction; 32 bits
// and less are computed in a wider type and compared with what they would be cut to; 64 bits by
// signs or helpers.
#include "base/check.h"
#include "targets/wasm/emit/function_emitter.h"

namespace frazil::targets::wasm {

using Ir = ir::Op;

void FunctionEmitter::EmitChecked(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  Opcode narrow = inst.op == Ir::AddChecked   ? Opcode::I32Add
                  : inst.op == Ir::SubChecked ? Opcode::I32Sub
                                              : Opcode::I32Mul;
  Opcode wide = inst.op == Ir::AddChecked   ? Opcode::I64Add
                : inst.op == Ir::SubChecked ? Opcode::I64Sub
                                            : Opcode::I64Mul;
  if (plan_.ranges().cannot_trap(inst)) {
    Push(operand(inst, 0));
    Push(operand(inst, 1));
    return IntOp(kind, narrow, wide);
  }
  if (kind.is64()) return EmitChecked64(inst);
  if (kind.is_narrow()) {
    Push(operand(inst, 0));
    Push(operand(inst, 1));
    Op(narrow);
    uint32_t exact = HoldTop(ValType::I32);
    code_.Get(exact);
    Normalize(kind);
    code_.Get(exact);
    Op(Opcode::I32Ne);
    TrapIf(ir::Trap::Overflow, inst.op);
    return code_.Get(exact);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    Push(operand(inst, i));
    Op(kind.is_signed ? Opcode::I64ExtendI32S : Opcode::I64ExtendI32U);
  }
  Op(wide);
  uint32_t exact = HoldTop(ValType::I64);
  code_.Get(exact);
  if (kind.is_signed) {
    Op(Opcode::I64Extend32S);
  } else {
    code_.I64(0xffffffff);
    Op(Opcode::I64And);
  }
  code_.Get(exact);
  Op(Opcode::I64Ne);
  TrapIf(ir::Trap::Overflow, inst.op);
  code_.Get(exact);
  Op(Opcode::I32WrapI64);
}

void FunctionEmitter::EmitChecked64(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  const auto [a, b] = PushBothHeld(inst);
  if (inst.op == Ir::MulChecked) {
    Call(kind.is_signed ? Helper::MulOverflowsS : Helper::MulHiU);
    if (!kind.is_signed) {
      code_.I64(0);
      Op(Opcode::I64Ne);
    }
    TrapIf(ir::Trap::Overflow, inst.op);
    PushHeld(a);
    PushHeld(b);
    return Op(Opcode::I64Mul);
  }
  bool adds = inst.op == Ir::AddChecked;
  Op(adds ? Opcode::I64Add : Opcode::I64Sub);
  uint32_t result = HoldTop(ValType::I64);
  if (!kind.is_signed) {
    // A sum below an operand has wrapped; a difference wraps where the first is below the second.
    if (adds) code_.Get(result);
    PushHeld(a);
    if (!adds) PushHeld(b);
    Op(Opcode::I64LtU);
  } else {
    // add: the result's sign differs from both operands'; sub: the operands' signs differ, and so
    // do the first's and the result's.
    PushHeld(a);
    adds ? code_.Get(result) : PushHeld(b);
    Op(Opcode::I64Xor);
    PushHeld(adds ? b : a);
    code_.Get(result);
    Op(Opcode::I64Xor);
    Op(Opcode::I64And);
    code_.I64(0);
    Op(Opcode::I64LtS);
  }
  TrapIf(ir::Trap::Overflow, inst.op);
  code_.Get(result);
}

void FunctionEmitter::EmitCheckedUnary(const ir::Inst& inst) {
  IntKind kind = IntKindOf(inst.type);
  Held x = Hold(operand(inst, 0));
  if (!plan_.ranges().cannot_trap(inst)) {
    PushHeld(x);
    if (kind.is_signed) {
      PushInt(kind, static_cast<int64_t>(TypeInterval(inst.type).lo));
      IntOp(kind, Opcode::I32Eq, Opcode::I64Eq);
    } else {
      PushInt(kind, 0);
      IntOp(kind, Opcode::I32Ne, Opcode::I64Ne);
    }
    TrapIf(ir::Trap::Overflow, inst.op);
  }
  if (inst.op == Ir::NegChecked) {
    PushInt(kind, 0);
    PushHeld(x);
    return IntOp(kind, Opcode::I32Sub, Opcode::I64Sub);
  }
  PushInt(kind, 0);
  PushHeld(x);
  IntOp(kind, Opcode::I32Sub, Opcode::I64Sub);
  PushHeld(x);
  PushHeld(x);
  PushInt(kind, 0);
  IntOp(kind, Opcode::I32LtS, Opcode::I64LtS);
  Op(Opcode::Select);
}

}  // namespace frazil::targets::wasm
