// Terms by recursion over definitions, each once.
#include "optimize/value_terms.h"

#include "optimize/fold.h"
#include "optimize/traps.h"

namespace frazil::optimize {

std::optional<uint32_t> ValueTerms::Of(ir::ValueId value) {
  if (auto found = known_.find(value.index); found != known_.end()) return found->second;
  std::optional<uint32_t> term;
  const ir::InstId def = function_.values[value.index].def;
  const ir::Inst* inst = def.valid() ? &function_.inst(def) : nullptr;
  const bool math = inst != nullptr && ir::Info(inst->op).law == ir::Law::Prelude;
  if (inst != nullptr && inst->op == ir::Op::Const) {
    term = proof_.Constant(inst->type, function_.words_of(*inst));
  } else if (inst != nullptr && (IsScalarOp(inst->op) || math) && !MayTrap(function_, *inst)) {
    std::vector<uint32_t> children;
    for (ir::ValueId operand : function_.operands_of(*inst)) {
      std::optional<uint32_t> child = Of(operand);
      if (!child) break;
      children.push_back(*child);
    }
    if (children.size() == inst->operands.count)
      term = proof_.Apply(inst->op, inst->type, function_.type(value), function_.words_of(*inst),
                          children);
  } else if (origins_[value.index].valid()) {
    term = proof_.SourceValue(index_, origins_[value.index].index, function_.type(value));
  }
  known_[value.index] = term;
  return term;
}

}  // namespace frazil::optimize
