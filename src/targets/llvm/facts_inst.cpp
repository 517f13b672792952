// What can be said of one instruction from its constants, types and surroundings alone.
#include <algorithm>

#include "ir/facts/inst_facts.h"
#include "targets/llvm/facts.h"

namespace frazil::targets {
namespace {

using namespace ir::names;

bool IsZero(std::span<const uint64_t> words) {
  return std::ranges::all_of(words, [](uint64_t word) { return word == 0; });
}

// The loop whose counter the value is.
const Inst* LoopOfCounter(const Function& function, const FunctionFacts& facts, ValueId value) {
  if (facts.definition[value.index].valid()) return nullptr;
  const ir::RegionId home = facts.home[value.index];
  if (function.region(home).params.begin != value.index || !facts.owner[home.index].valid())
    return nullptr;
  const Inst& owner = function.inst(facts.owner[home.index]);
  return owner.op == Op::For || owner.op == Op::Parallel ? &owner : nullptr;
}

bool DivisionMayTrap(const Function& function, const FunctionFacts& facts, const Inst& inst) {
  const auto divisor = ConstantOf(function, facts, function.operand(inst, 1));
  if (!divisor || IsZero(*divisor)) return true;
  if (inst.op != Op::DivChecked || !ir::IsSigned(inst.type.scalar)) return false;
  return std::ranges::all_of(*divisor, [](uint64_t word) { return word == UINT64_MAX; });
}

bool InverseMayTrap(const Function& function, const FunctionFacts& facts, ValueId value) {
  const auto words = ConstantOf(function, facts, value);
  return !words || IsZero(*words);
}

}  // namespace

bool IsInside(const Function& function, const FunctionFacts& facts, ValueId buffer, ValueId index) {
  const Inst* made = facts.DefinitionOf(function, buffer);
  const bool is_alloc = made != nullptr && made->op == Op::Alloc;
  if (const IntRange range = facts.ranges->Int(index); is_alloc && range.low >= 0) {
    if (range.high < facts.ranges->Int(function.operand(*made, 0)).low) return true;
  }
  if (facts.home.empty()) return false;
  const Inst* loop = LoopOfCounter(function, facts, index);
  if (loop == nullptr || facts.ranges->Int(function.operand(*loop, 0)).low < 0) return false;
  const ValueId hi = function.operand(*loop, 1);
  const Inst* length = facts.DefinitionOf(function, hi);
  if (length != nullptr && length->op == Op::Length && function.operand(*length, 0) == buffer)
    return true;
  return is_alloc && function.operand(*made, 0) == hi;
}

bool MayTrap(const ir::Program& program, const Function& function, const FunctionFacts& facts,
             const Inst& inst) {
  switch (inst.op) {
    FRAZIL_CASES(Division)
    FRAZIL_CASES(CheckedDivision) return DivisionMayTrap(function, facts, inst);
    case Op::Lookup: {
      // Math functions never trap: their tables hold every index that they compute.
      if (function.is_prelude) return false;
      const IntRange index = facts.ranges->Int(function.operand(inst, 0));
      return index.low < 0 ||
             index.high >= program.data[static_cast<size_t>(function.word(inst, 0))].length();
    }
    case Op::FieldDiv: return InverseMayTrap(function, facts, function.operand(inst, 1));
    case Op::Invert: return InverseMayTrap(function, facts, function.operand(inst, 0));
    case Op::CastChecked:
      return !ir::AlwaysFits(function.type(function.operand(inst, 0)), inst.type);
    case Op::Assert: {
      const auto words = ConstantOf(function, facts, function.operand(inst, 0));
      return !words || (*words)[0] == 0;
    }
    case Op::Load:
    case Op::Store:
    case Op::AtomicRmw:
    case Op::AtomicCas:
      return !IsInside(function, facts, function.operand(inst, 0), function.operand(inst, 1));
    // Appending may find no memory.
    case Op::Output: return true;
    case Op::For:
    case Op::While:
    case Op::Parallel:
    case Op::Call: return false;
    default: return ir::Info(inst.op).traps != 0;
  }
}

}  // namespace frazil::targets
