// ExpandFolds: a `fold` becomes loops, for targets that have no form of their own for it.
#include <algorithm>

#include "ir/clone.h"
#include "ir/lower/can_trap.h"
#include "ir/lower/fold_loops.h"
#include "ir/lower/lower.h"

namespace frazil::ir {
namespace {

class FoldExpansion : public Cloner {
 public:
  FoldExpansion(const Function& source, FunctionBuilder& builder, const WhichFolds& expands)
      : Cloner(source, builder), expands_(expands) {}

 protected:
  Result<void> Visit(const Inst& inst) override {
    if (inst.op != Op::Fold || (expands_ && !expands_(source_, inst))) return CopyInst(inst);
    const bool is_half = Contains(sets::Half, inst.type.scalar);
    const Type wide = is_half ? types::F32 : inst.type;
    const IndexExpr length = LengthOf(source_.operand(inst, 0));
    FoldLoops fold(builder_, static_cast<ReduceKind>(source_.word(inst, 0)), wide,
                   ChainsOf(source_.word(inst, 1), length), source_.word(inst, 2), inst.op,
                   CanTrap(source_, Function::region_of(inst, 0)) ? IndexMath::Order::Sequential
                                                                  : IndexMath::Order::Independent);
    fold.Prepare(length, IndexExpr::Known(1));
    IndexMath math(builder_);
    Result<void> status;
    ValueId result = fold.Line(length, [&](IndexExpr i) {
      const Region& region = source_.region(Function::region_of(inst, 0));
      Bind(Function::param_of(region, 0), math.Value(i));
      const Result<void> copied = CopyInsts(std::span(region.insts).first(region.insts.size() - 1));
      if (!copied) status = copied;
      const ValueId value = Get(source_.operand(source_.inst(region.insts.back()), 0));
      return is_half ? builder_.Cast(Op::Cast, value, wide) : value;
    });
    if (is_half) result = builder_.Cast(Op::Cast, result, inst.type);
    BindNamed(Function::result_of(inst), result);
    return status;
  }

 private:
  const WhichFolds& expands_;

  // A negative length is that of no elements.
  IndexExpr LengthOf(ValueId count) {
    const InstId def = source_.values[count.index].def;
    if (def.valid() && source_.inst(def).op == Op::Const)
      return IndexExpr::Known(std::max<int64_t>(source_.word(source_.inst(def), 0), 0));
    IndexMath math(builder_);
    const ValueId none = math.Value(IndexExpr::Known(0));
    return IndexExpr::Of(builder_.Binary(Op::Max, Get(count), none));
  }
};

}  // namespace

bool HasFolds(const Program& program) {
  return std::ranges::any_of(program.functions, [](const Function& function) {
    return std::ranges::any_of(function.insts,
                               [](const Inst& inst) { return inst.op == Op::Fold; });
  });
}

Result<Program> ExpandFolds(const Program& program, const WhichFolds& expands) {
  if (!HasFolds(program)) return program;
  return CopyProgram(program, [&](const Function& function, FunctionBuilder& builder) {
    FoldExpansion expansion(function, builder, expands);
    expansion.DeclareParams();
    return expansion.CopyBody();
  });
}

}  // namespace frazil::ir
