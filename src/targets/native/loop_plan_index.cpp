// Forms stay small: an expression that grows beyond MaxTerms stands as itself, so that no program can make
// the analysis slow.
#include "targets/native/loop_plan_index.h"

namespace frazil::targets::native {
namespace {

using ir::Op;
constexpr size_t MaxTerms = 24;
constexpr uint32_t MaxDegree = 6;
constexpr uint32_t MaxDepth = 200;

}  // namespace

const IndexForm& IndexForms::Of(ir::ValueId value) {
  auto found = forms_.find(value.index);
  if (found != forms_.end()) return found->second;
  if (depth_ >= MaxDepth) return forms_.emplace(value.index, IndexForm::Of(value)).first->second;
  ++depth_;
  IndexForm form = Make(value);
  --depth_;
  if (form.size() > MaxTerms || form.degree() > MaxDegree) form = IndexForm::Of(value);
  return forms_.emplace(value.index, std::move(form)).first->second;
}

IndexForm IndexForms::Make(ir::ValueId value) {
  ir::InstId def = function_.values[value.index].def;
  if (!def.valid() || function_.type(value) != ir::types::Index) return IndexForm::Of(value);
  const ir::Inst& inst = function_.inst(def);
  auto operand = [&](uint32_t i) -> const IndexForm& { return Of(function_.operand(inst, i)); };
  switch (inst.op) {
    case Op::Const: return IndexForm::Constant(static_cast<uint64_t>(function_.word(inst, 0)));
    case Op::Add: return operand(0) + operand(1);
    case Op::Sub: return operand(0) - operand(1);
    case Op::Neg: return IndexForm::Constant(0) - operand(0);
    case Op::Mul: return operand(0) * operand(1);
    case Op::Shl: {
      std::optional<int64_t> amount = operand(1).constant();
      if (!amount) return IndexForm::Of(value);
      return operand(0) * IndexForm::Constant(uint64_t{1} << (*amount & 63));
    }
    default: return IndexForm::Of(value);
  }
}

}  // namespace frazil::targets::native
