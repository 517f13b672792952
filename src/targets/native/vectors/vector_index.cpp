// What is known folds: the builder computes with constants itself.
#include "targets/native/vectors/vector_index.h"

namespace frazil::targets::native {

llvm::Value* EvaluateForm(FunctionEmitter& emitter, const IndexForm& form) {
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

llvm::Value* StackRoom(Builder& builder, llvm::Type* type) {
  llvm::BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  Builder at_entry(&entry, entry.begin());
  llvm::AllocaInst* room = at_entry.CreateAlloca(type);
  room->setAlignment(llvm::Align(64));
  return room;
}

bool IsTrue(llvm::Value* bit) {
  auto* known = llvm::dyn_cast<llvm::ConstantInt>(bit);
  return known != nullptr && known->isOne();
}

llvm::Value* BothHold(Builder& builder, llvm::Value* a, llvm::Value* b) {
  return IsTrue(a) ? b : IsTrue(b) ? a : builder.CreateAnd(a, b);
}

llvm::Value* RoomFrom(Builder& builder, llvm::Value* first, llvm::Value* length) {
  auto* known = llvm::dyn_cast<llvm::ConstantInt>(first);
  if (known != nullptr && known->isZero()) return length;
  return builder.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, length, first);
}

}  // namespace frazil::targets::native
