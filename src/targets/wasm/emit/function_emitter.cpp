// Values and the frame of a function: how operands get on the stack, how results leave it, traps,
// temporaries.
#include "targets/wasm/emit/function_emitter.h"

#include "base/check.h"
#include "targets/wasm/module/bytes.h"

namespace frazil::targets::wasm {

using ir::Function;
using ir::ValueId;

uint32_t ConstantPool::Add(std::span<const uint64_t> words) {
  std::string constant;
  for (uint64_t word : words) AppendFixed(constant, word, 8);
  auto [entry, is_new] = known_.try_emplace(constant, end());
  if (is_new) bytes_ += constant;
  return entry->second;
}

int32_t TrapCode(ir::Trap kind, ir::Op op) {
  return (1 + static_cast<int32_t>(kind)) | (static_cast<int32_t>(op) << 8);
}

FuncType FunctionEmitter::TypeOf(const ir::Function& function) {
  FuncType type;
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    ir::Type param = function.param_type(i);
    if (param.is_buffer())
      type.params.insert(type.params.end(), {ValType::I32, ValType::I64});
    else if (IsBig(param))
      type.params.push_back(ValType::I32);
    else
      type.params.insert(type.params.end(), WordCount(param), WordType(param));
  }
  for (ir::Type result : function.results) {
    if (IsBig(result))
      type.params.push_back(ValType::I32);
    else
      type.results.insert(type.results.end(), WordCount(result), WordType(result));
  }
  return type;
}

FunctionEmitter::FunctionEmitter(ModuleContext& module, const ModuleLayout& layout,
                                 ConstantPool& constants, const ir::Program& program, ir::FuncId id)
    : module_(module),
      layout_(layout),
      constants_(constants),
      program_(program),
      function_(program.functions[id.index]),
      facts_(layout.facts[id.index]),
      plan_(program, function_),
      code_(plan_.params()),
      frame_bytes_(plan_.frame_bytes()),
      free_temporaries_(32) {
  for (ValType type : plan_.locals()) code_.AddLocal(type);
  written_.assign(code_.local_count(), false);
  for (size_t i = 0; i < plan_.params().size(); ++i) written_[i] = true;
}

std::string FunctionEmitter::Emit() {
  body_scratch_ = BeginScratch(function_.body);
  EmitRegion(function_.body);
  // How large the frame is, and whether there is one, is known only now.
  std::string body = code_.TakeBytes();
  Prologue();
  code_.Append(body);
  return code_.Finish();
}

void FunctionEmitter::Prologue() {
  if (facts_.is_called && !function_.is_prelude) {
    if (layout_.metered) TakeOneFuel(ir::Op::Call);
    code_.GlobalGet(module_.Use(GlobalVar::DepthLeft));
    Op(Opcode::I64Eqz);
    TrapIf(ir::Trap::Depth, ir::Op::Call);
    code_.GlobalGet(module_.Use(GlobalVar::DepthLeft));
    code_.I64(1);
    Op(Opcode::I64Sub);
    code_.GlobalSet(module_.Use(GlobalVar::DepthLeft));
  }
  if (!frame_) return;
  code_.I64(frame_bytes_);
  Call(Helper::Reserve);
  code_.Set(*frame_);
  code_.Get(*frame_);
  Op(Opcode::I32Eqz);
  TrapIf(ir::Trap::Memory, ir::Op::Call);
}

void FunctionEmitter::Epilogue() {
  EndScratch(body_scratch_);
  if (frame_) {
    code_.Get(*frame_);
    code_.GlobalSet(module_.Use(GlobalVar::HeapEnd));
  }
  if (facts_.is_called && !function_.is_prelude) {
    code_.GlobalGet(module_.Use(GlobalVar::DepthLeft));
    code_.I64(1);
    Op(Opcode::I64Add);
    code_.GlobalSet(module_.Use(GlobalVar::DepthLeft));
  }
}

// --- values --------------------------------------------------------------------------------------

void FunctionEmitter::PushConstant(ir::Type type, std::span<const uint64_t> words, uint32_t first,
                                   uint32_t count) {
  for (uint64_t word : words.subspan(first, count)) {
    switch (WordType(type)) {
      case ValType::I32: code_.I32(static_cast<int32_t>(word)); break;
      case ValType::I64: code_.I64(static_cast<int64_t>(word)); break;
      case ValType::F32: code_.F32(static_cast<uint32_t>(word)); break;
      case ValType::F64: code_.F64(word); break;
    }
  }
}

