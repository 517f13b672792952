// Helpers for floats. Nothing here relies on the bits of a NaN: who moves the result canonicalizes
// it. fma: f32 through an exact f64 product and a sum rounded to odd; f64 in integers of 128 bits.
#include "targets/wasm/helpers/helper_code.h"

namespace frazil::targets::wasm {
namespace {

Expr Promote(const Expr& a) { return Apply(Opcode::F64PromoteF32, ValType::F64, {a}); }
Expr Demote(const Expr& a) { return Apply(Opcode::F32DemoteF64, ValType::F32, {a}); }
Expr Abs64(const Expr& a) { return Apply(Opcode::F64Abs, ValType::F64, {a}); }

void BuildMinMax(HelperCode& f, Opcode op) {
  Var a = f.Param(0), b = f.Param(1);
  // Without branches: what a program folds may never be a NaN on one side.
  Expr either = Apply(op, a.type, {a, b});
  f.Return({Choose(Ne(a, a), b, Choose(Ne(b, b), a, either))});
}

}  // namespace

void BuildMin32(HelperCode& f) { BuildMinMax(f, Opcode::F32Min); }
void BuildMax32(HelperCode& f) { BuildMinMax(f, Opcode::F32Max); }
void BuildMin64(HelperCode& f) { BuildMinMax(f, Opcode::F64Min); }
void BuildMax64(HelperCode& f) { BuildMinMax(f, Opcode::F64Max); }

// The product of two f32 is exact in f64. The sum's error says where the true value lies; if the
// last bit of the sum is even and the sum is inexact, the odd neighbor on that side rounds to f32
// as the true value does.
void BuildFma32(HelperCode& f) {
  Var product = f.Let(Promote(f.Param(0)) * Promote(f.Param(1)));
  Var addend = f.Let(Promote(f.Param(2)));
  Var sum = f.Let(product + addend);
  Var part = f.Let(sum - product);
  Var error = f.Let((product - (sum - part)) + (addend - part));
  Var bits = f.Let(BitsOf(sum));
  Expr zero = LitF64(0);
  // False for the NaN errors of infinite sums.
  Expr inexact = Lt(error, zero) | Gt(error, zero);
  Expr away = Eq(Gt(sum, zero), Gt(error, zero));
  Expr step = Choose(away, Lit64(1), Lit64(~uint64_t{0}));
  Expr is_even = IsZero(bits & 1);
  f.Return({Demote(FloatOf(bits + Choose(inexact & is_even, step, Lit64(0))))});
}

namespace {

// A finite nonzero number as mantissa * 2^exponent with 2^52 <= mantissa < 2^53.
struct Unpacked {
  Var mantissa;
  Var exponent;
  Var sign;  // 0 or 1
};

Unpacked Unpack(HelperCode& f, const Var& x) {
  Var bits = f.Let(BitsOf(x));
  Var fraction = f.Let(bits & ((int64_t{1} << 52) - 1));
  Var biased = f.Let(ShrU(bits, 52) & 0x7ff);
  Var is_subnormal = f.Let(IsZero(biased));
  Var shift = f.Let(Clz(fraction) - 11);
  Expr mantissa = Choose(is_subnormal, Shl(fraction, shift), fraction | (int64_t{1} << 52));
  Expr exponent = Choose(is_subnormal, Lit64(static_cast<uint64_t>(-1074)) - shift, biased - 1075);
  return {f.Let(mantissa), f.Let(exponent), f.Let(ShrU(bits, 63))};
}

// A number of 128 bits times 2^exponent.
struct Wide {
  Var high, low, exponent, sign;
};

// All of it without branches: which ways a program's numbers take is the program's business, and code that no sample
// runs is not admitted.
void SwapIf(HelperCode& f, const Var& condition, const Var& a, const Var& b) {
  Var held = f.Let(Choose(condition, b, a));
  f.Set(b, Choose(condition, a, b));
  f.Set(a, held);
}

// Shifts right; what falls out stays as the lowest bit. Numbers are below 2^126: 127 is as good as more.
void ShiftRightSticky(HelperCode& f, const Wide& x, const Expr& amount) {
  Var by = f.Let(amount);
  f.Set(by, Choose(GtU(by, 127), Lit64(127), by));
  Var is_far = f.Let(GeU(by, 64));
  Var low = f.Let(Choose(is_far, x.high, x.low));
  Var high = f.Let(Choose(is_far, Lit64(0), x.high));
  // By less than 64; in two steps to the left, because 64 would be 0.
  Var rest = f.Let(by & 63), left = f.Let(Lit64(63) - rest);
  Expr lost = Shl(Shl(low, 1), left) | Choose(is_far, x.low, Lit64(0));
  f.Set(x.low, ShrU(low, rest) | Shl(Shl(high, 1), left) | ExtendU(Ne(lost, 0)));
  f.Set(x.high, ShrU(high, rest));
}

// a + b into a, where both have the same exponent.
void AddWide(HelperCode& f, const Wide& a, const Wide& b) {
  Var is_same = f.Let(Eq(a.sign, b.sign));
  Var sum_low = f.Let(a.low + b.low);
  Var sum_high = f.Let(a.high + b.high + ExtendU(LtU(sum_low, b.low)));
  Var is_less = f.Let(LtU(a.high, b.high) | (Eq(a.high, b.high) & LtU(a.low, b.low)));
  SwapIf(f, is_less, a.high, b.high);
  SwapIf(f, is_less, a.low, b.low);
  Var borrow = f.Let(ExtendU(LtU(a.low, b.low)));
  f.Set(a.low, Choose(is_same, sum_low, a.low - b.low));
  f.Set(a.high, Choose(is_same, sum_high, a.high - b.high - borrow));
  f.Set(a.sign, Choose(is_less, b.sign, a.sign));
}

// To nearest even, subnormals and overflow included.
Expr Rounded(HelperCode& f, const Wide& x) {
  Var is_zero = f.Let(IsZero(x.high | x.low));
  // The leading bit to bit 63 of `top`; everything below is sticky.
  Var is_low = f.Let(IsZero(x.high));
  f.Set(x.high, Choose(is_low, x.low, x.high));
  f.Set(x.low, Choose(is_low, Lit64(0), x.low));
  f.Set(x.exponent, x.exponent - Shl(ExtendU(is_low), 6));
  Var shift = f.Let(Clz(x.high));
  f.Set(x.high, Shl(x.high, shift) | ShrU(ShrU(x.low, 1), Lit64(63) - shift));
  f.Set(x.low, Shl(x.low, shift));
  Var top = f.Let(x.high | ExtendU(Ne(x.low, 0)));
  Var exponent = f.Let(x.exponent + 64 - shift);
  Var biased = f.Let(exponent + (63 + 1023));
  Var is_infinite = f.Let(GtS(biased, 2046));
  // Subnormals have no hidden bit to add: packing below adds biased - 1 = 0.
  Var is_subnormal = f.Let(LtS(biased, 1));
  Var drop = f.Let(Choose(is_subnormal, Lit64(static_cast<uint64_t>(-1074)) - exponent, Lit64(11)));
  f.Set(biased, Choose(is_subnormal, Lit64(1), biased));
  constexpr int64_t Most = 60;
  Var more = f.Let(drop - Most);
  Expr shifted = ShrU(top, more) | ExtendU(Ne(Shl(top, Lit64(64) - more), 0));
  f.Set(top, Choose(GtS(more, 0), Choose(GtS(more, 63), Lit64(1), shifted), top));
  f.Set(drop, Choose(GtS(more, 0), Lit64(Most), drop));
  Var kept = f.Let(ShrU(top, drop));
  Var rest = f.Let(top & (Shl(Lit64(1), drop) - 1));
  Var half = f.Let(Shl(Lit64(1), drop - 1));
  Expr up = GtU(rest, half) | (Eq(rest, half) & Wrap(kept & 1));
  Expr finite = Shl(biased - 1, 52) + kept + ExtendU(up);
  Expr number = Choose(is_infinite, Lit64(uint64_t{0x7ff} << 52), finite) | Shl(x.sign, 63);
  return Choose(is_zero, LitF64(0), FloatOf(number));
}

}  // namespace

void BuildFma64(HelperCode& f) {
  Var x = f.Param(0), y = f.Param(1), z = f.Param(2);
  auto is_finite = [](const Expr& a) { return Lt(Abs64(a), LitF64(uint64_t{0x7ff} << 52)); };
  Expr zero = LitF64(0);
  Unpacked ux = Unpack(f, x), uy = Unpack(f, y), uz = Unpack(f, z);
  // The product has its leading bit at 104 or 105; both sides are moved up to bit 124 or 125.
  Var product_high = f.Let(f.Call(Helper::MulHiU, {ux.mantissa, uy.mantissa}));
  Var product_low = f.Let(ux.mantissa * uy.mantissa);
  Wide a{f.Let(Shl(product_high, 20) | ShrU(product_low, 44)), f.Let(Shl(product_low, 20)),
         f.Let(ux.exponent + uy.exponent - 20), f.Let(ux.sign ^ uy.sign)};
  Wide b{f.Let(Shl(uz.mantissa, 9)), f.Let(Lit64(0)), f.Let(uz.exponent - 73), uz.sign};
  Var is_below = f.Let(LtS(a.exponent, b.exponent));
  SwapIf(f, is_below, a.high, b.high);
  SwapIf(f, is_below, a.low, b.low);
  SwapIf(f, is_below, a.exponent, b.exponent);
  SwapIf(f, is_below, a.sign, b.sign);
  ShiftRightSticky(f, b, a.exponent - b.exponent);
  AddWide(f, a, b);
  Expr rounded = Rounded(f, a);
  // An infinite or zero factor: the product is exact.
  Expr is_exact = IsZero(is_finite(x) & is_finite(y)) | Eq(x, zero) | Eq(y, zero);
  Expr rest = Choose(IsZero(is_finite(z)), z, Choose(Eq(z, zero), x * y, rounded));
  f.Return({Choose(is_exact, x * y + z, rest)});
}

// Scaling by 2^112 moves the exponent; it is exact for subnormals too.
void BuildHalfToFloat(HelperCode& f) {
  Var half = f.Param(0);
  Var magnitude = f.Let(half & 0x7fff);
  Expr sign = Shl(half & 0x8000, 16);
  constexpr uint32_t TwoTo112 = 0x77800000;
  Expr scaled = BitsOf(FloatOf(Shl(magnitude, 13)) * LitF32(TwoTo112));
  Expr special = Shl(magnitude, 13) | 0x7f800000;
  f.Return({FloatOf(Choose(GeU(magnitude, 0x7c00), special, scaled) | sign)});
}

void BuildFloatToHalf(HelperCode& f) {
  Var bits = f.Let(BitsOf(f.Param(0)));
  Var sign = f.Let(ShrU(bits, 16) & 0x8000);
  Var magnitude = f.Let(bits & 0x7fffffff);
  constexpr int64_t Infinity = 0x7f800000, RoundsToInfinity = 0x477ff000, LeastNormal = 0x38800000;
  // Beside 0.5 the last bit of an f32 is the last bit of a subnormal f16.
  constexpr int64_t Half = 0x3f000000;
  Expr subnormal = BitsOf(FloatOf(magnitude) + LitF32(Half)) - Half;
  constexpr int64_t Rebias = int64_t{112} << 23;
  Expr normal = ShrU(magnitude - Rebias + 0xfff + (ShrU(magnitude, 13) & 1), 13);
  Expr finite = Choose(LtU(magnitude, LeastNormal), subnormal, normal);
  Expr number = sign | Choose(GeU(magnitude, RoundsToInfinity), Lit32(0x7c00), finite);
  f.Return({Choose(GtU(magnitude, Infinity), Lit32(0x7e00), number)});
}

void BuildFloatToBfloat(HelperCode& f) {
  Var bits = f.Let(BitsOf(f.Param(0)));
  Expr number = ShrU(bits + 0x7fff + (ShrU(bits, 16) & 1), 16);
  f.Return({Choose(GtU(bits & 0x7fffffff, 0x7f800000), Lit32(0x7fc0), number)});
}

// To f32 by rounding to odd, so that a second rounding to f16 or bf16 is as if it were the only
// one.
void BuildDemoteOdd(HelperCode& f) {
  Var x = f.Param(0);
  Var near = f.Let(Demote(x));
  Var back = f.Let(Promote(near));
  Expr odd = FloatOf((BitsOf(near) - Gt(Abs64(back), Abs64(x))) | 1);
  f.Return({Choose(Eq(back, x) | Ne(x, x), near, odd)});
}

namespace {

// An integer of more than 53 bits keeps 53; one bit says whether the rest was zero.
void BuildSticky(HelperCode& f, Opcode shift_op, Opcode convert, const Expr& is_small) {
  Var x = f.Param(0);
  Expr kept = Apply(shift_op, ValType::I64, {x, Lit64(11)}) | ExtendU(Ne(x & 0x7ff, 0));
  constexpr uint64_t TwoTo11 = uint64_t{1023 + 11} << 52;
  Expr large = Apply(convert, ValType::F64, {kept}) * LitF64(TwoTo11);
  f.Return({Choose(is_small, Apply(convert, ValType::F64, {x}), large)});
}

}  // namespace

void BuildStickySigned(HelperCode& f) {
  Expr is_small = LtU(f.Param(0) + (int64_t{1} << 53), int64_t{1} << 54);
  BuildSticky(f, Opcode::I64ShrS, Opcode::F64ConvertI64S, is_small);
}
void BuildStickyUnsigned(HelperCode& f) {
  BuildSticky(f, Opcode::I64ShrU, Opcode::F64ConvertI64U, LtU(f.Param(0), int64_t{1} << 53));
}

}  // namespace frazil::targets::wasm
