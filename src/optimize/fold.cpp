// One call of the scalar meaning. Nothing is approximated here: NaN bits, wrapping and rounding are exec's.
#include "optimize/fold.h"

#include "exec/meaning/scalar_ops.h"

namespace frazil::optimize {

bool IsScalarOp(ir::Op op) {
  const ir::OpInfo& info = ir::Info(op);
  return info.effect == ir::Effect::Pure && info.signature != "custom" &&
         info.law != ir::Law::Prelude && op != ir::Op::Const && op != ir::Op::Lookup;
}

std::optional<std::vector<uint64_t>> Fold(ir::Op op, ir::Type type, ir::Type result,
                                          std::span<const uint64_t> attributes,
                                          std::span<const FoldOperand> operands) {
  if (!IsScalarOp(op)) return std::nullopt;
  std::vector<exec::Words> words;
  for (const FoldOperand& operand : operands) words.push_back(operand.words);
  std::vector<uint64_t> folded(ir::WordsOf(result), 0);
  const exec::ScalarCall call = {op, type, operands[0].type, attributes};
  if (exec::EvalScalar(call, words, folded)) return std::nullopt;
  return folded;
}

}  // namespace frazil::optimize
