// Atomics, scratch memory and streams: what the run of native code serves.
#include "exec/word_call.h"
#include "targets/native/function_emitter.h"

namespace frazil::targets::native {

using namespace ir::names;

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
  TrapIf(builder_.CreateIsNull(buffer), ir::Trap::Memory, inst.trap_op());
  Set(result, buffer);
  SetLength(result, length);
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
