// A float is made the one NaN where its bits are moved (decision 0003), and a call moves its arguments. Once math functions
// are inlined, most of those only compute: their results are any NaN for any NaN, and are made the one where they are moved
// themselves. Two instructions less for each argument, on the pipe that has half the rate.
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "targets/cuda/kernel_emitter.h"

namespace frazil::targets::cuda {
namespace {

constexpr int MostDeep = 8;  // choices and elements of vectors behind each other

// The float behind `x != x ? the one NaN : x`, or null.
llvm::Value* Uncanonical(llvm::Value& value) {
  using namespace llvm::PatternMatch;
  auto* const choice = llvm::dyn_cast<llvm::SelectInst>(&value);
  if (choice == nullptr || !choice->getType()->isFloatingPointTy()) return nullptr;
  auto* const compare = llvm::dyn_cast<llvm::FCmpInst>(choice->getCondition());
  llvm::Value* const from = choice->getFalseValue();
  if (compare == nullptr || compare->getPredicate() != llvm::CmpInst::FCMP_UNO ||
      compare->getOperand(0) != from ||
      (compare->getOperand(1) != from && !match(compare->getOperand(1), m_AnyZeroFP())) ||
      !match(choice->getTrueValue(), m_NaN()))
    return nullptr;
  return from;
}

// Does nothing that comes of it depend on which NaN it is, this use alone?
bool IsComputing(const llvm::Use& use, int depth) {
  const llvm::User* const user = use.getUser();
  if (llvm::isa<llvm::FCmpInst>(user)) return true;
  if (const auto* op = llvm::dyn_cast<llvm::BinaryOperator>(user))
    return op->getType()->isFloatingPointTy();
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user)) {
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::fma:
      case llvm::Intrinsic::sqrt:
      case llvm::Intrinsic::minimum:
      case llvm::Intrinsic::maximum:
      case llvm::Intrinsic::minimumnum:
      case llvm::Intrinsic::maximumnum: return true;
      default: return false;
    }
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) return store->hasMetadata(AnyNan);
  const bool hands_on =
      llvm::isa<llvm::SelectInst>(user) || llvm::isa<llvm::InsertElementInst>(user);
  if (!hands_on || depth == 0) return false;
  return llvm::all_of(user->uses(),
                      [&](const llvm::Use& next) { return IsComputing(next, depth - 1); });
}

}  // namespace

void ForgetNanBits(llvm::Function& function) {
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& inst : llvm::make_early_inc_range(block)) {
      llvm::Value* const from = Uncanonical(inst);
      if (from == nullptr) continue;
      for (llvm::Use& use : llvm::make_early_inc_range(inst.uses()))
        if (IsComputing(use, MostDeep)) use.set(from);
      if (inst.use_empty()) inst.eraseFromParent();
    }
}

}  // namespace frazil::targets::cuda
