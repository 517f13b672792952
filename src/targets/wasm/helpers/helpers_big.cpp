// Helpers for int<k>: limbs of 64 bits in linear memory, least first, two's complement. The result
// may be one of the operands: what is still needed of an operand is read before it is overwritten,
// or the work is done on magnitudes above the heap.
#include "targets/wasm/helpers/helper_code.h"

namespace frazil::targets::wasm {
namespace {

Expr At(const Expr& base, const Expr& index) { return base + Shl(index, 3); }
Expr Limb(const Expr& base, const Expr& index) { return Load64(At(base, index)); }
Expr TopLimb(const Expr& base, const Expr& count) { return Load64(At(base, count) - 8); }
Expr IsNegative(const Expr& limb) { return Wrap(ShrU(limb, 63)); }

// Scratch for `limbs` limbs above the heap; it is free again after Release.
Var Scratch(HelperCode& f, const Expr& limbs) {
  Var base = f.Let(f.Call(Helper::Reserve, {Shl(ExtendU(limbs), 3)}));
  f.If(IsZero(base), [&] { f.Unreachable(); });
  return base;
}
void Release(HelperCode& f, const Var& base) { f.Put(GlobalVar::HeapEnd, base); }

// |source| into `to`; MIN becomes 2^(64k-1), which fits unsigned.
void Magnitude(HelperCode& f, const Expr& to, const Var& source, const Var& count) {
  f.If(
      IsNegative(TopLimb(source, count)),
      [&] { f.Set(f.Local(ValType::I32), f.Call(Helper::BigNegate, {to, source, count})); },
      [&] { f.Copy(to, source, Shl(count, 3)); });
}

// Limbs up to the highest that is not zero.
Var SignificantLimbs(HelperCode& f, const Expr& base, const Var& count) {
  Var used = f.Let(count);
  Var going = f.Let(Lit32(1));
  f.While(going & Ne(used, 0), [&] {
    f.If(
        IsZero(TopLimb(base, used)), [&] { f.Set(used, used - 1); },
        [&] { f.Set(going, Lit32(0)); });
  });
  return used;
}

}  // namespace

void BuildBigAdd(HelperCode& f) {
  Var to = f.Param(0), a = f.Param(1), b = f.Param(2), count = f.Param(3);
  Var a_top = f.Let(TopLimb(a, count)), b_top = f.Let(TopLimb(b, count));
  Var carry = f.Local(ValType::I64), i = f.Local(ValType::I32);
  Var x = f.Local(ValType::I64), sum = f.Local(ValType::I64);
  f.Count(i, Lit32(0), count, [&] {
    f.Set(x, Limb(a, i));
    f.Set(sum, x + Limb(b, i));
    Var first = f.Let(ExtendU(LtU(sum, x)));
    f.Set(sum, sum + carry);
    f.Set(carry, first | ExtendU(LtU(sum, carry)));
    f.Store64(At(to, i), sum);
  });
  f.Return({IsNegative((a_top ^ sum) & (b_top ^ sum))});
}

void BuildBigSub(HelperCode& f) {
  Var to = f.Param(0), a = f.Param(1), b = f.Param(2), count = f.Param(3);
  Var a_top = f.Let(TopLimb(a, count)), b_top = f.Let(TopLimb(b, count));
  Var borrow = f.Local(ValType::I64), i = f.Local(ValType::I32);
  Var x = f.Local(ValType::I64), y = f.Local(ValType::I64), difference = f.Local(ValType::I64);
  f.Count(i, Lit32(0), count, [&] {
    f.Set(x, Limb(a, i));
    f.Set(y, Limb(b, i));
    f.Set(difference, x - y - borrow);
    f.Set(borrow, ExtendU(LtU(x, y) | LtU(x - y, borrow)));
    f.Store64(At(to, i), difference);
  });
  f.Return({IsNegative((a_top ^ b_top) & (a_top ^ difference))});
}

void BuildBigNegate(HelperCode& f) {
  Var to = f.Param(0), a = f.Param(1), count = f.Param(2);
  Var a_top = f.Let(TopLimb(a, count));
  Var borrow = f.Local(ValType::I64), i = f.Local(ValType::I32);
  Var x = f.Local(ValType::I64), result = f.Local(ValType::I64);
  f.Count(i, Lit32(0), count, [&] {
    f.Set(x, Limb(a, i));
    f.Set(result, Lit64(0) - x - borrow);
    f.Set(borrow, ExtendU(Ne(x | borrow, 0)));
    f.Store64(At(to, i), result);
  });
  f.Return({IsNegative(a_top & result)});
}

// Schoolbook on magnitudes. More significant limbs than fit are an overflow before any work is
// done.
void BuildBigMul(HelperCode& f) {
  Var to = f.Param(0), a = f.Param(1), b = f.Param(2), count = f.Param(3);
  Var negative = f.Let(IsNegative(TopLimb(a, count) ^ TopLimb(b, count)));
  Var x = Scratch(f, count * Lit32(3));
  Var y = f.Let(At(x, count)), product = f.Let(At(y, count));
  Magnitude(f, x, a, count);
  Magnitude(f, y, b, count);
  f.Fill(product, Shl(count, 3));
  Var x_used = SignificantLimbs(f, x, count), y_used = SignificantLimbs(f, y, count);
  Var overflow = f.Let(GtU(x_used + y_used, count + 1));
  Var i = f.Local(ValType::I32), j = f.Local(ValType::I32);
  Var factor = f.Local(ValType::I64), other = f.Local(ValType::I64);
  Var carry = f.Local(ValType::I64), low = f.Local(ValType::I64), old = f.Local(ValType::I64);
  f.If(IsZero(overflow), [&] {
    f.Count(i, Lit32(0), x_used, [&] {
      f.Set(factor, Limb(x, i));
      f.Set(carry, Lit64(0));
      f.Count(j, Lit32(0), y_used, [&] {
        f.Set(other, Limb(y, j));
        f.Set(old, Limb(product, i + j));
        f.Set(low, factor * other + carry);
        Expr high = f.Call(Helper::MulHiU, {factor, other}) + ExtendU(LtU(low, carry));
        f.Set(carry, high + ExtendU(LtU(low + old, old)));
        f.Store64(At(product, i + j), low + old);
      });
      f.If(
          LtU(i + y_used, count), [&] { f.Store64(At(product, i + y_used), carry); },
          [&] { f.Set(overflow, overflow | Ne(carry, 0)); });
    });
  });
  // A magnitude with the top bit set fits only as MIN.
  f.If(
      negative,
      [&] {
        f.Set(f.Local(ValType::I32), f.Call(Helper::BigNegate, {product, product, count}));
        Expr lost_sign = IsZero(IsNegative(TopLimb(product, count)));
        f.Set(overflow,
              overflow | (lost_sign & IsZero(f.Call(Helper::BigIsZero, {product, count}))));
      },
      [&] { f.Set(overflow, overflow | IsNegative(TopLimb(product, count))); });
  f.Copy(to, product, Shl(count, 3));
  Release(f, x);
  f.Return({overflow});
}

// Shift and subtract on magnitudes, from the highest bit of the dividend that is set. Either
// destination may be 0. The divisor is not zero; MIN / -1 is the one overflow.
void BuildBigDivRem(HelperCode& f) {
  Var quotient_to = f.Param(0), remainder_to = f.Param(1), a = f.Param(2), b = f.Param(3),
      count = f.Param(4);
  Var a_negative = f.Let(IsNegative(TopLimb(a, count)));
  Var negative = f.Let(a_negative ^ IsNegative(TopLimb(b, count)));
  Var x = Scratch(f, Shl(count, 2));
  Var y = f.Let(At(x, count)), quotient = f.Let(At(y, count)), rest = f.Let(At(quotient, count));
  Magnitude(f, x, a, count);
  Magnitude(f, y, b, count);
  f.Fill(quotient, Shl(count, 4));
  Var bit = f.Let(Shl(SignificantLimbs(f, x, count), 6));
  Var used = f.Let(SignificantLimbs(f, y, count));
  Var i = f.Local(ValType::I32), less = f.Local(ValType::I32);
  Var carry = f.Local(ValType::I64), limb = f.Local(ValType::I64);
  f.While(Ne(bit, 0), [&] {
    f.Set(bit, bit - 1);
    f.Set(carry, ShrU(Limb(x, ShrU(bit, 6)), ExtendU(bit)) & 1);
    // One limb more than the divisor has, where there is one.
    Var limit = f.Let(Choose(LtU(used, count), used + 1, count));
    f.Count(i, Lit32(0), limit, [&] {
      f.Set(limb, Limb(rest, i));
      f.Store64(At(rest, i), Shl(limb, 1) | carry);
      f.Set(carry, ShrU(limb, 63));
    });
    f.Set(i, limit);
    f.Set(less, Lit32(0));
    f.While(Ne(i, 0), [&] {
      f.Set(i, i - 1);
      f.Set(limb, Limb(rest, i));
      f.If(Ne(limb, Limb(y, i)), [&] {
        f.Set(less, LtU(limb, Limb(y, i)));
        f.Set(i, Lit32(0));
      });
    });
    f.If(IsZero(less), [&] {
      f.Set(f.Local(ValType::I32), f.Call(Helper::BigSub, {rest, rest, y, limit}));
      Expr word = At(quotient, ShrU(bit, 6));
      f.Store64(word, Load64(word) | Shl(Lit64(1), ExtendU(bit)));
    });
  });
  Var overflow = f.Let(IsNegative(TopLimb(quotient, count)) & IsZero(negative));
  Var ignored = f.Local(ValType::I32);
  f.If(negative, [&] { f.Set(ignored, f.Call(Helper::BigNegate, {quotient, quotient, count})); });
  f.If(a_negative, [&] { f.Set(ignored, f.Call(Helper::BigNegate, {rest, rest, count})); });
  // Where nobody wants it, onto itself.
  f.Copy(Choose(quotient_to, quotient_to, quotient), quotient, Shl(count, 3));
  f.Copy(Choose(remainder_to, remainder_to, rest), rest, Shl(count, 3));
  Release(f, x);
  f.Return({overflow});
}

// Both: (to, its limbs, from, its limbs). To as many limbs or more: sign-extends.
void BuildBigExtend(HelperCode& f) {
  Var to = f.Param(0), to_count = f.Param(1), from = f.Param(2), from_count = f.Param(3);
  f.Copy(to, from, Shl(from_count, 3));
  Var sign = f.Let(ShrS(TopLimb(to, from_count), 63));
  Var i = f.Local(ValType::I32);
  f.Count(i, from_count, to_count, [&] { f.Store64(At(to, i), sign); });
}

// To fewer: says whether limbs with content were cut off.
void BuildBigCut(HelperCode& f) {
  Var to = f.Param(0), to_count = f.Param(1), from = f.Param(2), from_count = f.Param(3);
  f.Copy(to, from, Shl(to_count, 3));
  Var sign = f.Let(ShrS(TopLimb(to, to_count), 63));
  Var i = f.Local(ValType::I32), overflow = f.Local(ValType::I32);
  f.Count(i, to_count, from_count, [&] { f.Set(overflow, overflow | Ne(Limb(from, i), sign)); });
  f.Return({overflow});
}

void BuildBigCompare(HelperCode& f) {
  Var a = f.Param(0), b = f.Param(1), i = f.Param(2);
  Var x = f.Let(TopLimb(a, i)), y = f.Let(TopLimb(b, i));
  f.If(Ne(x, y), [&] { f.Return({Choose(LtS(x, y), Lit32(-1), Lit32(1))}); });
  f.While(Ne(i, 0), [&] {
    f.Set(i, i - 1);
    f.Set(x, Limb(a, i));
    f.Set(y, Limb(b, i));
    f.If(Ne(x, y), [&] { f.Return({Choose(LtU(x, y), Lit32(-1), Lit32(1))}); });
  });
  f.Return({Lit32(0)});
}

void BuildBigEqual(HelperCode& f) {
  Var a = f.Param(0), b = f.Param(1);
  Var i = f.Local(ValType::I32);
  f.Count(i, Lit32(0), f.Param(2),
          [&] { f.If(Ne(Limb(a, i), Limb(b, i)), [&] { f.Return({Lit32(0)}); }); });
  f.Return({Lit32(1)});
}

void BuildBigIsZero(HelperCode& f) {
  Var i = f.Local(ValType::I32);
  f.Count(i, Lit32(0), f.Param(1),
          [&] { f.If(Ne(Limb(f.Param(0), i), 0), [&] { f.Return({Lit32(0)}); }); });
  f.Return({Lit32(1)});
}

void BuildBigUpperIs(HelperCode& f) {
  Var i = f.Local(ValType::I32);
  f.Count(i, Lit32(1), f.Param(1),
          [&] { f.If(Ne(Limb(f.Param(0), i), f.Param(2)), [&] { f.Return({Lit32(0)}); }); });
  f.Return({Lit32(1)});
}

void BuildBigFill(HelperCode& f) {
  Var to = f.Param(0);
  f.Store64(to, f.Param(2));
  Var i = f.Local(ValType::I32);
  f.Count(i, Lit32(1), f.Param(1), [&] { f.Store64(At(to, i), f.Param(3)); });
}

}  // namespace frazil::targets::wasm
