// Tests that are known are not made.
#include "targets/native/vectors/vector_index.h"

namespace frazil::targets::native {

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
