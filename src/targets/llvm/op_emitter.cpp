// The dispatch over all ops, types and constants, integers. The switch has no default, so that a new op does not
// build before it has a line here.
#include "targets/llvm/op_emitter.h"

#include <llvm/IR/Intrinsics.h>

#include "base/check.h"

namespace frazil::targets {

using ir::Op;
using ir::Scalar;
using llvm::Intrinsic::ID;

namespace {

bool IsHalf(Scalar scalar) { return ir::Contains(ir::sets::Half, scalar); }

uint32_t BitsInRegister(ir::Type type) {
  return type.scalar == Scalar::Int ? 64u * type.limbs : static_cast<uint32_t>(ir::BitsOf(type));
}

}  // namespace

llvm::Type* OpEmitter::TypeOf(ir::Type type) const {
  llvm::LLVMContext& context = builder_.getContext();
  switch (type.scalar) {
    case Scalar::F32: return builder_.getFloatTy();
    case Scalar::F64: return builder_.getDoubleTy();
    case Scalar::XField:
    case Scalar::Digest: return llvm::ArrayType::get(builder_.getInt64Ty(), ir::WordsOf(type));
    default: return llvm::IntegerType::get(context, BitsInRegister(type));
  }
}

llvm::Constant* OpEmitter::Constant(ir::Type type, std::span<const uint64_t> words) const {
  llvm::Type* const llvm_type = TypeOf(type);
  switch (type.scalar) {
    case Scalar::F32:
      return llvm::ConstantFP::get(
          llvm_type, llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, words[0])));
    case Scalar::F64:
      return llvm::ConstantFP::get(
          llvm_type, llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, words[0])));
    case Scalar::XField:
    case Scalar::Digest:
      return llvm::ConstantDataArray::get(builder_.getContext(),
                                          llvm::ArrayRef<uint64_t>(words.data(), words.size()));
    case Scalar::Int:
      return llvm::ConstantInt::get(
          builder_.getContext(),
          llvm::APInt(BitsInRegister(type), llvm::ArrayRef<uint64_t>(words.data(), words.size())));
    default:
      return llvm::ConstantInt::get(builder_.getContext(),
                                    llvm::APInt(64, words[0]).trunc(BitsInRegister(type)));
  }
}

llvm::Type* OpEmitter::Lanes(llvm::Type* scalar, V like) const {
  if (const auto* vector = llvm::dyn_cast<llvm::VectorType>(like->getType()))
    return llvm::VectorType::get(scalar, vector->getElementCount());
  return scalar;
}

llvm::Constant* OpEmitter::Int(V like, uint64_t value) const {
  const uint32_t bits = like->getType()->getScalarSizeInBits();
  const llvm::APInt wide(64, value);
  return llvm::ConstantInt::get(like->getType(), bits > 64 ? wide.zext(bits) : wide.trunc(bits));
}

llvm::Constant* OpEmitter::Real(V like, double value) const {
  return llvm::ConstantFP::get(like->getType(), value);
}

