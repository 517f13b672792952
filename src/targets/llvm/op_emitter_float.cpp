// Floats and conversions. Nothing here may become a call of a library, which code without relocations cannot make:
// what baseline x86-64 has no instruction for is written out. f16 and bf16 are their bits; an op on them widens,
// computes in f32 and rounds once.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <cmath>

#include "base/check.h"
#include "base/number/goldilocks.h"
#include "targets/llvm/op_emitter.h"

namespace frazil::targets {

using ir::Op;
using ir::Scalar;

namespace {

bool IsHalf(Scalar scalar) { return ir::Contains(ir::sets::Half, scalar); }

bool IsDouble(llvm::Value* x) { return x->getType()->getScalarType()->isDoubleTy(); }

}  // namespace

llvm::Value* OpEmitter::Canonical(V value) {
  const V nan = llvm::ConstantFP::getQNaN(value->getType());
  return builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), nan, value);
}

llvm::Value* OpEmitter::Float(Op op, std::span<const V> in) {
  using namespace llvm::Intrinsic;
  switch (op) {
    case Op::Add: return builder_.CreateFAdd(in[0], in[1]);
    case Op::Sub: return builder_.CreateFSub(in[0], in[1]);
    case Op::Mul: return builder_.CreateFMul(in[0], in[1]);
    case Op::Div: return builder_.CreateFDiv(in[0], in[1]);
    case Op::Neg: return builder_.CreateFNeg(in[0]);
    case Op::Abs: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, in[0]);
    case Op::Sqrt: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, in[0]);
    case Op::CopySign: return CopySign(in[0], in[1]);
    case Op::Min:
    case Op::Max:
      if (in[0]->getType()->isVectorTy()) return LanesMinMax(op == Op::Max, in[0], in[1]);
      if (op == Op::Min)
        return DropNan(in[0], in[1], builder_.CreateBinaryIntrinsic(minimum, in[0], in[1]));
      return DropNan(in[0], in[1], builder_.CreateBinaryIntrinsic(maximum, in[0], in[1]));
    case Op::Minimum: return builder_.CreateBinaryIntrinsic(minimum, in[0], in[1]);
    case Op::Maximum: return builder_.CreateBinaryIntrinsic(maximum, in[0], in[1]);
    case Op::Fma: return Fma(in[0], in[1], in[2]);
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Nearest: return RoundToIntegral(op, in[0]);
    default: break;
  }
  CHECK(!"a float op");
  return nullptr;
}

// Not llvm.minimumnum: where LLVM 22 knows that one operand is a number, its AVX-512 form gives the other one's NaN.
llvm::Value* OpEmitter::DropNan(V a, V b, V chosen) {
  const V unless_b = builder_.CreateSelect(builder_.CreateFCmpUNO(b, b), a, chosen);
  return builder_.CreateSelect(builder_.CreateFCmpUNO(a, a), b, unless_b);
}

// In lanes by x86's own instruction, which gives the second operand for a NaN and for zeros of either sign: half as long
// as LLVM's minimum with its NaN undone.
llvm::Value* OpEmitter::LanesMinMax(bool is_max, V a, V b) {
  if (llvm::isa<llvm::Constant>(a)) std::swap(a, b);
  const V first = is_max ? builder_.CreateFCmpOGT(a, b) : builder_.CreateFCmpOLT(a, b);
  const V chosen = builder_.CreateSelect(first, a, b);
  const llvm::APFloat* known = nullptr;
  if (llvm::PatternMatch::match(b, llvm::PatternMatch::m_APFloat(known)) && !known->isNaN() &&
      (!known->isZero() || known->isNegative() != is_max))
    return chosen;
  // Of zeros, both bits that are set or either: equal numbers that are no zeros have the same bits.
  llvm::Type* const bits = Lanes(builder_.getIntNTy(IsDouble(a) ? 64 : 32), a);
  const V x = builder_.CreateBitCast(a, bits);
  const V y = builder_.CreateBitCast(b, bits);
  const V both = is_max ? builder_.CreateAnd(x, y) : builder_.CreateOr(x, y);
  const V number = builder_.CreateSelect(builder_.CreateFCmpOEQ(a, b),
                                         builder_.CreateBitCast(both, a->getType()), chosen);
  return builder_.CreateSelect(builder_.CreateFCmpUNO(b, b), a, number);
}

