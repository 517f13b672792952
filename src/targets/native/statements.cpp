// Instructions that trap, touch memory or streams: a check, then the value.
#include "base/check.h"
#include "exec/word_call.h"
#include "targets/native/function_emitter.h"

namespace frazil::targets::native {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::ValueId;

// False: the instruction only computes, and what it needs before it is emitted.
bool FunctionEmitter::EmitStatement(const Inst& inst) {
  switch (inst.op) {
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor:
      EmitDivision(inst);
      return true;
    case Op::AddChecked:
    case Op::SubChecked:
    case Op::MulChecked:
    case Op::NegChecked:
    case Op::AbsChecked:
    case Op::CastChecked:
    case Op::DivChecked:
    case Op::RemChecked:
      EmitChecked(inst);
      return true;
    case Op::FieldDiv:
    case Op::Invert:
      EmitInverse(inst);
      return true;
    case Op::Lookup:
      EmitLookup(inst);
      return true;
    case Op::Load:
    case Op::Store:
      EmitMemory(inst);
      return true;
    case Op::AtomicRmw:
    case Op::AtomicCas:
      EmitAtomic(inst);
      return true;
    case Op::Alloc:
      EmitAlloc(inst);
      return true;
    case Op::Input:
    case Op::Hint:
      EmitRead(inst);
      return true;
    case Op::Output:
      EmitOutput(inst);
      return true;
    case Op::Assert:
      TrapIf(builder_.CreateNot(Get(function_.operand(inst, 0))), ir::Trap::Assert, inst.op);
      return true;
    case Op::Unreachable:
      TrapIf(builder_.getTrue(), ir::Trap::Unreachable, inst.op);
      return true;
    default:
      return false;
  }
}

void FunctionEmitter::EmitDivision(const Inst& inst) {
  const LlvmValues in = Operands(inst);
  TrapIf(ops_.IsZero(inst.type, in[1]), ir::Trap::DivisionByZero, inst.op);
  SetResult(inst, ops_.Compute(inst.op, inst.type, inst.type, in));
}

void FunctionEmitter::EmitChecked(const Inst& inst) {
  const LlvmValues in = Operands(inst);
  const ir::Type from = function_.type(function_.operand(inst, 0));
  if (inst.op == Op::DivChecked || inst.op == Op::RemChecked)
    TrapIf(ops_.IsZero(inst.type, in[1]), ir::Trap::DivisionByZero, inst.op);
  const OpEmitter::Checked checked = ops_.ComputeChecked(inst.op, inst.type, from, in);
  if (checked.overflow != nullptr) TrapIf(checked.overflow, ir::Trap::Overflow, inst.op);
  SetResult(inst, checked.value);
}

void FunctionEmitter::EmitInverse(const Inst& inst) {
  const LlvmValues in = Operands(inst);
  TrapIf(ops_.IsZero(inst.type, in.back()), ir::Trap::InvertOfZero, inst.op);
  SetResult(inst, ops_.Compute(inst.op, inst.type, inst.type, in));
}

void FunctionEmitter::EmitLookup(const Inst& inst) {
  const ir::DataId table(static_cast<uint32_t>(function_.word(inst, 0)));
  llvm::Value* const index = Get(function_.operand(inst, 0));
  if (MayTrap(program(), function_, facts_, inst)) {
    llvm::Value* const length = builder_.getInt64(program().data[table.index].length());
    TrapIf(builder_.CreateICmpUGE(index, length), ir::Trap::OutOfBounds, inst.op);
  }
  if (!IsLive(Function::result_of(inst))) return;
  SetResult(inst, LoadElement(inst.type, ElementAddress(inst.type, shared_.Table(table), index)));
}

llvm::Value* FunctionEmitter::CheckedAddress(const Inst& inst) {
  const ValueId buffer = function_.operand(inst, 0);
  const ValueId index = function_.operand(inst, 1);
  if (!IsInside(function_, facts_, buffer, index))
    TrapIf(builder_.CreateICmpUGE(Get(index), LengthOf(buffer)), ir::Trap::OutOfBounds, inst.op);
  return ElementAddress(function_.type(buffer).element(), Get(buffer), Get(index));
}

void FunctionEmitter::EmitMemory(const Inst& inst) {
  const ir::Type element = function_.type(function_.operand(inst, 0)).element();
  llvm::Value* const address = CheckedAddress(inst);
  if (inst.op == Op::Store) return StoreElement(element, address, Get(function_.operand(inst, 2)));
  if (IsLive(Function::result_of(inst))) SetResult(inst, LoadElement(element, address));
}

// Iterations run in ascending order on one thread, so that a plain read and a plain write are enough.
void FunctionEmitter::EmitAtomic(const Inst& inst) {
  llvm::Value* const address = CheckedAddress(inst);
  llvm::Value* const old = LoadElement(inst.type, address);
  llvm::Value* const operand = Get(function_.operand(inst, 2));
  Set(Function::result_of(inst), old);
  if (inst.op == Op::AtomicRmw) {
    const auto kind = static_cast<ir::AtomicKind>(function_.word(inst, 0));
    return StoreElement(inst.type, address, ops_.Combine(kind, inst.type, old, operand));
  }
  llvm::Value* const is_equal = builder_.CreateICmpEQ(old, operand);
  StoreElement(inst.type, address,
               builder_.CreateSelect(is_equal, Get(function_.operand(inst, 3)), old));
}

void FunctionEmitter::EmitAlloc(const Inst& inst) {
  const ValueId result = Function::result_of(inst);
  llvm::Value* const length = Get(function_.operand(inst, 0));
  llvm::Value* const arguments[] = {run_, length, builder_.getInt64(ir::BytesOf(inst.type))};
  llvm::Value* const buffer = CallHelper(exec::NativeHelper::Alloc, builder_.getPtrTy(), arguments);
  TrapIf(builder_.CreateIsNull(buffer), ir::Trap::Memory, inst.op);
  Set(result, buffer);
  lengths_[result.index] = length;
}

void FunctionEmitter::EmitRead(const Inst& inst) {
  const uint32_t count = ir::WordsOf(inst.type);
  const auto stream = inst.op == Op::Input ? exec::NativeStream::Input : exec::NativeStream::Hints;
  llvm::Value* const words = StackWords(0, count);
  llvm::Value* const arguments[] = {run_, builder_.getInt32(static_cast<uint32_t>(stream)),
                                    builder_.getInt32(exec::StreamCode(inst.type)), words,
                                    builder_.getInt64(count)};
  PropagateIf(CallHelper(exec::NativeHelper::Read, builder_.getInt32Ty(), arguments), inst.op);
  SetResult(inst, FromWords(inst.type, words));
}

void FunctionEmitter::EmitOutput(const Inst& inst) {
  const uint32_t count = ir::WordsOf(inst.type);
  llvm::Value* const words = StackWords(0, count);
  ToWords(inst.type, Get(function_.operand(inst, 0)), words);
  llvm::Value* const arguments[] = {run_, builder_.getInt32(exec::StreamCode(inst.type)), words,
                                    builder_.getInt64(count)};
  PropagateIf(CallHelper(exec::NativeHelper::Output, builder_.getInt32Ty(), arguments), inst.op);
}

}  // namespace frazil::targets::native
