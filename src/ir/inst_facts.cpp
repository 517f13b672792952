// Facts that several targets need and that no table row says.
#include "ir/inst_facts.h"

namespace frazil::ir {

bool MakesAnyNan(const Function& function, const Inst& inst) {
  if (!inst.type.is_scalar() || !Contains(sets::Wide, inst.type.scalar)) return false;
  switch (inst.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Neg:
    case Op::Abs:
    case Op::Div:
    case Op::Fma:
    case Op::Sqrt:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Nearest:
    case Op::CopySign:
    case Op::Min:
    case Op::Max:
    case Op::Minimum:
    case Op::Maximum: return true;
    case Op::Cast: return IsFloat(function.type(function.operand(inst, 0)).scalar);
    default: return false;
  }
}

bool AlwaysFits(Type from, Type to) {
  auto bits = [](Type type) {
    return type.scalar == Scalar::Int    ? 64 * type.limbs
           : type.scalar == Scalar::Bool ? 1
                                         : BitsOf(type);
  };
  if (IsSigned(from.scalar)) return IsSigned(to.scalar) && bits(to) >= bits(from);
  return IsSigned(to.scalar) ? bits(to) > bits(from) : bits(to) >= bits(from);
}

}  // namespace frazil::ir