llvm::Value* OpEmitter::CopySign(V magnitude, V sign) {
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

llvm::Value* OpEmitter::Fma(V a, V b, V c) {
  if (modern_) return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  if (!IsDouble(a)) return FmaByDouble(a, b, c);
  return helpers_->CallHelper(exec::NativeHelper::Fma, builder_.getDoubleTy(),
                              std::vector<V>{a, b, c});
}

// The product of two f32 is exact in f64. Its sum with c is rounded to odd there, by the exact error of the sum, so
// that the second rounding is right.
llvm::Value* OpEmitter::FmaByDouble(V a, V b, V c) {
  llvm::Type* const f64 = Lanes(builder_.getDoubleTy(), a);
  llvm::Type* const i64 = Lanes(builder_.getInt64Ty(), a);
  const V product = builder_.CreateFMul(builder_.CreateFPExt(a, f64), builder_.CreateFPExt(b, f64));
  const V addend = builder_.CreateFPExt(c, f64);
  const V sum = builder_.CreateFAdd(product, addend);
  const V added = builder_.CreateFSub(sum, product);
  const V error = builder_.CreateFAdd(builder_.CreateFSub(product, builder_.CreateFSub(sum, added)),
                                      builder_.CreateFSub(addend, added));
  const V bits = builder_.CreateBitCast(sum, i64);
  const V error_bits = builder_.CreateBitCast(error, i64);
  const V zero = Real(sum, 0);
  const V is_inexact = builder_.CreateFCmpONE(error, zero);
  const V is_even = builder_.CreateICmpEQ(builder_.CreateAnd(bits, Int(bits, 1)), Int(bits, 0));
  // Away from zero where the error has the sum's sign.
  const V towards_zero = builder_.CreateICmpSLT(builder_.CreateXor(bits, error_bits), Int(bits, 0));
  const V step =
      builder_.CreateSelect(towards_zero, llvm::Constant::getAllOnesValue(i64), Int(bits, 1));
  const V odd = builder_.CreateSelect(builder_.CreateAnd(is_inexact, is_even),
                                      builder_.CreateAdd(bits, step), bits);
  return builder_.CreateFPTrunc(builder_.CreateBitCast(odd, f64), a->getType());
}

llvm::Value* OpEmitter::RoundToIntegral(Op op, V x) {
  if (modern_) {
    const auto id = op == Op::Floor   ? llvm::Intrinsic::floor
                    : op == Op::Ceil  ? llvm::Intrinsic::ceil
                    : op == Op::Trunc ? llvm::Intrinsic::trunc
                                      : llvm::Intrinsic::roundeven;
    return builder_.CreateUnaryIntrinsic(id, x);
  }
  const bool is_double = IsDouble(x);
  const V least_whole = Real(x, is_double ? 0x1p52 : 0x1p23);
  const V has_fraction =
      builder_.CreateFCmpOLT(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), least_whole);
  V rounded;
  if (op == Op::Nearest) {
    const V magic = CopySign(least_whole, x);
    rounded = builder_.CreateFSub(builder_.CreateFAdd(x, magic), magic);
  } else {
    // Numbers without a fraction, and NaNs, are not converted.
    const V small = builder_.CreateSelect(has_fraction, x, Real(x, 0));
    llvm::Type* const whole = Lanes(builder_.getIntNTy(is_double ? 64 : 32), x);
    rounded = builder_.CreateSIToFP(builder_.CreateFPToSI(small, whole), x->getType());
    const V one = Real(x, 1);
    if (op == Op::Floor)
      rounded = builder_.CreateSelect(builder_.CreateFCmpOGT(rounded, x),
                                      builder_.CreateFSub(rounded, one), rounded);
    if (op == Op::Ceil)
      rounded = builder_.CreateSelect(builder_.CreateFCmpOLT(rounded, x),
                                      builder_.CreateFAdd(rounded, one), rounded);
  }
  return builder_.CreateSelect(has_fraction, CopySign(rounded, x), x);
}

// --- 16 bits ------------------------------------------------------------------------------------------------

llvm::Value* OpEmitter::Half(Op op, Scalar half, std::span<const V> in) {
  // Only a sign is read of the second, which widening a NaN may lose.
  if (op == Op::CopySign) {
    const V sign = builder_.CreateAnd(in[1], Int(in[1], 0x8000));
    const V magnitude = builder_.CreateAnd(in[0], Int(in[0], 0x7fff));
    const uint64_t infinity = half == Scalar::F16 ? 0x7c00 : 0x7f80;
    const V is_nan = builder_.CreateICmpUGT(magnitude, Int(magnitude, infinity));
    const V nan = Int(magnitude, half == Scalar::F16 ? 0x7e00 : 0x7fc0);
    return builder_.CreateSelect(is_nan, nan, builder_.CreateOr(magnitude, sign));
  }
  std::vector<V> wide;
  for (V x : in) wide.push_back(WidenHalf(half, x));
  return RoundToHalf(half, Float(op, wide));
}