void FunctionEmitter::Push(ValueId value) {
  const Place& place = plan_.place(value);
  ir::Type value_type = type(value);
  if (value_type.is_scalar() && IsBig(value_type)) return PushAddress(value);
  switch (place.where) {
    case Where::Inline: return EmitInst(plan_.definition(value));
    case Where::Remade: {
      const ir::Inst& made = plan_.definition(value);
      if (made.op == ir::Op::Length) return code_.Get(plan_.place(operand(made, 0)).at + 1);
      return PushConstant(value_type, function_.words_of(made), 0, WordCount(value_type));
    }
    case Where::Local: {
      uint32_t count = value_type.is_buffer() ? 2 : WordCount(value_type);
      for (uint32_t i = 0; i < count; ++i) code_.Get(place.at + i);
      return;
    }
    default: CHECK(!"a value that was planned"); return;
  }
}

void FunctionEmitter::PushWord(ValueId value, uint32_t word) {
  const Place& place = plan_.place(value);
  if (place.where == Where::Local) return code_.Get(place.at + word);
  CHECK(place.where == Where::Remade);
  const ir::Inst& made = plan_.definition(value);
  if (made.op == ir::Op::Length) return Push(value);
  PushConstant(type(value), function_.words_of(made), word, 1);
}

void FunctionEmitter::PushSlot(uint32_t offset) {
  if (!frame_) frame_ = code_.AddLocal(ValType::I32);
  code_.Get(*frame_);
  if (offset == 0) return;
  code_.I32(static_cast<int32_t>(offset));
  Op(Opcode::I32Add);
}

void FunctionEmitter::PushAddress(ValueId big) {
  const Place& place = plan_.place(big);
  switch (place.where) {
    case Where::Slot: return PushSlot(place.at);
    case Where::Pointer: return code_.Get(place.at);
    default:
      CHECK(place.where == Where::Remade);
      code_.I32(static_cast<int32_t>(constants_.Add(function_.words_of(plan_.definition(big)))));
  }
}

uint32_t FunctionEmitter::Temporary(ValType type, uint32_t count) {
  size_t kind = (static_cast<size_t>(ValType::I32) - static_cast<size_t>(type)) * 8 + count;
  std::vector<uint32_t>& free = free_temporaries_[kind];
  uint32_t local = 0;
  if (!free.empty()) {
    local = free.back();
    free.pop_back();
  } else {
    local = code_.AddLocal(type);
    for (uint32_t i = 1; i < count; ++i) code_.AddLocal(type);
  }
  taken_temporaries_.push_back({local, {type, count}});
  return local;
}

FunctionEmitter::Held FunctionEmitter::Hold(ValueId value) {
  if (plan_.place(value).where != Where::Inline) return {value};
  ir::Type value_type = type(value);
  uint32_t count = WordCount(value_type);
  Push(value);
  // Taken after the tree was written: its own temporaries are free only at the end of the root.
  uint32_t local = Temporary(WordType(value_type), count);
  for (uint32_t i = count; i-- > 0;) code_.Set(local + i);
  return {value, local};
}

void FunctionEmitter::PushHeld(const Held& held, uint32_t word) {
  if (held.local != UINT32_MAX) return code_.Get(held.local + word);
  PushWord(held.value, word);
}

uint32_t FunctionEmitter::HoldTop(ValType type) {
  uint32_t local = Temporary(type);
  code_.Set(local);
  return local;
}

std::optional<int64_t> FunctionEmitter::ConstantOf(ValueId value) const {
  if (!plan_.has_definition(value)) return std::nullopt;
  const ir::Inst& made = plan_.definition(value);
  if (made.op != ir::Op::Const || !IsInteger(type(value))) return std::nullopt;
  return function_.word(made, 0);
}

bool FunctionEmitter::IsZero(ValueId value) const {
  if (!plan_.has_definition(value) || WordCount(type(value)) != 1 || IsBig(type(value)))
    return false;
  const ir::Inst& made = plan_.definition(value);
  return made.op == ir::Op::Const && function_.word(made, 0) == 0;
}

