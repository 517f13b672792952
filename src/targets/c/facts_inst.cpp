// What can be said of one instruction from its constants and types alone: whether it traps, whether it makes
// NaNs, which operands must be names.
#include <algorithm>

#include "base/check.h"
#include "ir/facts/inst_facts.h"
#include "targets/c/ctype.h"
#include "targets/c/facts.h"

namespace frazil::targets::c {
namespace {

using namespace ir::names;

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
  const Inst* inst = facts.DefinitionOf(function, value);
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

TrapChance OfDivision(const Function& function, const FunctionFacts& facts, const Inst& inst) {
  const auto divisor = ConstantOf(function, facts, function.operand(inst, 1));
  if (!divisor) return TrapChance::Perhaps;
  const bool is_zero =
      std::all_of(divisor->begin(), divisor->end(), [](uint64_t word) { return word == 0; });
  if (is_zero) return TrapChance::Always;
  if (inst.type.scalar == Scalar::Int) return TrapChance::Perhaps;
  const bool is_minus_one = ir::IsSigned(inst.type.scalar) && (*divisor)[0] == UINT64_MAX;
  return inst.op == Op::DivChecked && is_minus_one ? TrapChance::Perhaps : TrapChance::Never;
}

TrapChance OfInverse(const Function& function, const FunctionFacts& facts, ValueId value) {
  const auto words = ConstantOf(function, facts, value);
  if (!words) return TrapChance::Perhaps;
  const bool is_zero =
      std::all_of(words->begin(), words->end(), [](uint64_t word) { return word == 0; });
  return is_zero ? TrapChance::Always : TrapChance::Never;
}

TrapChance OfLookup(const ir::Program& program, const Function& function,
                    const FunctionFacts& facts, const Inst& inst) {
  // Math functions never trap: their tables hold every index that they compute.
  if (function.is_prelude) return TrapChance::Never;
  const uint64_t length = program.data[static_cast<size_t>(function.word(inst, 0))].length();
  const ValueId index = function.operand(inst, 0);
  if (length == 0) return TrapChance::Always;
  if (const auto words = ConstantOf(function, facts, index))
    return (*words)[0] < length ? TrapChance::Never : TrapChance::Always;
  const auto bound = UpperBound(function, facts, index);
  return bound && *bound < length ? TrapChance::Never : TrapChance::Perhaps;
}

}  // namespace

TrapChance ChanceOfTrap(const ir::Program& program, const Function& function,
                        const FunctionFacts& facts, const Inst& inst) {
  switch (inst.op) {
    FRAZIL_CASES(Division)
    FRAZIL_CASES(CheckedDivision) return OfDivision(function, facts, inst);
    case Op::Lookup: return OfLookup(program, function, facts, inst);
    case Op::FieldDiv: return OfInverse(function, facts, function.operand(inst, 1));
    case Op::Invert: return OfInverse(function, facts, function.operand(inst, 0));
    case Op::CastChecked:
      return ir::AlwaysFits(function.type(function.operand(inst, 0)), inst.type)
                 ? TrapChance::Never
                 : TrapChance::Perhaps;
    case Op::Assert: {
      const auto words = ConstantOf(function, facts, function.operand(inst, 0));
      if (!words) return TrapChance::Perhaps;
      return (*words)[0] != 0 ? TrapChance::Never : TrapChance::Always;
    }
    case Op::Load:
    case Op::Store:
    case Op::AtomicRmw:
    case Op::AtomicCas: {
      // Negative, or beyond any memory: compilers warn where such a constant is used.
      const auto index = ConstantOf(function, facts, function.operand(inst, 1));
      return index && (*index)[0] >> 56 != 0 ? TrapChance::Always : TrapChance::Perhaps;
    }
    case Op::Unreachable: return TrapChance::Always;
    // Appending may find no memory.
    case Op::Output: return TrapChance::Perhaps;
    case Op::For:
    case Op::While:
    case Op::Parallel:
    case Op::Call: return TrapChance::Never;
    default: return ir::Info(inst.op).traps != 0 ? TrapChance::Perhaps : TrapChance::Never;
  }
}

bool MakesAnyNan(const Function& function, const Inst& inst) {
  // The C functions for these, and conversions from f16 and bf16, give the one NaN themselves.
  if (inst.op == Op::Minimum || inst.op == Op::Maximum) return false;
  if (inst.op == Op::Cast && !IsWide(function.type(function.operand(inst, 0)).scalar)) return false;
  return ir::MakesAnyNan(function, inst);
}

bool IsInCheck(const Inst& inst, TrapChance chance, uint32_t operand) {
  if (chance == TrapChance::Always) return false;
  switch (inst.op) {
    FRAZIL_CASES(Division)
    case Op::RemChecked: return operand == 1 || inst.type.scalar == Scalar::Int;
    case Op::DivChecked: return operand == 1 || ir::IsSigned(inst.type.scalar);
    case Op::FieldDiv: return operand == 1;
    default: return true;
  }
}

bool NeedsName(const Function& function, const Inst& inst, uint32_t operand) {
  const ir::Type type = function.type(function.operand(inst, operand));
  if (type.is_scalar() && IsStruct(type)) {
    // Structs are copied whole by these; all others look inside.
    const bool copies = inst.op == Op::Select || inst.op == Op::Store || inst.op == Op::Call ||
                        inst.op == Op::Return || ((inst.op == Op::For || inst.op == Op::While));
    const bool calls = type.scalar == Scalar::XField && (inst.op == Op::Add || inst.op == Op::Sub ||
                                                         inst.op == Op::Mul || inst.op == Op::Neg);
    return !copies && !calls;
  }
  switch (inst.op) {
    case Op::Load:
    case Op::Store:
    case Op::AtomicRmw:
    case Op::AtomicCas: return operand == 1;
    case Op::Lookup:
    case Op::Alloc:
    case Op::Invert:
    case Op::AbsChecked: return true;
    case Op::For:
    case Op::Parallel: return operand < 2; FRAZIL_CASES(Division)
    case Op::RemChecked:
    case Op::FieldDiv: return operand == 1;
    case Op::DivChecked: return true;
    default: return false;
  }
}

}  // namespace frazil::targets::c