llvm::Value* OpEmitter::Compute(Op op, ir::Type type, ir::Type from, std::span<const V> in,
                                int64_t part) {
  const Scalar scalar = type.scalar;
  const bool is_field = ir::Contains(ir::sets::Fields, scalar);
  switch (op) {
    FRAZIL_CASES(Ring)
    FRAZIL_CASES(Abs)
    case Op::Min:
    case Op::Max:
      if (scalar == Scalar::Field) return Field(op, in);
      if (is_field) return XField(op, in, 0);
      if (IsHalf(scalar)) return Half(op, scalar, in);
      return ir::IsFloat(scalar) ? Float(op, in) : Integer(op, type, in);
    case Op::MulHi: return Integer(op, type, in);
    FRAZIL_CASES(Division) return Division(op, type, in[0], in[1]);
    FRAZIL_CASES(Float)
    case Op::Minimum:
    case Op::Maximum: return IsHalf(scalar) ? Half(op, scalar, in) : Float(op, in);
    FRAZIL_CASES(Inverse) return scalar == Scalar::Field ? Field(op, in) : XField(op, in, 0);
    FRAZIL_CASES(Parts) return XField(op, in, part);
    FRAZIL_CASES(Comparison) return Compare(op, type, in[0], in[1]);
    case Op::Select: return builder_.CreateSelect(in[0], in[1], in[2]);
    FRAZIL_CASES(Bits) return Bits(op, type, in);
    case Op::Cast: return Cast(type, from, in[0]);
    case Op::Bitcast: return Bitcast(type, from, in[0]);
    FRAZIL_CASES(Checked)
    FRAZIL_CASES(CheckedDivision)
    case Op::CastChecked: return ComputeChecked(op, type, from, in).value;
    // Constants, memory, streams and structure: FunctionEmitter.
    FRAZIL_CASES(Data)
    FRAZIL_CASES(Memory)
    FRAZIL_CASES(Stream)
    FRAZIL_CASES(Stop)
    FRAZIL_CASES(Region)
    FRAZIL_CASES(Call)
    FRAZIL_CASES(Terminator)
    // Gone after ir::LowerForTarget.
    FRAZIL_CASES(Barrier)
    FRAZIL_CASES(Prelude)
    FRAZIL_CASES(Prover)
    FRAZIL_CASES(Tensor) break;
  }
  CHECK(!"an op that computes");
  return nullptr;
}

bool ComputesVector(Op op, ir::Type type, ir::Type from, bool modern) {
  for (ir::Type t : {type, from}) {
    if (t.scalar == Scalar::Int || t.scalar == Scalar::XField || t.scalar == Scalar::Digest)
      return false;
  }
  // Without hardware these are calls; LLVM would take 128-bit lanes for the others.
  if (op == Op::Fma) return type.scalar == Scalar::F32 || modern;
  if (op == Op::FieldDiv || op == Op::Invert) return false;
  if (type.scalar == Scalar::Field && op == Op::Mul) return modern;
  if (op == Op::MulHi && ir::BitsOf(type) == 64) return false;
  return true;
}

// --- integers -----------------------------------------------------------------------------------------------

llvm::Value* OpEmitter::Integer(Op op, ir::Type type, std::span<const V> in) {
  const bool is_signed = ir::IsSigned(type.scalar);
  switch (op) {
    case Op::Add: return builder_.CreateAdd(in[0], in[1]);
    case Op::Sub: return builder_.CreateSub(in[0], in[1]);
    case Op::Mul: return builder_.CreateMul(in[0], in[1]);
    case Op::Neg: return builder_.CreateNeg(in[0]);
    case Op::Abs:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, in[0], builder_.getFalse());
    case Op::Min:
      return builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, in[0], in[1]);
    case Op::Max:
      return builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, in[0], in[1]);
    case Op::MulHi: {
      const uint32_t bits = static_cast<uint32_t>(ir::BitsOf(type));
      llvm::Type* const wide = Lanes(builder_.getIntNTy(2 * bits), in[0]);
      auto widen = [&](V x) {
        return is_signed ? builder_.CreateSExt(x, wide) : builder_.CreateZExt(x, wide);
      };
      const V product = builder_.CreateMul(widen(in[0]), widen(in[1]));
      return builder_.CreateTrunc(builder_.CreateLShr(product, bits), in[0]->getType());
    }
    default: break;
  }
  CHECK(!"an integer op");
  return nullptr;
}

llvm::Value* OpEmitter::Bits(Op op, ir::Type type, std::span<const V> in) {
  auto amount = [&] {
    return builder_.CreateAnd(in[1], Int(in[1], static_cast<uint64_t>(ir::BitsOf(type) - 1)));
  };
  auto funnel = [&](ID id) {
    return builder_.CreateIntrinsic(in[0]->getType(), id, {in[0], in[0], in[1]});
  };
  switch (op) {
    case Op::And: return builder_.CreateAnd(in[0], in[1]);
    case Op::Or: return builder_.CreateOr(in[0], in[1]);
    case Op::Xor: return builder_.CreateXor(in[0], in[1]);
    case Op::Not: return builder_.CreateNot(in[0]);
    case Op::Shl: return builder_.CreateShl(in[0], amount());
    case Op::Shr:
      return ir::IsSigned(type.scalar) ? builder_.CreateAShr(in[0], amount())
                                       : builder_.CreateLShr(in[0], amount());
    case Op::Rotl: return funnel(llvm::Intrinsic::fshl);
    case Op::Rotr: return funnel(llvm::Intrinsic::fshr);
    case Op::Clz:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, in[0], builder_.getFalse());
    case Op::Ctz:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, in[0], builder_.getFalse());
    case Op::Popcnt: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, in[0]);
    default: break;
  }
  CHECK(!"an op on bits");
  return nullptr;
}

