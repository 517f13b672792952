// What is known folds: the builder computes with constants itself.
#include "targets/llvm/form_values.h"

namespace frazil::targets {

llvm::Value* EvaluateForm(RegionEmitter& emitter, const IndexForm& form) {
  Builder& builder = emitter.builder();
  llvm::Value* sum = nullptr;
  for (const auto& [product, coefficient] : form.terms()) {
    llvm::Value* term = nullptr;
    for (uint32_t value : product) {
      llvm::Value* factor = emitter.Get(ir::ValueId(value));
      term = term == nullptr ? factor : builder.CreateMul(term, factor);
    }
    if (term == nullptr)
      term = builder.getInt64(coefficient);
    else if (coefficient != 1)
      term = builder.CreateMul(term, builder.getInt64(coefficient));
    sum = sum == nullptr ? term : builder.CreateAdd(sum, term);
  }
  return sum == nullptr ? builder.getInt64(0) : sum;
}

}  // namespace frazil::targets
