// Structure: regions become blocks directly. A counted loop is tested before entry and at its
// bottom; what it carries stays in locals that the plan chose so that most yields move nothing.
#include <algorithm>

#include "base/check.h"
#include "targets/wasm/emit/function_emitter.h"

namespace frazil::targets::wasm {

using Ir = ir::Op;
using ir::Function;
using ir::ValueId;

void FunctionEmitter::EmitControl(const ir::Inst& inst) {
  switch (inst.op) {
    case Ir::Assert:
      Push(operand(inst, 0));
      Op(Opcode::I32Eqz);
      return TrapIf(ir::Trap::Assert, inst.trap_op());
    case Ir::Unreachable: return Trap(TrapCode(ir::Trap::Unreachable, inst.op));
    case Ir::If: return EmitIf(inst);
    case Ir::Switch: return EmitSwitch(inst);
    case Ir::For:
    case Ir::Parallel: EmitFor(inst); return CanonicalizeCarried(inst);
    case Ir::While: EmitWhile(inst); return CanonicalizeCarried(inst);
    case Ir::Call: return EmitCall(inst);
    case Ir::Return: return EmitReturn(inst);
    default: CHECK(!"an op of a lowered program");
  }
}

// Moves values to consecutive places, as if at once: all are read before one is set.
void FunctionEmitter::SetAll(std::span<const ValueId> from, ir::Range to) {
  std::vector<uint32_t> scalars, bigs;
  for (uint32_t i = 0; i < to.count; ++i) {
    ValueId target(to.begin + i);
    if (plan_.place(target) == plan_.place(from[i])) continue;
    if (IsBig(type(target))) {
      bigs.push_back(i);
      continue;
    }
    // Locals start as zero: the first value of one outside of any loop need not be set to it.
    uint32_t local = plan_.place(target).at;
    if (IsZero(from[i]) && loop_nesting_ == 0 && !written_[local]) {
      written_[local] = true;
      continue;
    }
    Push(from[i]);
    scalars.push_back(i);
  }
  bool crosses = false;
  for (uint32_t i : bigs)
    for (uint32_t j : bigs)
      crosses |= i != j && plan_.place(from[i]) == plan_.place(ValueId(to.begin + j));
  if (!crosses) {
    for (uint32_t i : bigs) CopyBig(ValueId(to.begin + i), from[i]);
  } else {
    uint32_t spare = frame_bytes_;
    for (uint32_t i : bigs) {
      PushSlot(frame_bytes_);
      PushAddress(from[i]);
      code_.I32(8 * type(from[i]).limbs);
      code_.MemoryCopy();
      frame_bytes_ += 8u * type(from[i]).limbs;
    }
    for (uint32_t i : bigs) {
      PushAddress(ValueId(to.begin + i));
      PushSlot(spare);
      code_.I32(8 * type(from[i]).limbs);
      code_.MemoryCopy();
      spare += 8u * type(from[i]).limbs;
    }
  }
  for (size_t i = scalars.size(); i-- > 0;) Store(ValueId(to.begin + scalars[i]));
}

FunctionEmitter::ScratchMark FunctionEmitter::BeginScratch(ir::RegionId region) {
  ScratchMark mark;
  for (ir::InstId id : function_.region(region).insts)
    mark.used |= function_.inst(id).op == Ir::Alloc;
  if (!mark.used) return mark;
  mark.heap = Temporary(ValType::I32);
  mark.scratch = Temporary(ValType::I64);
  code_.GlobalGet(module_.Use(GlobalVar::HeapEnd));
  code_.Set(mark.heap);
  code_.GlobalGet(module_.Use(GlobalVar::ScratchLeft));
  code_.Set(mark.scratch);
  return mark;
}

void FunctionEmitter::EndScratch(const ScratchMark& mark) {
  if (!mark.used) return;
  code_.Get(mark.heap);
  code_.GlobalSet(module_.Use(GlobalVar::HeapEnd));
  code_.Get(mark.scratch);
  code_.GlobalSet(module_.Use(GlobalVar::ScratchLeft));
}

void FunctionEmitter::EmitIf(const ir::Inst& inst) {
  // Decided already: the other way would be code that never runs.
  const Interval& condition = plan_.ranges().of(operand(inst, 0));
  const bool is_decided = condition.lo == condition.hi;
  Push(operand(inst, 0));
  // What the condition is made of may still store or trap.
  if (is_decided) Op(Opcode::Drop);
  bool as_expression = false;
  if (inst.results.count == 1) {
    ir::Type result = type(Function::result_of(inst));
    as_expression = !IsBig(result) && WordCount(result) == 1;
  }
  std::optional<ValType> block_type;
  if (as_expression) block_type = WordType(type(Function::result_of(inst)));
  if (!is_decided) code_.Begin(Opcode::If, block_type);
  for (uint32_t i = 0; i < 2; ++i) {
    if (is_decided && condition.lo == i) continue;
    ir::RegionId region = Function::region_of(inst, i);
    const ir::Inst& yield = function_.inst(function_.region(region).insts.back());
    if (i == 1 && !is_decided) code_.Else();
    ScratchMark mark = BeginScratch(region);
    EmitRegion(region);
    if (as_expression)
      Push(operand(yield, 0));
    else
      SetAll(function_.operands_of(yield), inst.results);
    EndScratch(mark);
  }
  if (!is_decided) code_.End();
}

// Jumps to the block of the equal case, else to the last.
void FunctionEmitter::EmitSwitchJumps(const ir::Inst& inst, std::span<const Code::Label> labels) {
  ir::Type selector_type = type(operand(inst, 0));
  IntKind kind = IntKindOf(selector_type);
  Interval possible = TypeInterval(selector_type);
  // Cases that the selector's type cannot be equal to are left out.
  std::vector<std::pair<int64_t, uint32_t>> cases;
  for (uint32_t i = 0; i < inst.attributes.count; ++i) {
    int64_t value = function_.word(inst, i);
    if (kind.is64() || possible.Contains(value)) cases.emplace_back(value, i);
  }
  Code::Label otherwise = labels.back();
  if (cases.empty()) {
    Push(operand(inst, 0));
    Op(Opcode::Drop);
    return code_.Br(otherwise);
  }
  std::sort(cases.begin(), cases.end());
  int64_t least = cases.front().first;
  uint64_t span = static_cast<uint64_t>(cases.back().first) - static_cast<uint64_t>(least);
  if (span <= 4 * cases.size() + 8) {
    std::vector<Code::Label> table(span + 1, otherwise);
    for (auto [value, i] : cases)
      table[static_cast<uint64_t>(value) - static_cast<uint64_t>(least)] = labels[i];
    Push(operand(inst, 0));
    if (least != 0) {
      PushInt(kind, least);
      IntOp(kind, Opcode::I32Sub, Opcode::I64Sub);
    }
    if (kind.is64()) {
      uint32_t index = HoldTop(ValType::I64);
      code_.Get(index);
      code_.I64(static_cast<int64_t>(span));
      Op(Opcode::I64GtU);
      code_.BrIf(otherwise);
      code_.Get(index);
      Op(Opcode::I32WrapI64);
    }
    return code_.BrTable(table, otherwise);
  }
  Held selector = Hold(operand(inst, 0));
  for (auto [value, i] : cases) {
    PushHeld(selector);
    PushInt(kind, value);
    IntOp(kind, Opcode::I32Eq, Opcode::I64Eq);
    code_.BrIf(labels[i]);
  }
  code_.Br(otherwise);
}

void FunctionEmitter::EmitSwitch(const ir::Inst& inst) {
  uint32_t count = inst.regions.count;
  std::vector<Code::Label> labels(count);
  Code::Label exit = code_.Begin(Opcode::Block);
  for (uint32_t i = count; i-- > 0;) labels[i] = code_.Begin(Opcode::Block);
  EmitSwitchJumps(inst, labels);
  for (uint32_t i = 0; i < count; ++i) {
    code_.End();
    ir::RegionId region = Function::region_of(inst, i);
    const ir::Inst& yield = function_.inst(function_.region(region).insts.back());
    ScratchMark mark = BeginScratch(region);
    EmitRegion(region);
    SetAll(function_.operands_of(yield), inst.results);
    EndScratch(mark);
    if (i + 1 < count) code_.Br(exit);
  }
  code_.End();
}

// --- loops ---------------------------------------------------------------------------------------

void FunctionEmitter::EmitFor(const ir::Inst& inst) {
  ValueId lo = operand(inst, 0), hi = operand(inst, 1);
  IntKind kind = IntKindOf(type(lo));
  uint64_t step = inst.op == Ir::For ? static_cast<uint64_t>(function_.word(inst, 0)) : 1;
  const ir::Region& body = function_.region(Function::region_of(inst, 0));
  uint32_t counter = plan_.place(Function::param_of(body, 0)).at;
  bool starts_as_zero = IsZero(lo) && loop_nesting_ == 0 && !written_[counter];
  written_[counter] = true;
  if (!starts_as_zero) Push(lo);
  Held bound = Hold(hi);
  if (!starts_as_zero) code_.Set(counter);
  SetAll(function_.operands_of(inst).subspan(2), {body.params.begin + 1, body.params.count - 1});

  const Interval& from = plan_.ranges().of(lo);
  const Interval& to = plan_.ranges().of(hi);
  if (from.lo >= to.hi) return;
  bool is_guarded = from.hi >= to.lo;
  if (is_guarded) {
    code_.Get(counter);
    PushHeld(bound);
    kind.is_signed ? IntOp(kind, Opcode::I32LtS, Opcode::I64LtS)
                   : IntOp(kind, Opcode::I32LtU, Opcode::I64LtU);
    code_.Begin(Opcode::If);
  }
  if (layout_.metered && !function_.is_prelude) TakeTripFuel(inst, kind, bound, step);
  bool is_outermost = inst.op == Ir::Parallel && parallel_nesting_ == 0;
  if (inst.op == Ir::Parallel) ++parallel_nesting_;
  if (is_outermost && facts_.under_parallel) {
    saved_parallel_ = Temporary(ValType::I64);
    code_.GlobalGet(module_.Use(GlobalVar::Parallel));
    code_.Set(saved_parallel_);
  } else if (is_outermost) {
    parallel_ = counter;
  }
  ++loop_nesting_;
  EmitLoopBody(inst, kind, bound, step);
  --loop_nesting_;
  if (inst.op == Ir::Parallel) --parallel_nesting_;
  if (is_outermost) {
    parallel_.reset();
    if (module_.uses(GlobalVar::Parallel)) {
      facts_.under_parallel ? code_.Get(saved_parallel_) : code_.I64(NoParallel);
      code_.GlobalSet(module_.Use(GlobalVar::Parallel));
    }
  }
  if (is_guarded) code_.End();
}

// Callees find the iteration in a global, where they can trap; the function itself has its own
// counter.
void FunctionEmitter::EnterIteration(const ir::Inst& inst) {
  if (inst.op != Ir::Parallel || parallel_nesting_ != 1) return;
  const ir::Region& body = function_.region(Function::region_of(inst, 0));
  uint32_t counter = plan_.place(Function::param_of(body, 0)).at;
  if (facts_.under_parallel) {
    // Without a branch: a function that is called inside of a parallel only would never take it.
    code_.Get(counter);
    code_.Get(saved_parallel_);
    code_.Get(saved_parallel_);
    code_.I64(NoParallel);
    Op(Opcode::I64Eq);
    Op(Opcode::Select);
    return code_.GlobalSet(module_.Use(GlobalVar::Parallel));
  }
  bool callee_traps = false;
  std::vector<ir::RegionId> open = {Function::region_of(inst, 0)};
  while (!open.empty()) {
    ir::RegionId region = open.back();
    open.pop_back();
    for (ir::InstId id : function_.region(region).insts) {
      const ir::Inst& inner = function_.inst(id);
      if (inner.op == Ir::Call)
        callee_traps |= layout_.facts[static_cast<size_t>(function_.word(inner, 0))].can_trap;
      for (uint32_t i = 0; i < inner.regions.count; ++i)
        open.push_back(Function::region_of(inner, i));
    }
  }
  if (!callee_traps) return;
  code_.Get(counter);
  code_.GlobalSet(module_.Use(GlobalVar::Parallel));
}

void FunctionEmitter::EmitLoopBody(const ir::Inst& inst, IntKind kind, const Held& bound,
                                   uint64_t step) {
  ir::RegionId region = Function::region_of(inst, 0);
  const ir::Region& body = function_.region(region);
  const ir::Inst& yield = function_.inst(body.insts.back());
  uint32_t counter = plan_.place(Function::param_of(body, 0)).at;
  Code::Label again = code_.Begin(Opcode::Loop);
  EnterIteration(inst);
  ScratchMark mark = BeginScratch(region);
  EmitRegion(region);
  SetAll(function_.operands_of(yield), {body.params.begin + 1, body.params.count - 1});
  EndScratch(mark);
  auto advance = [&] {
    code_.Get(counter);
    PushInt(kind, static_cast<int64_t>(step));
    IntOp(kind, Opcode::I32Add, Opcode::I64Add);
    code_.Set(counter);
  };
  Interval whole = TypeInterval(type(bound.value));
  Int128 last = plan_.ranges().of(bound.value).hi - 1 + Int128{step};
  if (step == 1 || last <= whole.hi) {
    advance();
    code_.Get(counter);
    PushHeld(bound);
    kind.is_signed ? IntOp(kind, Opcode::I32LtS, Opcode::I64LtS)
                   : IntOp(kind, Opcode::I32LtU, Opcode::I64LtU);
    code_.BrIf(again);
  } else if (kind.is64() || step >> kind.bits == 0) {
    // The next value might not fit: what is left to the bound says whether there is one.
    PushHeld(bound);
    code_.Get(counter);
    IntOp(kind, Opcode::I32Sub, Opcode::I64Sub);
    PushInt(kind, static_cast<int64_t>(step));
    IntOp(kind, Opcode::I32GtU, Opcode::I64GtU);
    code_.Begin(Opcode::If);
    advance();
    code_.Br(again);
    code_.End();
  }
  code_.End();
}

// What the loop carried as any NaN leaves it as the one NaN, if its bits are going to be seen.
void FunctionEmitter::CanonicalizeCarried(const ir::Inst& loop) {
  for (uint32_t k = 0; k < loop.results.count; ++k) {
    const ValueId result = Function::result_of(loop, k);
    if (!plan_.canonicalizes(result)) continue;
    Push(result);
    Canonicalize(WordType(type(result)));
    Store(result);
  }
}

// (bound - counter - 1) / step + 1 in 64 unsigned bits, on entry.
void FunctionEmitter::TakeTripFuel(const ir::Inst& inst, IntKind kind, const Held& bound,
                                   uint64_t step) {
  const ir::Region& body = function_.region(Function::region_of(inst, 0));
  uint32_t fuel = module_.Use(GlobalVar::Fuel);
  PushHeld(bound);
  CastIntToInt(kind, {64, kind.is_signed});
  code_.Get(plan_.place(Function::param_of(body, 0)).at);
  CastIntToInt(kind, {64, kind.is_signed});
  Op(Opcode::I64Sub);
  if (step != 1) {
    code_.I64(1);
    Op(Opcode::I64Sub);
    code_.I64(static_cast<int64_t>(step));
    Op(Opcode::I64DivU);
    code_.I64(1);
    Op(Opcode::I64Add);
  }
  uint32_t trips = HoldTop(ValType::I64);
  code_.GlobalGet(fuel);
  code_.Get(trips);
  Op(Opcode::I64LtU);
  TrapIf(ir::Trap::Fuel, inst.op);
  code_.GlobalGet(fuel);
  code_.Get(trips);
  Op(Opcode::I64Sub);
  code_.GlobalSet(fuel);
}

void FunctionEmitter::TakeOneFuel(ir::Op op) {
  uint32_t fuel = module_.Use(GlobalVar::Fuel);
  code_.GlobalGet(fuel);
  Op(Opcode::I64Eqz);
  TrapIf(ir::Trap::Fuel, op);
  code_.GlobalGet(fuel);
  code_.I64(1);
  Op(Opcode::I64Sub);
  code_.GlobalSet(fuel);
}

void FunctionEmitter::EmitWhile(const ir::Inst& inst) {
  ir::RegionId test_region = Function::region_of(inst, 0),
               body_region = Function::region_of(inst, 1);
  const ir::Region& test = function_.region(test_region);
  const ir::Inst& condition = function_.inst(test.insts.back());
  const ir::Inst& yield = function_.inst(function_.region(body_region).insts.back());
  SetAll(function_.operands_of(inst), test.params);
  ++loop_nesting_;
  Code::Label again = code_.Begin(Opcode::Loop);
  // What the test allocates is there for the body too, and ends with the iteration.
  ScratchMark test_mark = BeginScratch(test_region);
  EmitRegion(test_region);
  Push(operand(condition, 0));
  code_.Begin(Opcode::If);
  ScratchMark body_mark = BeginScratch(body_region);
  EmitRegion(body_region);
  SetAll(function_.operands_of(yield), test.params);
  EndScratch(body_mark);
  EndScratch(test_mark);
  if (layout_.metered && !function_.is_prelude) TakeOneFuel(inst.op);
  code_.Br(again);
  code_.End();
  EndScratch(test_mark);
  code_.End();
  --loop_nesting_;
}

// --- calls ---------------------------------------------------------------------------------------

void FunctionEmitter::EmitCall(const ir::Inst& inst) {
  for (ValueId argument : function_.operands_of(inst)) Push(argument);
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    ValueId result = Function::result_of(inst, i);
    if (IsBig(type(result))) PushAddress(result);
  }
  code_.Call(layout_.function_index[static_cast<size_t>(function_.word(inst, 0))]);
  if (inst.results.count == 1) return;
  for (uint32_t i = inst.results.count; i-- > 0;) {
    ValueId result = Function::result_of(inst, i);
    if (!IsBig(type(result))) Store(result);
  }
}

void FunctionEmitter::EmitReturn(const ir::Inst& inst) {
  for (ValueId value : function_.operands_of(inst))
    if (!IsBig(type(value))) Push(value);
  size_t pointer = 0;
  for (ValueId value : function_.operands_of(inst)) {
    if (!IsBig(type(value))) continue;
    code_.Get(plan_.result_pointers()[pointer++]);
    PushAddress(value);
    code_.I32(8 * type(value).limbs);
    code_.MemoryCopy();
  }
  Epilogue();
}

}  // namespace frazil::targets::wasm
