// Buffers, tables, scratch, atomics and streams. Every access is compared with the length unless
// the index is the counter of a loop from 0 (or more) to that buffer's length.
#include <bit>

#include "base/check.h"
#include "targets/wasm/emit/function_emitter.h"
#include "targets/wasm/run/streams.h"

namespace frazil::targets::wasm {

using Ir = ir::Op;
using ir::Function;
using ir::Scalar;

void FunctionEmitter::EmitMemory(const ir::Inst& inst) {
  switch (inst.op) {
    case Ir::Lookup: return EmitLookup(inst);
    case Ir::Load: return EmitLoad(inst);
    case Ir::Store: return EmitStore(inst);
    case Ir::Alloc: return EmitAlloc(inst);
    case Ir::AtomicRmw:
    case Ir::AtomicCas: return EmitAtomic(inst);
    case Ir::Output: return EmitOutput(inst);
    default: return EmitInput(inst);
  }
}

bool FunctionEmitter::IsInBounds(const ir::Inst& inst) const {
  const ir::Inst* loop = plan_.LoopOf(operand(inst, 1));
  if (loop == nullptr || plan_.ranges().of(operand(inst, 1)).lo < 0) return false;
  ir::ValueId bound = operand(*loop, 1);
  if (!plan_.has_definition(bound)) return false;
  const ir::Inst& made = plan_.definition(bound);
  return made.op == Ir::Length && operand(made, 0) == operand(inst, 0);
}

void FunctionEmitter::CheckIndex(const ir::Inst& inst, uint32_t buffer, const Held& index) {
  if (IsInBounds(inst)) return;
  // Below 0 in any case, as where a tensor does not fit: a test would leave code behind it that never runs.
  if (plan_.ranges().of(operand(inst, 1)).hi < 0)
    return Trap(TrapCode(ir::Trap::OutOfBounds, inst.trap_op()));
  PushHeld(index);
  code_.Get(buffer + 1);
  Op(Opcode::I64GeU);
  TrapIf(ir::Trap::OutOfBounds, inst.trap_op());
}

// The offset of an element whose index is a small constant; its address is then the buffer's own.
std::optional<uint32_t> FunctionEmitter::ConstantOffset(const Held& index, ir::Type element) const {
  std::optional<int64_t> constant = ConstantOf(index.value);
  constexpr int64_t Most = 1 << 20;
  if (!constant || *constant < 0 || *constant > Most) return std::nullopt;
  return static_cast<uint32_t>(*constant) * ir::BytesOf(element);
}

void FunctionEmitter::PushElementAddress(uint32_t buffer, const Held& index, ir::Type element) {
  code_.Get(buffer);
  PushElementOffset(index, element);
  Op(Opcode::I32Add);
}

void FunctionEmitter::PushElementOffset(const Held& index, ir::Type element) {
  uint32_t size = ir::BytesOf(element);
  PushHeld(index);
  Op(Opcode::I32WrapI64);
  if (std::has_single_bit(size)) {
    if (size > 1) {
      code_.I32(std::countr_zero(size));
      Op(Opcode::I32Shl);
    }
  } else {
    code_.I32(static_cast<int32_t>(size));
    Op(Opcode::I32Mul);
  }
}

void FunctionEmitter::LoadOne(ir::Type element, uint32_t offset) {
  switch (element.scalar) {
    case Scalar::I8: return code_.Memory(Opcode::I32Load8S, 0, offset);
    case Scalar::U8:
    case Scalar::Bool: return code_.Memory(Opcode::I32Load8U, 0, offset);
    case Scalar::I16: return code_.Memory(Opcode::I32Load16S, 1, offset);
    case Scalar::U16:
    case Scalar::F16:
    case Scalar::BF16: return code_.Memory(Opcode::I32Load16U, 1, offset);
    case Scalar::I32:
    case Scalar::U32: return code_.Memory(Opcode::I32Load, 2, offset);
    case Scalar::F32: return code_.Memory(Opcode::F32Load, 2, offset);
    case Scalar::F64: return code_.Memory(Opcode::F64Load, 3, offset);
    default: return code_.Memory(Opcode::I64Load, 3, offset);
  }
}

void FunctionEmitter::StoreOne(ir::Type element, uint32_t offset) {
  switch (ir::BytesOf(element)) {
    case 1: return code_.Memory(Opcode::I32Store8, 0, offset);
    case 2: return code_.Memory(Opcode::I32Store16, 1, offset);
    case 4:
      return code_.Memory(element.scalar == Scalar::F32 ? Opcode::F32Store : Opcode::I32Store, 2,
                          offset);
    default:
      return code_.Memory(element.scalar == Scalar::F64 ? Opcode::F64Store : Opcode::I64Store, 3,
                          offset);
  }
}

// All words of an element whose address is in a local.
void FunctionEmitter::LoadWords(ir::Type element, uint32_t address_local, uint32_t offset) {
  for (uint32_t i = 0; i < WordCount(element); ++i) {
    code_.Get(address_local);
    LoadOne(element, offset + 8 * i);
  }
}

void FunctionEmitter::EmitLoad(const ir::Inst& inst) {
  ir::Type element = inst.type;
  uint32_t buffer = plan_.place(operand(inst, 0)).at;
  Held index = Hold(operand(inst, 1));
  CheckIndex(inst, buffer, index);
  std::optional<uint32_t> offset = ConstantOffset(index, element);
  if (offset && !IsBig(element)) return LoadWords(element, buffer, *offset);
  if (IsBig(element)) PushResultAddress(inst);
  PushElementAddress(buffer, index, element);
  if (IsBig(element)) {
    code_.I32(8 * element.limbs);
    return code_.MemoryCopy();
  }
  if (WordCount(element) == 1) return LoadOne(element, 0);
  LoadWords(element, HoldTop(ValType::I32), 0);
}

void FunctionEmitter::EmitStore(const ir::Inst& inst) {
  ir::Type element = inst.type;
  uint32_t buffer = plan_.place(operand(inst, 0)).at;
  Held index = Hold(operand(inst, 1));
  ir::ValueId value = operand(inst, 2);
  // A value that can trap does so before the index is looked at.
  std::optional<Held> held;
  if (!IsBig(element) && (WordCount(element) > 1 || plan_.is_ordered(value))) held = Hold(value);
  CheckIndex(inst, buffer, index);
  std::optional<uint32_t> offset = ConstantOffset(index, element);
  if (offset && WordCount(element) == 1 && !IsBig(element)) {
    code_.Get(buffer);
    held ? PushHeld(*held) : Push(value);
    return StoreOne(element, *offset);
  }
  PushElementAddress(buffer, index, element);
  if (IsBig(element)) {
    PushAddress(value);
    code_.I32(8 * element.limbs);
    return code_.MemoryCopy();
  }
  if (WordCount(element) == 1) {
    held ? PushHeld(*held) : Push(value);
    return StoreOne(element, 0);
  }
  uint32_t address = HoldTop(ValType::I32);
  for (uint32_t i = 0; i < WordCount(element); ++i) {
    code_.Get(address);
    PushHeld(*held, i);
    StoreOne(element, 8 * i);
  }
}

void FunctionEmitter::EmitLookup(const ir::Inst& inst) {
  ir::Type element = inst.type;
  size_t table = static_cast<size_t>(function_.word(inst, 0));
  uint32_t base = layout_.table_address[table];
  Held index = Hold(operand(inst, 0));
  if (!plan_.ranges().cannot_trap(inst)) {
    PushHeld(index);
    code_.I64(static_cast<int64_t>(program_.data[table].length()));
    Op(Opcode::I64GeU);
    TrapIf(ir::Trap::OutOfBounds, inst.trap_op());
  }
  if (IsBig(element)) {
    PushResultAddress(inst);
    PushElementOffset(index, element);
    code_.I32(static_cast<int32_t>(base));
    Op(Opcode::I32Add);
    code_.I32(8 * element.limbs);
    return code_.MemoryCopy();
  }
  PushElementOffset(index, element);
  if (WordCount(element) == 1) return LoadOne(element, base);
  LoadWords(element, HoldTop(ValType::I32), base);
}

void FunctionEmitter::EmitAlloc(const ir::Inst& inst) {
  uint32_t buffer = plan_.place(Function::result_of(inst)).at;
  Held length = Hold(operand(inst, 0));
  PushHeld(length);
  code_.I32(static_cast<int32_t>(ir::BytesOf(inst.type)));
  Call(Helper::Allocate);
  uint32_t address = HoldTop(ValType::I32);
  code_.Get(address);
  Op(Opcode::I32Eqz);
  TrapIf(ir::Trap::Memory, inst.trap_op());
  PushHeld(length);
  code_.Set(buffer + 1);
  code_.Get(address);
  code_.Set(buffer);
  written_[buffer] = written_[buffer + 1] = true;
}

void FunctionEmitter::Combine(ir::AtomicKind kind, ir::Type element, uint32_t old,
                              const Held& value) {
  ValType word = WordType(element);
  bool is_float = word == ValType::F32 || word == ValType::F64;
  IntKind ints = IntKindOf(element);
  if (kind == ir::AtomicKind::Exchange) return PushHeld(value);
  code_.Get(old);
  PushHeld(value);
  bool less = kind == ir::AtomicKind::Min;
  if (is_float) {
    bool is_double = word == ValType::F64;
    if (kind == ir::AtomicKind::Add)
      Op(is_double ? Opcode::F64Add : Opcode::F32Add);
    else
      Call(less ? (is_double ? Helper::Min64 : Helper::Min32)
                : (is_double ? Helper::Max64 : Helper::Max32));
    return Canonicalize(word);
  }
  switch (kind) {
    case ir::AtomicKind::Add: return IntOp(ints, Opcode::I32Add, Opcode::I64Add);
    case ir::AtomicKind::And: return IntOp(ints, Opcode::I32And, Opcode::I64And);
    case ir::AtomicKind::Or: return IntOp(ints, Opcode::I32Or, Opcode::I64Or);
    case ir::AtomicKind::Xor: return IntOp(ints, Opcode::I32Xor, Opcode::I64Xor);
    default: break;
  }
  code_.Get(old);
  PushHeld(value);
  SelectLess(ints, less);
}

// One thread: read, combine, write. The old element is left on the stack.
void FunctionEmitter::EmitAtomic(const ir::Inst& inst) {
  ir::Type element = inst.type;
  uint32_t buffer = plan_.place(operand(inst, 0)).at;
  Held index = Hold(operand(inst, 1));
  Held value = Hold(operand(inst, 2));
  std::optional<Held> replacement;
  if (inst.op == Ir::AtomicCas) replacement = Hold(operand(inst, 3));
  CheckIndex(inst, buffer, index);
  PushElementAddress(buffer, index, element);
  uint32_t address = HoldTop(ValType::I32);
  code_.Get(address);
  LoadOne(element, 0);
  uint32_t old = HoldTop(WordType(element));
  code_.Get(address);
  if (replacement) {
    IntKind kind = IntKindOf(element);
    PushHeld(*replacement);
    code_.Get(old);
    code_.Get(old);
    PushHeld(value);
    IntOp(kind, Opcode::I32Eq, Opcode::I64Eq);
    Op(Opcode::Select);
  } else {
    Combine(static_cast<ir::AtomicKind>(function_.word(inst, 0)), element, old, value);
  }
  StoreOne(element, 0);
  code_.Get(old);
}

// --- streams (layout: streams.h) -----------------------------------------------------------------

void FunctionEmitter::EmitInput(const ir::Inst& inst) {
  bool is_hint = inst.op == Ir::Hint;
  uint32_t cursor = module_.Use(is_hint ? GlobalVar::Hint : GlobalVar::Input);
  uint32_t end = module_.Use(is_hint ? GlobalVar::HintEnd : GlobalVar::InputEnd);
  module_.writer().NeedMemory(0);
  code_.GlobalGet(cursor);
  uint32_t at = HoldTop(ValType::I32);
  code_.Get(at);
  code_.GlobalGet(end);
  Op(Opcode::I32Eq);
  TrapIf(ir::Trap::OutOfBounds, inst.trap_op());
  code_.Get(at);
  code_.Memory(Opcode::I64Load, 3, 0);
  code_.I64(StreamTag(inst.type));
  Op(Opcode::I64Ne);
  code_.Begin(Opcode::If);
  Trap(WrongStreamType | static_cast<int32_t>(inst.op) << 8);
  code_.End();
  code_.Get(at);
  code_.I32(static_cast<int32_t>(StreamBytes(inst.type)));
  Op(Opcode::I32Add);
  code_.GlobalSet(cursor);
  if (IsBig(inst.type)) {
    PushResultAddress(inst);
    code_.Get(at);
    code_.I32(8);
    Op(Opcode::I32Add);
    code_.I32(8 * inst.type.limbs);
    return code_.MemoryCopy();
  }
  // Words are extended to 64 bits, so a smaller type is in their first bytes.
  ir::Type word = inst.type;
  if (WordType(word) == ValType::I32) word = ir::types::I32;
  LoadWords(word, at, 8);
}

void FunctionEmitter::EmitOutput(const ir::Inst& inst) {
  ir::ValueId value = operand(inst, 0);
  ir::Type value_type = inst.type;
  module_.Use(GlobalVar::Output);
  std::optional<Held> held;
  if (!IsBig(value_type)) held = Hold(value);
  code_.I32(static_cast<int32_t>(StreamBytes(value_type)));
  Call(Helper::OutputRoom);
  uint32_t at = HoldTop(ValType::I32);
  code_.Get(at);
  Op(Opcode::I32Eqz);
  TrapIf(ir::Trap::Memory, inst.trap_op());
  code_.Get(at);
  code_.I64(StreamTag(value_type));
  code_.Memory(Opcode::I64Store, 3, 0);
  if (IsBig(value_type)) {
    code_.Get(at);
    code_.I32(8);
    Op(Opcode::I32Add);
    PushAddress(value);
    code_.I32(8 * value_type.limbs);
    return code_.MemoryCopy();
  }
  for (uint32_t i = 0; i < WordCount(value_type); ++i) {
    code_.Get(at);
    PushHeld(*held, i);
    ValType word = WordType(value_type);
    if (word == ValType::F32) Op(Opcode::I32ReinterpretF32);
    if (word == ValType::I32 || word == ValType::F32) {
      bool is_signed = IsInteger(value_type) && IntKindOf(value_type).is_signed;
      Op(is_signed ? Opcode::I64ExtendI32S : Opcode::I64ExtendI32U);
    }
    code_.Memory(word == ValType::F64 ? Opcode::F64Store : Opcode::I64Store, 3, 8 + 8 * i);
  }
}

}  // namespace frazil::targets::wasm
