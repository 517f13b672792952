#include "targets/native/vectors/vector_folds.h"

#include <llvm/IR/Constants.h>

namespace frazil::targets::native {

using namespace ir::names;

llvm::Constant* LaneFolds::Identity(size_t f) {
  const ir::Type type = FoldType(f);
  if (IsFloat(type.scalar)) return FloatIdentity(plan_.folds[f].op, type);
  const unsigned bits = static_cast<unsigned>(BitsOf(type));
  const bool is_signed = IsSigned(type.scalar);
  switch (plan_.folds[f].op) {
    case Op::Mul: return builder_.getInt(llvm::APInt(bits, 1));
    case Op::And: return builder_.getInt(llvm::APInt::getAllOnes(bits));
    case Op::Min:
      return builder_.getInt(is_signed ? llvm::APInt::getSignedMaxValue(bits)
                                       : llvm::APInt::getMaxValue(bits));
    case Op::Max:
      return builder_.getInt(is_signed ? llvm::APInt::getSignedMinValue(bits)
                                       : llvm::APInt::getMinValue(bits));
    default: return builder_.getInt(llvm::APInt::getZero(bits));
  }
}

// The NaN is what min and max drop; the others give it back, and know nothing beyond infinity.
llvm::Constant* LaneFolds::FloatIdentity(Op op, ir::Type type) {
  llvm::Type* scalar = emitter_.ops().TypeOf(type);
  if (op == Op::Min || op == Op::Max) return llvm::ConstantFP::getQNaN(scalar);
  return llvm::ConstantFP::getInfinity(scalar, /*Negative=*/op == Op::Maximum);
}

llvm::Value* LaneFolds::Combine(size_t f, llvm::Value* a, llvm::Value* b) {
  llvm::Value* in[] = {a, b};
  return emitter_.ops().Compute(plan_.folds[f].op, FoldType(f), FoldType(f), in);
}

LlvmValues LaneFolds::Identities(unsigned lanes) {
  LlvmValues values;
  for (size_t f = 0; f < plan_.folds.size(); ++f)
    values.push_back(
        llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), Identity(f)));
  return values;
}

LlvmValues LaneFolds::Collect(const LlvmValues& carried, const LlvmValues& vectors) {
  LlvmValues result = carried;
  for (size_t f = 0; f < vectors.size(); ++f) {
    llvm::Value* vector = vectors[f];
    for (unsigned lanes = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
         lanes > 1; lanes /= 2) {
      llvm::SmallVector<int, 128> low, high;
      for (unsigned i = 0; i < lanes / 2; ++i)
        low.push_back(static_cast<int>(i)), high.push_back(static_cast<int>(lanes / 2 + i));
      vector = Combine(f, builder_.CreateShuffleVector(vector, low),
                       builder_.CreateShuffleVector(vector, high));
    }
    const uint32_t k = plan_.folds[f].carried;
    result[k] = Combine(f, result[k], builder_.CreateExtractElement(vector, uint64_t{0}));
    // Lanes may have held any NaN.
    if (IsFloat(FoldType(f).scalar)) result[k] = emitter_.ops().Canonical(result[k]);
  }
  return result;
}

}  // namespace frazil::targets::native