void FunctionEmitter::Store(ValueId result) {
  const Place& place = plan_.place(result);
  uint32_t count = WordCount(type(result));
  for (uint32_t i = count; i-- > 0;) {
    if (place.where == Where::Nowhere) {
      Op(Opcode::Drop);
      continue;
    }
    CHECK(place.where == Where::Local);
    code_.Set(place.at + i);
    written_[place.at + i] = true;
  }
}

// --- instructions --------------------------------------------------------------------------------

void FunctionEmitter::EmitRegion(ir::RegionId region) {
  for (ir::InstId id : function_.region(region).insts) {
    const ir::Inst& inst = function_.inst(id);
    if (!plan_.is_live(inst) || inst.op == ir::Op::Const || inst.op == ir::Op::Length) continue;
    if (inst.op == ir::Op::Yield || inst.op == ir::Op::Condition) return;
    if (inst.results.count == 1 && plan_.place(Function::result_of(inst)).where == Where::Inline)
      continue;
    EmitRoot(inst);
  }
}

void FunctionEmitter::EmitRoot(const ir::Inst& inst) {
  size_t mark = taken_temporaries_.size();
  EmitInst(inst);
  // Structures, calls with several results, int<k> and buffers have stored what they made.
  bool on_stack = inst.results.count == 1 && (inst.regions.count == 0 || inst.op == ir::Op::If);
  if (on_stack) {
    ValueId result = Function::result_of(inst);
    ir::Type result_type = type(result);
    bool stored = !result_type.is_scalar() || IsBig(result_type) ||
                  (inst.op == ir::Op::If && WordCount(result_type) != 1);
    if (!stored) Store(result);
  }
  while (taken_temporaries_.size() > mark) {
    auto [local, kind] = taken_temporaries_.back();
    size_t index =
        (static_cast<size_t>(ValType::I32) - static_cast<size_t>(kind.first)) * 8 + kind.second;
    free_temporaries_[index].push_back(local);
    taken_temporaries_.pop_back();
  }
}

void FunctionEmitter::EmitInst(const ir::Inst& inst) {
  using ir::Op;
  switch (inst.op) {
    case Op::Lookup:
    case Op::Load:
    case Op::Store:
    case Op::Alloc:
    case Op::AtomicRmw:
    case Op::AtomicCas:
    FRAZIL_CASES(Stream) EmitMemory(inst); break;
    FRAZIL_CASES(Stop)
    FRAZIL_CASES(Structure) EmitControl(inst); break;
    case Op::Cast: EmitCast(inst); break;
    case Op::CastChecked: EmitCastChecked(inst); break;
    case Op::Bitcast: EmitBitcast(inst); break;
    case Op::Select: EmitSelect(inst); break;
    FRAZIL_CASES(Parts) EmitParts(inst); break;
    default:
      if (IsBig(inst.type))
        EmitBig(inst);
      else if (IsInteger(inst.type))
        EmitInteger(inst);
      else if (ir::IsFloat(inst.type.scalar))
        EmitFloat(inst);
      else if (inst.type.scalar == ir::Scalar::Field)
        EmitField(inst);
      else
        EmitXField(inst);
  }
  // Loops have done so themselves.
  if (inst.results.count == 1 && inst.regions.count == 0 &&
      plan_.canonicalizes(Function::result_of(inst)))
    Canonicalize(WordType(inst.type));
}

// --- traps ---------------------------------------------------------------------------------------

void FunctionEmitter::TrapIf(ir::Trap kind, ir::Op op) {
  code_.Begin(Opcode::If);
  Trap(TrapCode(kind, op));
  code_.End();
}

void FunctionEmitter::Trap(int32_t code) {
  module_.Use(GlobalVar::Trap);
  code_.I32(code);
  if (facts_.under_parallel) {
    code_.GlobalGet(module_.Use(GlobalVar::Parallel));
    Call(Helper::TrapAt);
  } else if (parallel_) {
    code_.Get(*parallel_);
    Call(Helper::TrapAt);
  } else {
    Call(Helper::Trap);
  }
  Op(Opcode::Unreachable);
}

}  // namespace frazil::targets::wasm
