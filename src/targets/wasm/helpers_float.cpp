// Helpers for floats. Nothing here relies on the bits of a NaN: who moves the result canonicalizes
// it. fma: f32 through an exact f64 product and a sum rounded to odd; f64 in integers of 128 bits.
#include "targets/wasm/helper_code.h"

namespace frazil::targets::wasm {
namespace {

Expr Promote(const Expr& a) { return Apply(Opcode::F64PromoteF32, ValType::F64, {a}); }
Expr Demote(const Expr& a) { return Apply(Opcode::F32DemoteF64, ValType::F32, {a}); }
Expr Abs64(const Expr& a) { return Apply(Opcode::F64Abs, ValType::F64, {a}); }

void BuildMinMax(HelperCode& f, Opcode op) {
  Var a = f.Param(0), b = f.Param(1);
  f.If(Ne(a, a), [&] { f.Return({b}); });
  f.If(Ne(b, b), [&] { f.Return({a}); });
  f.Return({Apply(op, a.type, {a, b})});
}

}  // namespace

void BuildMin32(HelperCode& f) { BuildMinMax(f, Opcode::F32Min); }
void BuildMax32(HelperCode& f) { BuildMinMax(f, Opcode::F32Max); }
void BuildMin64(HelperCode& f) { BuildMinMax(f, Opcode::F64Min); }
void BuildMax64(HelperCode& f) { BuildMinMax(f, Opcode::F64Max); }

// The product of two f32 is exact in f64. The sum's error says where the true value lies; if the
// last bit of the sum is even and the sum is inexact, the odd neighbour on that side rounds to f32
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
  f.If(inexact & IsZero(bits & 1), [&] {
    Expr away = Eq(Gt(sum, zero), Gt(error, zero));
    f.Set(bits, bits + Choose(away, Lit64(1), Lit64(~uint64_t{0})));
  });
  f.Return({Demote(FloatOf(bits))});
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
  Var mantissa = f.Let(bits & ((int64_t{1} << 52) - 1));
  Var exponent = f.Let(ShrU(bits, 52) & 0x7ff);
  f.If(
      IsZero(exponent),
      [&] {
        Var shift = f.Let(Clz(mantissa) - 11);
        f.Set(mantissa, Shl(mantissa, shift));
        f.Set(exponent, Lit64(static_cast<uint64_t>(-1074)) - shift);
      },
      [&] {
        f.Set(mantissa, mantissa | (int64_t{1} << 52));
        f.Set(exponent, exponent - 1075);
      });
  return {mantissa, exponent, f.Let(ShrU(bits, 63))};
}

// A number of 128 bits times 2^exponent.
struct Wide {
  Var high, low, exponent, sign;
};

void Swap(HelperCode& f, const Var& a, const Var& b) {
  Var held = f.Let(a);
  f.Set(a, b);
  f.Set(b, held);
}

// Shifts right by `by` >= 1; what falls out stays as the lowest bit.
void ShiftRightSticky(HelperCode& f, const Wide& x, const Var& by) {
  f.If(GeU(by, 128), [&] {
    f.Set(x.high, Lit64(0));
    f.Set(x.low, Lit64(1));
    f.Set(by, Lit64(0));
  });
  f.If(GeU(by, 64), [&] {
    Expr lost_high = Shl(x.high, Lit64(128) - by);
    Var lost = f.Let(x.low | Choose(Eq(by, 64), Lit64(0), lost_high));
    f.Set(x.low, ShrU(x.high, by - 64) | ExtendU(Ne(lost, 0)));
    f.Set(x.high, Lit64(0));
    f.Set(by, Lit64(0));
  });
  f.If(Ne(by, 0), [&] {
    Var left = f.Let(Lit64(64) - by);
    Var lost = f.Let(ExtendU(Ne(Shl(x.low, left), 0)));
    f.Set(x.low, ShrU(x.low, by) | Shl(x.high, left) | lost);
    f.Set(x.high, ShrU(x.high, by));
  });
}