llvm::Value* OpEmitter::IsZero(ir::Type type, V value) {
  if (type.scalar != Scalar::XField && type.scalar != Scalar::Digest)
    return builder_.CreateICmpEQ(value, Int(value, 0));
  V any = builder_.CreateExtractValue(value, 0);
  for (uint32_t i = 1; i < ir::WordsOf(type); ++i)
    any = builder_.CreateOr(any, builder_.CreateExtractValue(value, i));
  return builder_.CreateICmpEQ(any, Int(any, 0));
}

llvm::Value* OpEmitter::Compare(Op op, ir::Type type, V a, V b) {
  using P = llvm::CmpInst::Predicate;
  if (ir::IsFloat(type.scalar)) {
    if (IsHalf(type.scalar)) {
      a = WidenHalf(type.scalar, a);
      b = WidenHalf(type.scalar, b);
    }
    const P predicate = op == Op::Eq   ? P::FCMP_OEQ
                        : op == Op::Ne ? P::FCMP_UNE
                        : op == Op::Lt ? P::FCMP_OLT
                        : op == Op::Le ? P::FCMP_OLE
                        : op == Op::Gt ? P::FCMP_OGT
                                       : P::FCMP_OGE;
    return builder_.CreateFCmp(predicate, a, b);
  }
  if (type.scalar == Scalar::XField || type.scalar == Scalar::Digest) {
    V differs = nullptr;
    for (uint32_t i = 0; i < ir::WordsOf(type); ++i) {
      const V d =
          builder_.CreateXor(builder_.CreateExtractValue(a, i), builder_.CreateExtractValue(b, i));
      differs = differs == nullptr ? d : builder_.CreateOr(differs, d);
    }
    return builder_.CreateICmp(op == Op::Eq ? P::ICMP_EQ : P::ICMP_NE, differs, Int(differs, 0));
  }
  const bool is_signed = ir::IsSigned(type.scalar);
  const P predicate = op == Op::Eq   ? P::ICMP_EQ
                      : op == Op::Ne ? P::ICMP_NE
                      : op == Op::Lt ? (is_signed ? P::ICMP_SLT : P::ICMP_ULT)
                      : op == Op::Le ? (is_signed ? P::ICMP_SLE : P::ICMP_ULE)
                      : op == Op::Gt ? (is_signed ? P::ICMP_SGT : P::ICMP_UGT)
                                     : (is_signed ? P::ICMP_SGE : P::ICMP_UGE);
  return builder_.CreateICmp(predicate, a, b);
}

// --- checked ------------------------------------------------------------------------------------------------

