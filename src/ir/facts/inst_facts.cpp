// Facts that several targets need and that no table row says.
#include "ir/facts/inst_facts.h"

namespace frazil::ir {

bool MakesAnyNan(const Function& function, const Inst& inst) {
  if (!inst.type.is_scalar() || !Contains(sets::Wide, inst.type.scalar)) return false;
  switch (inst.op) {
    FRAZIL_CASES(Ring)
    FRAZIL_CASES(Abs)
    FRAZIL_CASES(Float)
    FRAZIL_CASES(Extremum) return true;
    case Op::Cast: return IsFloat(function.type(function.operand(inst, 0)).scalar);
    default: return false;
  }
}

bool IsCombiner(Op op) {
  for (int kind = 0; kind <= static_cast<int>(ReduceKind::Xor); ++kind)
    if (CombinerOf(static_cast<ReduceKind>(kind)) == op) return true;
  return false;
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