// a + b into a, where a's exponent is the greater; returns from the helper if the sum is zero.
void AddWide(HelperCode& f, const Wide& a, const Wide& b) {
  f.If(
      Eq(a.sign, b.sign),
      [&] {
        f.Set(a.low, a.low + b.low);
        f.Set(a.high, a.high + b.high + ExtendU(LtU(a.low, b.low)));
      },
      [&] {
        Expr less = LtU(a.high, b.high) | (Eq(a.high, b.high) & LtU(a.low, b.low));
        f.If(less, [&] {
          Swap(f, a.high, b.high);
          Swap(f, a.low, b.low);
          f.Set(a.sign, b.sign);
        });
        Var borrow = f.Let(ExtendU(LtU(a.low, b.low)));
        f.Set(a.low, a.low - b.low);
        f.Set(a.high, a.high - b.high - borrow);
        f.If(IsZero(a.high | a.low), [&] { f.Return({LitF64(0)}); });
      });
}

// Rounds to nearest even and packs, subnormals and overflow included.
void RoundAndReturn(HelperCode& f, const Wide& x) {
  // The leading bit to bit 63 of `top`; everything below is sticky.
  f.If(IsZero(x.high), [&] {
    f.Set(x.high, x.low);
    f.Set(x.low, Lit64(0));
    f.Set(x.exponent, x.exponent - 64);
  });
  Var shift = f.Let(Clz(x.high));
  f.If(Ne(shift, 0), [&] {
    f.Set(x.high, Shl(x.high, shift) | ShrU(x.low, Lit64(64) - shift));
    f.Set(x.low, Shl(x.low, shift));
  });
  Var top = f.Let(x.high | ExtendU(Ne(x.low, 0)));
  Var exponent = f.Let(x.exponent + 64 - shift);
  Var biased = f.Let(exponent + (63 + 1023));
  f.If(GtS(biased, 2046),
       [&] { f.Return({FloatOf(Lit64(uint64_t{0x7ff} << 52) | Shl(x.sign, 63))}); });
  Var drop = f.Let(Lit64(11));
  f.If(LtS(biased, 1), [&] {
    f.Set(drop, Lit64(static_cast<uint64_t>(-1074)) - exponent);
    f.Set(biased, Lit64(1));
    constexpr int64_t Most = 60;
    f.If(GtS(drop, Most), [&] {
      Var more = f.Let(drop - Most);
      f.If(
          GtS(more, 63), [&] { f.Set(top, Lit64(1)); },
          [&] { f.Set(top, ShrU(top, more) | ExtendU(Ne(Shl(top, Lit64(64) - more), 0))); });
      f.Set(drop, Lit64(Most));
    });
    // Subnormals have no hidden bit to add: packing below adds biased - 1 = 0.
  });
  Var kept = f.Let(ShrU(top, drop));
  Var rest = f.Let(top & (Shl(Lit64(1), drop) - 1));
  Var half = f.Let(Shl(Lit64(1), drop - 1));
  Expr up = GtU(rest, half) | (Eq(rest, half) & Wrap(kept & 1));
  f.Return({FloatOf((Shl(biased - 1, 52) + kept + ExtendU(up)) | Shl(x.sign, 63))});
}

}  // namespace

void BuildFma64(HelperCode& f) {
  Var x = f.Param(0), y = f.Param(1), z = f.Param(2);
  auto is_finite = [](const Expr& a) { return Lt(Abs64(a), LitF64(uint64_t{0x7ff} << 52)); };
  Expr zero = LitF64(0);
  // An infinite or zero factor: the product is exact.
  Expr plain = IsZero(is_finite(x) & is_finite(y)) | Eq(x, zero) | Eq(y, zero);
  f.If(plain, [&] { f.Return({x * y + z}); });
  f.If(IsZero(is_finite(z)), [&] { f.Return({z}); });
  f.If(Eq(z, zero), [&] { f.Return({x * y}); });

  Unpacked ux = Unpack(f, x), uy = Unpack(f, y), uz = Unpack(f, z);
  // The product has its leading bit at 104 or 105; both sides are moved up to bit 124 or 125.
  Var product_high = f.Let(f.Call(Helper::MulHiU, {ux.mantissa, uy.mantissa}));
  Var product_low = f.Let(ux.mantissa * uy.mantissa);
  Wide a{f.Let(Shl(product_high, 20) | ShrU(product_low, 44)), f.Let(Shl(product_low, 20)),
         f.Let(ux.exponent + uy.exponent - 20), f.Let(ux.sign ^ uy.sign)};
  Wide b{f.Let(Shl(uz.mantissa, 9)), f.Let(Lit64(0)), f.Let(uz.exponent - 73), uz.sign};
  f.If(LtS(a.exponent, b.exponent), [&] {
    Swap(f, a.high, b.high);
    Swap(f, a.low, b.low);
    Swap(f, a.exponent, b.exponent);
    Swap(f, a.sign, b.sign);
  });
  Var by = f.Let(a.exponent - b.exponent);
  f.If(Ne(by, 0), [&] { ShiftRightSticky(f, b, by); });
  AddWide(f, a, b);
  RoundAndReturn(f, a);
}

