// Bits, shifts and conversions. A shift is a product with a power of two, or a quotient by one; the two halves
// of a product with 2^n are what goes out at the top and what stays.
#include "base/number/goldilocks.h"
#include "targets/tasm/words/integers.h"

namespace frazil::targets::tasm {

namespace g = goldilocks;
using ir::Trap;

Limbs Integers::And(const Limbs& a, const Limbs& b) {
  Limbs out;
  for (size_t i = 0; i < a.size(); ++i) out.push_back(b_.And(a[i], b[i]));
  return out;
}
Limbs Integers::Or(const Limbs& a, const Limbs& b) {
  Limbs out;
  for (size_t i = 0; i < a.size(); ++i) out.push_back(b_.Or(a[i], b[i]));
  return out;
}
Limbs Integers::Xor(const Limbs& a, const Limbs& b) {
  Limbs out;
  for (size_t i = 0; i < a.size(); ++i) out.push_back(b_.Xor(a[i], b[i]));
  return out;
}
Limbs Integers::Not(Shape s, const Limbs& a) {
  Limbs out;
  const uint64_t ones = Modulus(s) - 1;
  for (Word limb : a)
    out.push_back(s.bits == 1 ? b_.Not(limb) : b_.Bounded(b_.Sub(b_.Const(ones), limb), ones));
  return out;
}

Limbs Integers::Shl(Shape s, const Limbs& a, const Limbs& n) {
  const Word two = b_.Const(2);
  const Word amount = b_.And(n[0], b_.Const(s.bits * s.limbs - 1));
  if (s.limbs == 1) {
    const Word value = b_.Mul(a[0], b_.Pow(two, amount));
    return {Wrap(s, value, 0, b_.Max(value))};
  }
  const Word power = b_.Pow(two, b_.And(amount, b_.Const(31)));
  const Word big = b_.Lt(b_.Const(31), amount);
  const WordBuilder::Pair low = b_.Split(b_.Mul(a[0], power));
  const Word high = b_.Bounded(b_.Add(b_.Low(b_.Mul(a[1], power)), low.high), MaxU32);
  return {b_.Select(big, b_.Const(0), low.low), b_.Select(big, low.low, high)};
}

Limbs Integers::Shr(Shape s, const Limbs& a, const Limbs& n) {
  const Word two = b_.Const(2);
  const Word amount = b_.And(n[0], b_.Const(s.bits * s.limbs - 1));
  const Word negative = Negative(s, a);
  auto fill =
      [&](Word power) {  // the ones above, where the width less the amount is the power's exponent
        return b_.Mul(negative, b_.Sub(b_.Const(Modulus(s)), power));
      };
  if (s.limbs == 1) {
    const Word shifted = b_.DivMod(a[0], b_.Pow(two, amount), -1).quotient;
    if (!s.is_signed) return {shifted};
    const Word power = b_.Pow(two, b_.Bounded(b_.Sub(b_.Const(s.bits), amount), s.bits));
    return {b_.Bounded(b_.Add(shifted, fill(power)), Modulus(s) - 1)};
  }
  const Word rest = b_.Bounded(b_.Sub(b_.Const(32), b_.And(amount, b_.Const(31))), 32);
  const Word power = b_.Pow(two, rest);
  const Word big = b_.Lt(b_.Const(31), amount);
  const Word low = b_.High(b_.Mul(a[0], power));
  const WordBuilder::Pair high = b_.Split(b_.Mul(a[1], power));
  const Word joined = b_.Bounded(b_.Add(low, high.low), MaxU32);
  const Word top = s.is_signed ? b_.Bounded(b_.Add(high.high, fill(power)), MaxU32) : high.high;
  const Word ones = b_.MulI(negative, MaxU32);
  return {b_.Select(big, top, joined), b_.Select(big, ones, top)};
}

Limbs Integers::Rotate(Shape s, const Limbs& a, const Limbs& n, bool left) {
  const uint32_t width = s.bits * s.limbs;
  Word amount = b_.And(n[0], b_.Const(width - 1));
  if (!left)
    amount = b_.And(b_.Bounded(b_.Sub(b_.Const(width), amount), width), b_.Const(width - 1));
  const Word power = b_.Pow(b_.Const(2), b_.And(amount, b_.Const(s.bits - 1)));
  if (s.limbs == 1) {
    const Word product = b_.Mul(a[0], power);
    if (s.bits == 32) {
      const WordBuilder::Pair parts = b_.Split(product);
      return {b_.Bounded(b_.Add(parts.high, parts.low), MaxU32)};
    }
    const WordBuilder::Quotient parts = b_.DivMod(product, b_.Const(Modulus(s)), -1);
    return {b_.Bounded(b_.Add(parts.quotient, parts.remainder), Modulus(s) - 1)};
  }
  const Word big = b_.Lt(b_.Const(31), amount);
  const WordBuilder::Pair low = b_.Split(b_.Mul(a[0], power)), high = b_.Split(b_.Mul(a[1], power));
  const Word x = b_.Bounded(b_.Add(low.low, high.high), MaxU32);
  const Word y = b_.Bounded(b_.Add(high.low, low.high), MaxU32);
  return {b_.Select(big, y, x), b_.Select(big, x, y)};
}

// One more for 0, whose logarithm is taken of 1 instead.
Limbs Integers::Clz(Shape s, const Limbs& a) {
  auto of_limb = [&](Word limb, uint32_t bits) {
    const Word zero = b_.Eq(limb, b_.Const(0));
    const Word log =
        b_.Log2Floor(b_.Bounded(b_.Add(limb, zero), std::max<uint64_t>(b_.Max(limb), 1)));
    return b_.Bounded(b_.Add(b_.Sub(b_.Const(bits - 1), log), zero), bits);
  };
  if (s.limbs == 1) return {of_limb(a[0], s.bits)};
  const Word none = b_.Eq(a[1], b_.Const(0));
  return {b_.Select(none, b_.AddI(of_limb(a[0], 32), 32), of_limb(a[1], 32)), b_.Const(0)};
}

// The ones of ~x & (x - 1).
Limbs Integers::Ctz(Shape s, const Limbs& a) {
  auto of_limb = [&](Word limb, uint64_t ones) {
    const Word zero = b_.Eq(limb, b_.Const(0));
    const Word less = b_.Bounded(b_.AddI(b_.Add(limb, b_.MulI(zero, ones + 1)), g::P - 1), ones);
    return b_.PopCount(b_.And(b_.Bounded(b_.Sub(b_.Const(ones), limb), ones), less));
  };
  if (s.limbs == 1) return {of_limb(a[0], Modulus(s) - 1)};
  const Word none = b_.Eq(a[0], b_.Const(0));
  return {b_.Select(none, b_.AddI(of_limb(a[1], MaxU32), 32), of_limb(a[0], MaxU32)), b_.Const(0)};
}

Limbs Integers::Popcnt(Shape s, const Limbs& a) {
  Word sum = b_.Const(0);
  for (Word limb : a) sum = b_.Add(sum, b_.PopCount(limb));
  Limbs out(s.limbs, b_.Const(0));
  out[0] = sum;
  return out;
}

Limbs Integers::Cast(Shape from, const Limbs& a, Shape to, bool checked) {
  if (!checked) {
    const Word negative = Negative(from, a);
    Limbs out;
    for (uint32_t i = 0; i < to.limbs; ++i) {
      Word limb = i < from.limbs ? a[i] : b_.MulI(negative, MaxU32);
      if (i < from.limbs && i + 1 == from.limbs && from.bits < to.bits && from.is_signed)
        limb = b_.Bounded(b_.Add(limb, b_.MulI(negative, Modulus(to) - Modulus(from))),
                          Modulus(to) - 1);
      if (to.bits < from.bits) limb = b_.And(limb, b_.Const(Modulus(to) - 1));
      out.push_back(limb);
    }
    return out;
  }
  const bool fits = from.is_signed == to.is_signed
                        ? from.bits * from.limbs <= to.bits * to.limbs
                        : !from.is_signed && from.bits * from.limbs < to.bits * to.limbs;
  if (fits) return Cast(from, a, to, false);
  if (from.limbs == 1 && to.limbs == 1) return {Fit(to, Signed(from, a[0]))};
  if (!from.is_signed && from.limbs == 2 && to.limbs == 1) {
    // Both halves of one word: it is enough to look at that word.
    const Word whole = b_.Join(a[1], a[0]);
    if (b_.function().def(a[1]).op == WordOp::Split && b_.function().def(a[1]).inputs[0] == whole)
      return {Fit(to, b_.CheckU32(whole, site_(Trap::Overflow)))};
  }
  // Written out with one limb more than either has, both must be the same.
  const Shape wide{32, std::max(from.limbs, to.limbs) + 1, true};
  const Limbs result = Cast(from, a, to, false);
  const Limbs x = Cast(from, a, wide, false), y = Cast(to, result, wide, false);
  for (uint32_t i = 0; i < wide.limbs; ++i)
    if (x[i] != y[i]) b_.Assert(b_.Eq(x[i], y[i]), site_(Trap::Overflow));
  return result;
}

Word Integers::ToField(Shape from, const Limbs& a) {
  if (from.limbs == 2 && !from.is_signed) return b_.Join(a[1], a[0]);
  Word value = Signed(from, a.back());
  for (size_t i = a.size() - 1; i-- > 0;) value = b_.Add(b_.MulI(value, uint64_t{1} << 32), a[i]);
  return value;
}

}  // namespace frazil::targets::tasm
