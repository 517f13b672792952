// What can be said of one instruction from its constants, types and surroundings alone.
#include <algorithm>

#include "ir/inst_facts.h"
#include "targets/llvm/facts.h"

namespace frazil::targets {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Scalar;
using ir::ValueId;

const Inst* DefinitionOf(const Function& function, const FunctionFacts& facts, ValueId value) {
  const ir::InstId id = facts.definition[value.index];
  return id.valid() ? &function.inst(id) : nullptr;
}

bool IsZero(std::span<const uint64_t> words) {
  return std::ranges::all_of(words, [](uint64_t word) { return word == 0; });
}

// A bound b with 0 <= value <= b, if one is easily seen.
std::optional<uint64_t> UpperBound(const Function& function, const FunctionFacts& facts,
                                   ValueId value, int depth = 8) {
  const ir::Type type = function.type(value);
  if (!type.is_scalar() || !(ir::IsFixedInt(type.scalar) || type.scalar == Scalar::Bool)) return {};
  if (const auto words = ConstantOf(function, facts, value)) {
    if (ir::IsSigned(type.scalar) && static_cast<int64_t>((*words)[0]) < 0) return {};
    return (*words)[0];
  }
  std::optional<uint64_t> by_type;
  if (!ir::IsSigned(type.scalar)) by_type = UINT64_MAX >> (64 - ir::BitsOf(type));
  const Inst* inst = DefinitionOf(function, facts, value);
  if (inst == nullptr || depth == 0) return by_type;
  auto bound = [&](uint32_t i) {
    return UpperBound(function, facts, function.operand(*inst, i), depth - 1);
  };
  switch (inst->op) {
    case Op::And: {
      const auto a = bound(0);
      const auto b = bound(1);
      if (a && b) return std::min(*a, *b);
      return a ? a : b ? b : by_type;
    }
    case Op::Cast: {
      const auto a = bound(0);
      const uint64_t greatest =
          UINT64_MAX >> (64 - ir::BitsOf(type) + (ir::IsSigned(type.scalar) ? 1 : 0));
      return a && *a <= greatest ? a : by_type;
    }
    case Op::Select: {
      const auto a = bound(1);
      const auto b = bound(2);
      return a && b ? std::optional(std::max(*a, *b)) : by_type;
    }
    case Op::Shr: {
      const auto amount = ConstantOf(function, facts, function.operand(*inst, 1));
      const auto a = bound(0);
      if (!a || !amount) return by_type;
      return *a >> ((*amount)[0] & static_cast<uint64_t>(ir::BitsOf(type) - 1));
    }
    default: return by_type;
  }
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

std::optional<std::span<const uint64_t>> ConstantOf(const Function& function,
                                                    const FunctionFacts& facts, ValueId value) {
  const Inst* inst = DefinitionOf(function, facts, value);
  if (inst == nullptr || inst->op != Op::Const) return {};
  return function.words_of(*inst);
}

bool IsInside(const Function& function, const FunctionFacts& facts, ValueId buffer, ValueId index) {
  const Inst* made = DefinitionOf(function, facts, buffer);
  const auto bound = UpperBound(function, facts, index);
  if (made != nullptr && made->op == Op::Alloc) {
    const auto length = ConstantOf(function, facts, function.operand(*made, 0));
    if (length && bound && static_cast<int64_t>((*length)[0]) > 0 && *bound < (*length)[0])
      return true;
  }
  if (facts.home.empty()) return false;
  const Inst* loop = LoopOfCounter(function, facts, index);
  if (loop == nullptr || !UpperBound(function, facts, function.operand(*loop, 0))) return false;
  const ValueId hi = function.operand(*loop, 1);
  const Inst* length = DefinitionOf(function, facts, hi);
  if (length != nullptr && length->op == Op::Length && function.operand(*length, 0) == buffer)
    return true;
  if (made == nullptr || made->op != Op::Alloc) return false;
  const ValueId allocated = function.operand(*made, 0);
  if (allocated == hi) return true;
  const auto constant_length = ConstantOf(function, facts, allocated);
  const auto constant_hi = ConstantOf(function, facts, hi);
  return constant_length && constant_hi &&
         static_cast<int64_t>((*constant_hi)[0]) <= static_cast<int64_t>((*constant_length)[0]);
}

bool MayTrap(const ir::Program& program, const Function& function, const FunctionFacts& facts,
             const Inst& inst) {
  switch (inst.op) {
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor:
    case Op::DivChecked:
    case Op::RemChecked: return DivisionMayTrap(function, facts, inst);
    case Op::Lookup: {
      // Math functions never trap: their tables hold every index that they compute.
      if (function.is_prelude) return false;
      const auto bound = UpperBound(function, facts, function.operand(inst, 0));
      return !bound || *bound >= program.data[static_cast<size_t>(function.word(inst, 0))].length();
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