OpEmitter::Checked OpEmitter::ComputeChecked(Op op, ir::Type type, ir::Type from,
                                             std::span<const V> in) {
  const bool is_signed = ir::IsSigned(type.scalar);
  const bool is_large = type.scalar == Scalar::Int && type.limbs > 1;
  auto with_overflow = [&](ID of_signed, ID of_unsigned, V a, V b) -> Checked {
    const V pair = builder_.CreateBinaryIntrinsic(is_signed ? of_signed : of_unsigned, a, b);
    return {builder_.CreateExtractValue(pair, 0), builder_.CreateExtractValue(pair, 1)};
  };
  auto least = [&](V like) {
    return llvm::ConstantInt::get(
        like->getType(), llvm::APInt::getSignedMinValue(like->getType()->getScalarSizeInBits()));
  };
  switch (op) {
    case Op::AddChecked:
      return with_overflow(llvm::Intrinsic::sadd_with_overflow, llvm::Intrinsic::uadd_with_overflow,
                           in[0], in[1]);
    case Op::SubChecked:
      return with_overflow(llvm::Intrinsic::ssub_with_overflow, llvm::Intrinsic::usub_with_overflow,
                           in[0], in[1]);
    case Op::MulChecked:
      if (is_large) return WideByHelper(op, type, in[0], in[1]);
      return with_overflow(llvm::Intrinsic::smul_with_overflow, llvm::Intrinsic::umul_with_overflow,
                           in[0], in[1]);
    case Op::NegChecked:
      if (!is_signed)
        return {builder_.CreateNeg(in[0]), builder_.CreateICmpNE(in[0], Int(in[0], 0))};
      return {builder_.CreateNeg(in[0]), builder_.CreateICmpEQ(in[0], least(in[0]))};
    case Op::AbsChecked: {
      const V negative = builder_.CreateICmpSLT(in[0], Int(in[0], 0));
      return {builder_.CreateSelect(negative, builder_.CreateNeg(in[0]), in[0]),
              builder_.CreateICmpEQ(in[0], least(in[0]))};
    }
    case Op::DivChecked: {
      if (is_large) return WideByHelper(op, type, in[0], in[1]);
      V overflow = nullptr;
      if (is_signed)
        overflow = builder_.CreateAnd(
            builder_.CreateICmpEQ(in[0], least(in[0])),
            builder_.CreateICmpEQ(in[1], llvm::Constant::getAllOnesValue(in[1]->getType())));
      return {Division(op, type, in[0], in[1]), overflow};
    }
    case Op::RemChecked:
      if (is_large) return {WideByHelper(op, type, in[0], in[1]).value, nullptr};
      return {Division(op, type, in[0], in[1]), nullptr};
    case Op::CastChecked: break;
    default: CHECK(!"a checked op");
  }
  // Equal if it comes back; a change of signedness needs a sign that both can hold.
  const V x = in[0];
  const uint32_t from_bits = BitsInRegister(from);
  const uint32_t to_bits = BitsInRegister(type);
  const bool from_signed = ir::IsSigned(from.scalar);
  llvm::Type* const to = Lanes(TypeOf(type), x);
  const V value =
      from_signed ? builder_.CreateSExtOrTrunc(x, to) : builder_.CreateZExtOrTrunc(x, to);
  V overflow = nullptr;
  if (to_bits < from_bits) {
    const V back = is_signed ? builder_.CreateSExt(value, x->getType())
                             : builder_.CreateZExt(value, x->getType());
    overflow = builder_.CreateICmpNE(back, x);
    if (is_signed && !from_signed)
      overflow = builder_.CreateOr(overflow, builder_.CreateICmpSLT(value, Int(value, 0)));
  } else if (from_signed && !is_signed) {
    overflow = builder_.CreateICmpSLT(x, Int(x, 0));
  } else if (!from_signed && is_signed && to_bits == from_bits) {
    overflow = builder_.CreateICmpSLT(value, Int(value, 0));
  }
  return {value, overflow};
}

OpEmitter::Checked OpEmitter::WideByHelper(Op op, ir::Type type, V a, V b) {
  const uint32_t limbs = type.limbs;
  const exec::NativeHelper helper = op == Op::MulChecked   ? exec::NativeHelper::WideMul
                                    : op == Op::DivChecked ? exec::NativeHelper::WideDiv
                                                           : exec::NativeHelper::WideRem;
  const V result = helpers_->StackWords(0, limbs);
  const V first = helpers_->StackWords(1, limbs);
  const V second = helpers_->StackWords(2, limbs);
  builder_.CreateAlignedStore(a, first, llvm::Align(8));
  builder_.CreateAlignedStore(b, second, llvm::Align(8));
  const V status =
      helpers_->CallHelper(helper, builder_.getInt32Ty(),
                           std::vector<V>{result, first, second, builder_.getInt64(limbs)});
  const V value = builder_.CreateAlignedLoad(a->getType(), result, llvm::Align(8));
  return {value, builder_.CreateICmpNE(status, builder_.getInt32(0))};
}

}  // namespace frazil::targets