llvm::Value* OpEmitter::WidenHalf(Scalar half, V bits) {
  llvm::Type* const i32 = Lanes(builder_.getInt32Ty(), bits);
  llvm::Type* const f32 = Lanes(builder_.getFloatTy(), bits);
  if (half == Scalar::BF16)
    return builder_.CreateBitCast(builder_.CreateShl(builder_.CreateZExt(bits, i32), 16), f32);
  if (modern_)
    return builder_.CreateFPExt(builder_.CreateBitCast(bits, Lanes(builder_.getHalfTy(), bits)),
                                f32);
  const V wide = builder_.CreateZExt(bits, i32);
  const V sign = builder_.CreateShl(builder_.CreateAnd(wide, Int(wide, 0x8000)), 16);
  const V magnitude = builder_.CreateAnd(wide, Int(wide, 0x7fff));
  const V shifted = builder_.CreateShl(magnitude, 13);
  const V special = builder_.CreateICmpUGE(magnitude, Int(wide, 0x7c00));
  const V normal = builder_.CreateAdd(
      shifted, builder_.CreateSelect(special, Int(wide, 0x7000'0000), Int(wide, 0x3800'0000)));
  const V counted = builder_.CreateSIToFP(magnitude, f32);
  const V tiny = builder_.CreateBitCast(builder_.CreateFMul(counted, Real(counted, 0x1p-24)), i32);
  const V is_tiny = builder_.CreateICmpULT(magnitude, Int(wide, 0x400));
  return builder_.CreateBitCast(
      builder_.CreateOr(sign, builder_.CreateSelect(is_tiny, tiny, normal)), f32);
}

