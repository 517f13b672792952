// Writes down the phase boundaries that a structure around a barrier implies: a barrier before it, one after
// it, and one at the end of each turn of a loop.
#include "ir/clone.h"
#include "ir/lower/barrier_plan.h"
#include "ir/lower/lower.h"

namespace frazil::ir {
namespace {

class BoundaryCloner : public Cloner {
 public:
  using Cloner::Cloner;

 protected:
  Result<void> Visit(const Inst& inst) override {
    bool structure = inst.op == Op::For || inst.op == Op::If;
    if (inst.op == Op::Yield && ends_turn_) Boundary();
    if (!structure || !HasBarrier(source_, inst)) {
      // Below something else (a parallel of its own) turns begin anew.
      bool outer = std::exchange(ends_turn_, false);
      TRY_VOID(CopyInst(inst));
      ends_turn_ = outer;
      return {};
    }
    Boundary();
    bool outer = std::exchange(ends_turn_, inst.op == Op::For);
    TRY_VOID(CopyInst(inst));
    ends_turn_ = outer;
    Boundary();
    return {};
  }

 private:
  void Boundary() { builder_.Emit(Op::Barrier, Type{}, {}, {}); }
  bool ends_turn_ = false;
};

bool HasAnyBarrier(const Program& program) {
  for (const Function& function : program.functions)
    for (const Inst& inst : function.insts)
      if (inst.op == Op::Barrier) return true;
  return false;
}

}  // namespace

Result<Program> ExplicitBarriers(const Program& program) {
  if (!HasAnyBarrier(program)) return program;
  return CopyProgram(program,
                     [](const Function& function, FunctionBuilder& builder) -> Result<void> {
                       BoundaryCloner cloner(function, builder);
                       cloner.DeclareParams();
                       return cloner.CopyBody();
                     });
}

}  // namespace frazil::ir
