// Instructions that trap or touch memory: a check, then the value. There is a check where MayTrap() says so and nowhere
// else: a function in which nothing traps has no status to return.
#include "targets/llvm/order_facts.h"
#include "targets/llvm/region_emitter.h"

namespace frazil::targets {

using namespace ir::names;

// False: the instruction only computes, and what it needs before it is emitted.
bool RegionEmitter::EmitStatement(const Inst& inst) {
  switch (inst.op) {
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor: EmitDivision(inst); return true;
    case Op::AddChecked:
    case Op::SubChecked:
    case Op::MulChecked:
    case Op::NegChecked:
    case Op::AbsChecked:
    case Op::CastChecked:
    case Op::DivChecked:
    case Op::RemChecked: EmitChecked(inst); return true;
    case Op::FieldDiv:
    case Op::Invert: EmitInverse(inst); return true;
    case Op::Lookup: EmitLookup(inst); return true;
    case Op::Load:
    case Op::Store: EmitMemory(inst); return true;
    case Op::Assert:
      if (MayTrap(program_, function_, facts_, inst))
        TrapIf(builder_.CreateNot(Get(function_.operand(inst, 0))), ir::Trap::Assert,
               inst.trap_op());
      return true;
    case Op::Unreachable:
      TrapIf(builder_.getTrue(), ir::Trap::Unreachable, inst.trap_op());
      return true;
    default: return false;
  }
}

void RegionEmitter::EmitDivision(const Inst& inst) {
  const LlvmValues in = Operands(inst);
  if (MayTrap(program_, function_, facts_, inst))
    TrapIf(ops_.IsZero(inst.type, in[1]), ir::Trap::DivisionByZero, inst.trap_op());
  SetResult(inst, ops_.Compute(inst.op, inst.type, inst.type, in));
}

void RegionEmitter::EmitChecked(const Inst& inst) {
  const LlvmValues in = Operands(inst);
  const ir::Type from = function_.type(function_.operand(inst, 0));
  const bool may_trap = MayTrap(program_, function_, facts_, inst);
  if (may_trap && (inst.op == Op::DivChecked || inst.op == Op::RemChecked))
    TrapIf(ops_.IsZero(inst.type, in[1]), ir::Trap::DivisionByZero, inst.trap_op());
  const OpEmitter::Checked checked = ops_.ComputeChecked(inst.op, inst.type, from, in);
  if (may_trap && checked.overflow != nullptr)
    TrapIf(checked.overflow, ir::Trap::Overflow, inst.trap_op());
  SetResult(inst, checked.value);
}

void RegionEmitter::EmitInverse(const Inst& inst) {
  const LlvmValues in = Operands(inst);
  if (MayTrap(program_, function_, facts_, inst))
    TrapIf(ops_.IsZero(inst.type, in.back()), ir::Trap::InvertOfZero, inst.trap_op());
  SetResult(inst, ops_.Compute(inst.op, inst.type, inst.type, in));
}

void RegionEmitter::EmitLookup(const Inst& inst) {
  const ir::DataId table(static_cast<uint32_t>(function_.word(inst, 0)));
  llvm::Value* const index = Get(function_.operand(inst, 0));
  if (MayTrap(program_, function_, facts_, inst)) {
    llvm::Value* const length = builder_.getInt64(program_.data[table.index].length());
    TrapIf(builder_.CreateICmpUGE(index, length), ir::Trap::OutOfBounds, inst.trap_op());
  }
  if (!IsLive(Function::result_of(inst))) return;
  SetResult(inst, LoadElement(inst.type, ElementAddress(inst.type, Table(table), index)));
}

// The code generator does not see that a test was made before. More than the last few are hardly the same.
bool RegionEmitter::WasChecked(ValueId buffer, ValueId index) const {
  constexpr size_t Most = 8;
  for (size_t i = checked_.size(); i > 0 && i + Most > checked_.size(); --i)
    if (checked_[i - 1].first == buffer && IsSame(function_, checked_[i - 1].second, index))
      return true;
  return false;
}

llvm::Value* RegionEmitter::CheckedAddress(const Inst& inst) {
  const ValueId buffer = function_.operand(inst, 0);
  const ValueId index = function_.operand(inst, 1);
  const auto number = static_cast<uint32_t>(&inst - function_.insts.data());
  if (facts_.ranges->Int(index).high < 0) {
    TrapIf(builder_.getTrue(), ir::Trap::OutOfBounds, inst.trap_op());
  } else if (!IsInside(function_, facts_, buffer, index) && !tested_.contains(number) &&
             !WasChecked(buffer, index)) {
    TrapIf(builder_.CreateICmpUGE(Get(index), LengthOf(buffer)), ir::Trap::OutOfBounds,
           inst.trap_op());
    if (is_nested_) checked_.emplace_back(buffer, index);
  }
  return ElementAddress(function_.type(buffer).element(), Get(buffer), Get(index));
}

void RegionEmitter::EmitMemory(const Inst& inst) {
  const ir::Type element = function_.type(function_.operand(inst, 0)).element();
  llvm::Value* const address = CheckedAddress(inst);
  if (inst.op == Op::Store) return StoreElement(element, address, Get(function_.operand(inst, 2)));
  if (IsLive(Function::result_of(inst))) SetResult(inst, LoadElement(element, address));
}

}  // namespace frazil::targets