llvm::Value* OpEmitter::RoundToHalf(Scalar half, V value) {
  if (IsDouble(value)) value = RoundToOdd(value);
  llvm::Type* const i32 = Lanes(builder_.getInt32Ty(), value);
  llvm::Type* const i16 = Lanes(builder_.getInt16Ty(), value);
  const V is_nan = builder_.CreateFCmpUNO(value, value);
  const V bits = builder_.CreateBitCast(value, i32);
  V rounded;
  if (half == Scalar::BF16) {
    const V odd = builder_.CreateAnd(builder_.CreateLShr(bits, 16), Int(bits, 1));
    const V biased = builder_.CreateAdd(bits, builder_.CreateAdd(odd, Int(bits, 0x7fff)));
    rounded = builder_.CreateTrunc(builder_.CreateLShr(biased, 16), i16);
  } else if (modern_) {
    rounded = builder_.CreateBitCast(
        builder_.CreateFPTrunc(value, Lanes(builder_.getHalfTy(), value)), i16);
  } else {
    const V sign = builder_.CreateAnd(builder_.CreateLShr(bits, 16), Int(bits, 0x8000));
    const V magnitude = builder_.CreateAnd(bits, Int(bits, 0x7fff'ffff));
    const V odd = builder_.CreateAnd(builder_.CreateLShr(magnitude, 13), Int(bits, 1));
    const V biased = builder_.CreateAdd(builder_.CreateAdd(magnitude, odd), Int(bits, 0xc800'0fff));
    const V normal = builder_.CreateLShr(biased, 13);
    // Adding 1/2 leaves units of 2^-24, rounded by the addition itself.
    const V half_value = Real(value, 0.5);
    const V summed =
        builder_.CreateFAdd(builder_.CreateBitCast(magnitude, value->getType()), half_value);
    const V tiny = builder_.CreateSub(builder_.CreateBitCast(summed, i32), Int(bits, 0x3f00'0000));
    V result = builder_.CreateSelect(builder_.CreateICmpULT(magnitude, Int(bits, 0x3880'0000)),
                                     tiny, normal);
    result = builder_.CreateSelect(builder_.CreateICmpUGE(magnitude, Int(bits, 0x4780'0000)),
                                   Int(bits, 0x7c00), result);
    rounded = builder_.CreateTrunc(builder_.CreateOr(result, sign), i16);
  }
  return builder_.CreateSelect(
      is_nan, llvm::ConstantInt::get(i16, half == Scalar::F16 ? 0x7e00 : 0x7fc0), rounded);
}

// f64 to f32: towards zero, then the last bit is 1 if that was not exact.
llvm::Value* OpEmitter::RoundToOdd(V x) {
  llvm::Type* const f32 = Lanes(builder_.getFloatTy(), x);
  llvm::Type* const i32 = Lanes(builder_.getInt32Ty(), x);
  const V nearest = builder_.CreateFPTrunc(x, f32);
  const V back = builder_.CreateFPExt(nearest, x->getType());
  const V bits = builder_.CreateBitCast(nearest, i32);
  auto magnitude = [&](V y) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, y); };
  const V too_large = builder_.CreateFCmpOGT(magnitude(back), magnitude(x));
  const V truncated = builder_.CreateSub(bits, builder_.CreateZExt(too_large, i32));
  const V odd = builder_.CreateOr(truncated, Int(bits, 1));
  const V is_inexact = builder_.CreateFCmpONE(back, x);
  return builder_.CreateBitCast(builder_.CreateSelect(is_inexact, odd, bits), f32);
}

llvm::Value* OpEmitter::IntegerToOdd(V a, bool is_signed) {
  const V zero = Int(a, 0);
  V magnitude = a;
  V negative = nullptr;
  if (is_signed) {
    negative = builder_.CreateICmpSLT(a, zero);
    magnitude = builder_.CreateSelect(negative, builder_.CreateNeg(a), a);
  }
  const V is_long = builder_.CreateICmpNE(builder_.CreateLShr(magnitude, 53), zero);
  const V low = builder_.CreateICmpNE(builder_.CreateAnd(magnitude, Int(a, 0x7ff)), zero);
  const V sticky = builder_.CreateSelect(low, Int(a, 0x800), zero);
  const V odd = builder_.CreateOr(builder_.CreateAnd(magnitude, Int(a, ~uint64_t{0x7ff})), sticky);
  const V f = builder_.CreateUIToFP(builder_.CreateSelect(is_long, odd, magnitude),
                                    Lanes(builder_.getDoubleTy(), a));
  return is_signed ? builder_.CreateSelect(negative, builder_.CreateFNeg(f), f) : f;
}

// --- conversions --------------------------------------------------------------------------------------------

llvm::Value* OpEmitter::CastToFloat(ir::Type type, ir::Type from, V a) {
  llvm::Type* const to = Lanes(IsHalf(type.scalar) ? builder_.getFloatTy() : TypeOf(type), a);
  if (ir::IsFloat(from.scalar)) {
    if (IsHalf(from.scalar)) a = WidenHalf(from.scalar, a);
    if (IsHalf(type.scalar)) return RoundToHalf(type.scalar, a);
    if (a->getType() == to) return a;
    return IsDouble(a) ? builder_.CreateFPTrunc(a, to) : builder_.CreateFPExt(a, to);
  }
  const bool is_signed = ir::IsSigned(from.scalar);
  const int bits = from.scalar == Scalar::Bool ? 1 : ir::BitsOf(from);
  if (IsHalf(type.scalar)) {
    if (bits == 64) return RoundToHalf(type.scalar, IntegerToOdd(a, is_signed));
    // Exact in f32 or f64.
    llvm::Type* const exact = Lanes(bits <= 16 ? builder_.getFloatTy() : builder_.getDoubleTy(), a);
    return RoundToHalf(
        type.scalar, is_signed ? builder_.CreateSIToFP(a, exact) : builder_.CreateUIToFP(a, exact));
  }
  return is_signed ? builder_.CreateSIToFP(a, to) : builder_.CreateUIToFP(a, to);
}

// Through 32 bits with a sign where they hold every value: every machine converts to those.
llvm::Value* OpEmitter::ToInteger(ir::Type type, V a) {
  const uint32_t bits = static_cast<uint32_t>(ir::BitsOf(type));
  llvm::Type* const wide = Lanes(builder_.getIntNTy(std::max(bits, 32u)), a);
  const V whole = ir::IsSigned(type.scalar) || bits < 32 ? builder_.CreateFPToSI(a, wide)
                                                         : builder_.CreateFPToUI(a, wide);
  return bits < 32 ? builder_.CreateTrunc(whole, Lanes(TypeOf(type), a)) : whole;
}

bool OpEmitter::FitsInteger(ir::Type type, FloatRange range) {
  const int bits = ir::BitsOf(type);
  const bool is_signed = ir::IsSigned(type.scalar);
  // A bound that is no double is left out: 2^63 itself is one, what stands before it is not.
  const double end = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  return !range.nan && range.low >= (is_signed ? -end : 0) && range.high < end;
}

// Bounds first, so that the conversion itself never meets what does not fit. LLVM's fptosi.sat on vectors is one lane after
// the other: a mix of 2^20 i16 through f32 on AVX-512 took 978 us with it and takes 203.
llvm::Value* OpEmitter::LanesToInteger(ir::Type type, V a) {
  const bool is_signed = ir::IsSigned(type.scalar);
  const uint32_t bits = static_cast<uint32_t>(ir::BitsOf(type));
  const llvm::APInt least =
      is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getZero(bits);
  const llvm::APInt most =
      is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  const llvm::fltSemantics& format = a->getType()->getScalarType()->getFltSemantics();
  auto bound = [&](const llvm::APInt& value) {
    llvm::APFloat number(format);
    const auto status = number.convertFromAPInt(value, is_signed, llvm::APFloat::rmTowardZero);
    return std::pair(llvm::ConstantFP::get(a->getType(), number), status == llvm::APFloat::opOK);
  };
  const auto [low, low_exact] = bound(least);
  const auto [high, high_exact] = bound(most);
  CHECK(low_exact);
  // A NaN is not above the least: it becomes that.
  const V from_low = builder_.CreateSelect(builder_.CreateFCmpOGT(a, low), a, low);
  const V inside = builder_.CreateSelect(builder_.CreateFCmpOLT(from_low, high), from_low, high);
  V result = ToInteger(type, inside);
  if (!high_exact)
    result = builder_.CreateSelect(builder_.CreateFCmpOGT(a, high),
                                   llvm::ConstantInt::get(result->getType(), most), result);
  if (is_signed)
    result = builder_.CreateSelect(builder_.CreateFCmpUNO(a, a), Int(result, 0), result);
  return result;
}

llvm::Value* OpEmitter::Cast(ir::Type type, ir::Type from, V a) {
  if (ir::IsFloat(type.scalar)) return CastToFloat(type, from, a);
  if (type == from) return a;
  llvm::Type* const to = Lanes(TypeOf(type), a);
  if (ir::IsFloat(from.scalar)) {
    if (IsHalf(from.scalar)) a = WidenHalf(from.scalar, a);
    if (to->isVectorTy() && ir::IsFixedInt(type.scalar)) return LanesToInteger(type, a);
    const auto id =
        ir::IsSigned(type.scalar) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return builder_.CreateIntrinsic(id, {to, a->getType()}, {a});
  }
  if (type.scalar == Scalar::XField) {
    const V zero = llvm::Constant::getNullValue(to);
    return builder_.CreateInsertValue(zero, a, 0);
  }
  if (type.scalar == Scalar::Field) {
    const bool is_signed = ir::IsSigned(from.scalar);
    const V wide = is_signed ? builder_.CreateSExt(a, to) : builder_.CreateZExt(a, to);
    if (!is_signed) return from.scalar == Scalar::U64 ? FieldReduce(wide) : wide;
    const V negative = builder_.CreateICmpSLT(wide, Int(wide, 0));
    return builder_.CreateSelect(negative, builder_.CreateAdd(wide, Int(wide, goldilocks::P)),
                                 wide);
  }
  return ir::IsSigned(from.scalar) ? builder_.CreateSExtOrTrunc(a, to)
                                   : builder_.CreateZExtOrTrunc(a, to);
}

llvm::Value* OpEmitter::Bitcast(ir::Type type, ir::Type, V a) {
  return builder_.CreateBitCast(a, Lanes(TypeOf(type), a));
}

llvm::Value* OpEmitter::Combine(ir::AtomicKind kind, ir::Type type, V old, V operand) {
  auto compute = [&](Op op) {
    const V value = Compute(op, type, type, std::vector<V>{old, operand});
    return ir::Contains(ir::sets::Wide, type.scalar) ? Canonical(value) : value;
  };
  switch (kind) {
    case ir::AtomicKind::Add: return compute(Op::Add);
    case ir::AtomicKind::Min: return compute(Op::Min);
    case ir::AtomicKind::Max: return compute(Op::Max);
    case ir::AtomicKind::And: return compute(Op::And);
    case ir::AtomicKind::Or: return compute(Op::Or);
    case ir::AtomicKind::Xor: return compute(Op::Xor);
    case ir::AtomicKind::Exchange: return operand;
  }
  CHECK(!"a kind of atomic");
  return nullptr;
}

}  // namespace frazil::targets
