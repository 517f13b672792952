#include "targets/llvm/index_forms.h"

namespace frazil::targets {

using ir::Op;

const IndexForm& IndexForms::Of(ir::ValueId value) {
  return forms_.Of(value, [this](ir::ValueId asked) { return Make(asked); });
}

IndexForm IndexForms::Make(ir::ValueId value) {
  ir::InstId def = function_.values[value.index].def;
  if (!def.valid() || function_.type(value) != ir::types::Index) return IndexForm::Of(value);
  const ir::Inst& inst = function_.inst(def);
  if (inst.op == Op::Const)
    return IndexForm::Constant(static_cast<uint64_t>(function_.word(inst, 0)));
  auto operand = [&](uint32_t i) -> const IndexForm& { return Of(function_.operand(inst, i)); };
  std::optional<IndexForm> form = ir::FormOfOp(inst.op, operand);
  return form ? *std::move(form) : IndexForm::Of(value);
}

}  // namespace frazil::targets
