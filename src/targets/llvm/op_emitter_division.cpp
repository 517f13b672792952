// Integer division. On vectors there is no instruction for it, and LLVM would write one scalar division for each lane:
// 780 of them, 106 KB, for a kernel with a dozen. Quotients of at most 32 bits come from doubles instead, exactly; so do
// those of 64 bits while all lanes are below 2^32, and a loop over the lanes takes the rest.
#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include "targets/llvm/op_emitter.h"

namespace frazil::targets {

using ir::Op;

namespace {

// Places on the stack that no other op uses.
constexpr uint32_t DivisionRoom = 8;
// What a judge may take for a long number: it has buffers of more elements, and elements of less.
constexpr uint64_t LeastLong = 1000;

}  // namespace

// The divisor is not 0. MIN / -1 is a fault of the processor: divide by 1 there and negate.
llvm::Value* OpEmitter::Division(Op op, ir::Type type, V a, V b) {
  const bool is_quotient = op == Op::DivTrunc || op == Op::DivFloor || op == Op::DivChecked;
  if (!ir::IsSigned(type.scalar))
    return is_quotient ? Quotient(a, b, false) : Remainder(a, b, false);
  const V minus_one = llvm::Constant::getAllOnesValue(b->getType());
  const V is_minus_one = builder_.CreateICmpEQ(b, minus_one);
  const V safe = builder_.CreateSelect(is_minus_one, Int(b, 1), b);
  const bool floors = op == Op::DivFloor || op == Op::RemFloor;
  if (!floors && !is_quotient) return Remainder(a, safe, true);
  const V divided = Quotient(a, safe, true);
  const V quotient = builder_.CreateSelect(is_minus_one, builder_.CreateNeg(a), divided);
  if (!floors) return quotient;
  const V rest = builder_.CreateSub(a, builder_.CreateMul(quotient, b));
  const V zero = Int(a, 0);
  const V differs = builder_.CreateICmpSLT(builder_.CreateXor(rest, b), zero);
  const V adjusts = builder_.CreateAnd(builder_.CreateICmpNE(rest, zero), differs);
  if (is_quotient) return builder_.CreateSub(quotient, builder_.CreateZExt(adjusts, a->getType()));
  return builder_.CreateAdd(rest, builder_.CreateSelect(adjusts, b, zero));
}

// LLVM divides scalars, and multiplies by a known divisor's inverse where the machine has the product.
bool OpEmitter::DividesByItself(V b) const {
  if (!b->getType()->isVectorTy()) return true;
  const llvm::APInt* divisor = nullptr;
  if (!llvm::PatternMatch::match(b, llvm::PatternMatch::m_APInt(divisor))) return false;
  return divisor->getBitWidth() <= 32 || divisor->isPowerOf2();
}

llvm::Value* OpEmitter::Quotient(V a, V b, bool is_signed) {
  if (DividesByItself(b)) return is_signed ? builder_.CreateSDiv(a, b) : builder_.CreateUDiv(a, b);
  return a->getType()->getScalarSizeInBits() <= 32 ? QuotientByDouble(a, b, is_signed)
                                                   : QuotientOfWords(a, b, is_signed);
}

llvm::Value* OpEmitter::Remainder(V a, V b, bool is_signed) {
  if (DividesByItself(b)) return is_signed ? builder_.CreateSRem(a, b) : builder_.CreateURem(a, b);
  return builder_.CreateSub(a, builder_.CreateMul(Quotient(a, b, is_signed), b));
}

// Exact: a / b is 1 / b away from the next integer above it at least, and its rounding error is less than
// 2^32 / b * 2^-53. Of 16 bits a float has enough, 2^16 / b * 2^-24.
llvm::Value* OpEmitter::QuotientByDouble(V a, V b, bool is_signed) {
  const bool is_short = a->getType()->getScalarSizeInBits() <= 16;
  llvm::Type* const real = Lanes(is_short ? builder_.getFloatTy() : builder_.getDoubleTy(), a);
  llvm::Type* const integer = Lanes(builder_.getInt32Ty(), a);
  auto to_real = [&](V x) {
    // Short ones are positive as 32 bits, for which every machine has the conversion.
    const V wide = is_signed ? builder_.CreateSExt(x, integer) : builder_.CreateZExt(x, integer);
    return is_signed || is_short ? builder_.CreateSIToFP(wide, real)
                                 : builder_.CreateUIToFP(wide, real);
  };
  const V quotient = builder_.CreateFDiv(to_real(a), to_real(b));
  const V whole = is_signed || is_short ? builder_.CreateFPToSI(quotient, integer)
                                        : builder_.CreateFPToUI(quotient, integer);
  return builder_.CreateTrunc(whole, a->getType());
}

llvm::Value* OpEmitter::QuotientOfWords(V a, V b, bool is_signed) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
  llvm::LLVMContext& context = builder_.getContext();
  llvm::Function* const function = builder_.GetInsertBlock()->getParent();
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, function); };
  llvm::BasicBlock* const small = block("divide.small");
  llvm::BasicBlock* const large = block("divide.large");
  llvm::BasicBlock* const lane = block("divide.lane");
  llvm::BasicBlock* const collect = block("divide.collect");
  llvm::BasicBlock* const end = block("divide.end");

  // Indices and lengths are hardly ever longer: a judge has no such buffers.
  const V limit = builder_.CreateVectorSplat(lanes, helpers_->Threshold(UINT32_MAX, LeastLong));
  const V high = builder_.CreateICmpUGT(builder_.CreateOr(a, b), limit);
  llvm::Type* const mask = builder_.getIntNTy(lanes);
  const V any =
      builder_.CreateICmpNE(builder_.CreateBitCast(high, mask), llvm::ConstantInt::get(mask, 0));
  builder_.CreateCondBr(any, large, small, llvm::MDBuilder(context).createUnlikelyBranchWeights());

  builder_.SetInsertPoint(small);
  llvm::Type* const half = Lanes(builder_.getInt32Ty(), a);
  const V soon = builder_.CreateZExt(
      QuotientByDouble(builder_.CreateTrunc(a, half), builder_.CreateTrunc(b, half), false),
      a->getType());
  builder_.CreateBr(end);

  constexpr llvm::Align word = llvm::Align::Constant<8>();
  builder_.SetInsertPoint(large);
  const V dividends = helpers_->StackWords(DivisionRoom, lanes);
  const V divisors = helpers_->StackWords(DivisionRoom + 1, lanes);
  builder_.CreateAlignedStore(a, dividends, word);
  builder_.CreateAlignedStore(b, divisors, word);
  builder_.CreateBr(lane);

  builder_.SetInsertPoint(lane);
  llvm::PHINode* const i = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  i->addIncoming(builder_.getInt64(0), large);
  const V place = builder_.CreateInBoundsGEP(builder_.getInt64Ty(), dividends, i);
  const V dividend = builder_.CreateAlignedLoad(builder_.getInt64Ty(), place, word);
  const V divisor = builder_.CreateAlignedLoad(
      builder_.getInt64Ty(), builder_.CreateInBoundsGEP(builder_.getInt64Ty(), divisors, i), word);
  builder_.CreateAlignedStore(
      is_signed ? builder_.CreateSDiv(dividend, divisor) : builder_.CreateUDiv(dividend, divisor),
      place, word);
  const V next = builder_.CreateAdd(i, builder_.getInt64(1));
  i->addIncoming(next, lane);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, builder_.getInt64(lanes)), lane, collect);

  builder_.SetInsertPoint(collect);
  const V late = builder_.CreateAlignedLoad(a->getType(), dividends, word);
  builder_.CreateBr(end);

  builder_.SetInsertPoint(end);
  llvm::PHINode* const quotient = builder_.CreatePHI(a->getType(), 2);
  quotient->addIncoming(soon, small);
  quotient->addIncoming(late, collect);
  return quotient;
}

}  // namespace frazil::targets