// Scaling by 2^112 moves the exponent; it is exact for subnormals too.
void BuildHalfToFloat(HelperCode& f) {
  Var half = f.Param(0);
  Var magnitude = f.Let(half & 0x7fff);
  Expr sign = Shl(half & 0x8000, 16);
  f.If(GeU(magnitude, 0x7c00),
       [&] { f.Return({FloatOf(sign | Shl(magnitude, 13) | 0x7f800000)}); });
  constexpr uint32_t TwoTo112 = 0x77800000;
  f.Return({FloatOf(BitsOf(FloatOf(Shl(magnitude, 13)) * LitF32(TwoTo112)) | sign)});
}

void BuildFloatToHalf(HelperCode& f) {
  Var bits = f.Let(BitsOf(f.Param(0)));
  Var sign = f.Let(ShrU(bits, 16) & 0x8000);
  Var magnitude = f.Let(bits & 0x7fffffff);
  constexpr int64_t Infinity = 0x7f800000, RoundsToInfinity = 0x477ff000, LeastNormal = 0x38800000;
  f.If(GtU(magnitude, Infinity), [&] { f.Return({Lit32(0x7e00)}); });
  f.If(GeU(magnitude, RoundsToInfinity), [&] { f.Return({sign | 0x7c00}); });
  f.If(LtU(magnitude, LeastNormal), [&] {
    // Beside 0.5 the last bit of an f32 is the last bit of a subnormal f16.
    constexpr int64_t Half = 0x3f000000;
    f.Return({sign | (BitsOf(FloatOf(magnitude) + LitF32(Half)) - Half)});
  });
  constexpr int64_t Rebias = int64_t{112} << 23;
  f.Return({sign | ShrU(magnitude - Rebias + 0xfff + (ShrU(magnitude, 13) & 1), 13)});
}

void BuildFloatToBfloat(HelperCode& f) {
  Var bits = f.Let(BitsOf(f.Param(0)));
  f.If(GtU(bits & 0x7fffffff, 0x7f800000), [&] { f.Return({Lit32(0x7fc0)}); });
  f.Return({ShrU(bits + 0x7fff + (ShrU(bits, 16) & 1), 16)});
}

// To f32 by rounding to odd, so that a second rounding to f16 or bf16 is as if it were the only
// one.
void BuildDemoteOdd(HelperCode& f) {
  Var x = f.Param(0);
  Var near = f.Let(Demote(x));
  Var back = f.Let(Promote(near));
  f.If(Eq(back, x) | Ne(x, x), [&] { f.Return({near}); });
  Var bits = f.Let(BitsOf(near) - Gt(Abs64(back), Abs64(x)));
  f.Return({FloatOf(bits | 1)});
}

namespace {

// An integer of more than 53 bits keeps 53; one bit says whether the rest was zero.
void BuildSticky(HelperCode& f, Opcode shift_op, Opcode convert, const Expr& is_small) {
  Var x = f.Param(0);
  f.If(is_small, [&] { f.Return({Apply(convert, ValType::F64, {x})}); });
  Expr kept = Apply(shift_op, ValType::I64, {x, Lit64(11)}) | ExtendU(Ne(x & 0x7ff, 0));
  constexpr uint64_t TwoTo11 = uint64_t{1023 + 11} << 52;
  f.Return({Apply(convert, ValType::F64, {kept}) * LitF64(TwoTo11)});
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
