// Arithmetic. One limb: in the field, where sums and products of 32-bit numbers are exact, with one range check at
// the end. Several limbs: schoolbook; a product of two limbs plus one more limb is still below p.
// Overflow is found by instructions that crash on anything above 32 bits, which costs no assertion.
#include "targets/tasm/words/integers.h"

#include "base/check.h"
#include "base/number/goldilocks.h"

namespace frazil::targets::tasm {

namespace g = goldilocks;
using ir::Trap;

Integers::Shape Integers::ShapeOf(ir::Type type) {
  const bool is_signed = ir::IsSigned(type.scalar);
  if (type.scalar == ir::Scalar::Int) return {32, 2 * ir::WordsOf(type), true};
  const uint32_t bits =
      type.scalar == ir::Scalar::Bool ? 1 : static_cast<uint32_t>(ir::BitsOf(type));
  return bits > 32 ? Shape{32, bits / 32, is_signed} : Shape{bits, 1, is_signed};
}

Limbs Integers::Constant(Shape s, std::span<const uint64_t> words64) {
  Limbs limbs;
  for (uint64_t word : words64)
    for (int half = 0; half < 2 && limbs.size() < s.limbs; ++half)
      limbs.push_back(b_.Const((word >> (32 * half)) & MaxU32 & (Modulus(s) - 1)));
  return limbs;
}

Word Integers::Negative(Shape s, const Limbs& a) {
  if (!s.is_signed) return b_.Const(0);
  return b_.Lt(b_.Const(SignBit(s) - 1), a.back());
}

Word Integers::Signed(Shape s, Word a) {
  if (!s.is_signed) return a;
  if (b_.Max(a) < SignBit(s)) return a;
  return b_.Sub(b_.Xor(a, b_.Const(SignBit(s))), b_.Const(SignBit(s)));
}

// value lies in [least, most], as an integer; with that many moduli added it is not negative.
Word Integers::Wrap(Shape s, Word value, int64_t least, uint64_t most) {
  if (least < 0) {
    const uint64_t lift = ((static_cast<uint64_t>(-least) + Modulus(s) - 1) >> s.bits) << s.bits;
    value = b_.Bounded(b_.AddI(value, lift), most + lift);
  } else {
    b_.Bounded(value, most);
  }
  if (s.bits == 32) return b_.Low(value);
  return b_.And(b_.Max(value) <= MaxU32 ? value : b_.Low(value), b_.Const(Modulus(s) - 1));
}

Word Integers::Fit(Shape s, Word value) {
  const int32_t site = site_(Trap::Overflow);
  if (s.is_signed) value = b_.AddI(value, SignBit(s));
  if (s.bits == 32)
    return s.is_signed ? b_.XorChecked(value, SignBit(s), site) : b_.CheckU32(value, site);
  value = b_.CheckU32(value, site);
  b_.Assert(b_.Lt(value, b_.Const(Modulus(s))), site);
  return s.is_signed ? b_.Xor(value, b_.Const(SignBit(s))) : value;
}

Limbs Integers::AddLimbs(const Limbs& a, const Limbs& b, Word carry, Word* out) {
  Limbs sum;
  for (size_t i = 0; i < a.size(); ++i) {
    Word limb = b_.Add(a[i], b[i]);
    limb = b_.Add(limb, carry);
    const WordBuilder::Pair parts = b_.Split(limb);
    sum.push_back(parts.low);
    carry = parts.high;
  }
  if (out != nullptr) *out = carry;
  return sum;
}

Limbs Integers::SubLimbs(const Limbs& a, const Limbs& b, Word* no_borrow) {
  Limbs difference;
  Word kept = b_.Const(1);
  for (size_t i = 0; i < a.size(); ++i) {
    Word limb = b_.Add(b_.AddI(b_.Sub(a[i], b[i]), MaxU32), kept);
    const WordBuilder::Pair parts = b_.Split(b_.Bounded(limb, 2 * MaxU32 + 1));
    difference.push_back(parts.low);
    kept = parts.high;
  }
  if (no_borrow != nullptr) *no_borrow = kept;
  return difference;
}

Limbs Integers::Add(Shape s, const Limbs& a, const Limbs& b, bool checked) {
  if (s.limbs == 1) {
    if (!checked) return {Wrap(s, b_.Add(a[0], b[0]), 0, b_.Max(a[0]) + b_.Max(b[0]))};
    return {Fit(s, b_.Add(Signed(s, a[0]), Signed(s, b[0])))};
  }
  Word carry;
  if (!checked) return AddLimbs(a, b, b_.Const(0), nullptr);
  const Limbs low_a(a.begin(), a.end() - 1), low_b(b.begin(), b.end() - 1);
  Limbs sum = AddLimbs(low_a, low_b, b_.Const(0), &carry);
  sum.push_back(Fit(s, b_.Add(b_.Add(Signed(s, a.back()), Signed(s, b.back())), carry)));
  return sum;
}

Limbs Integers::Sub(Shape s, const Limbs& a, const Limbs& b, bool checked) {
  if (s.limbs == 1) {
    const Word difference = checked ? b_.Sub(Signed(s, a[0]), Signed(s, b[0])) : b_.Sub(a[0], b[0]);
    // Unsigned: what is not negative is small enough.
    if (checked && !s.is_signed) return {b_.CheckU32(difference, site_(Trap::Overflow))};
    if (checked) return {Fit(s, difference)};
    return {Wrap(s, difference, -static_cast<int64_t>(b_.Max(b[0])), b_.Max(a[0]))};
  }
  Word kept;
  if (!checked) return SubLimbs(a, b, nullptr);
  const Limbs low_a(a.begin(), a.end() - 1), low_b(b.begin(), b.end() - 1);
  Limbs difference = SubLimbs(low_a, low_b, &kept);
  const Word top = b_.Sub(Signed(s, a.back()), Signed(s, b.back()));
  difference.push_back(Fit(s, b_.Add(b_.AddI(top, g::P - 1), kept)));
  return difference;
}

Limbs Integers::Product(const Limbs& a, const Limbs& b, uint32_t limbs) {
  Limbs product(limbs, b_.Const(0));
  for (size_t i = 0; i < a.size() && i < limbs; ++i) {
    if (b_.IsConst(a[i], 0)) continue;
    Word carry = b_.Const(0);
    for (size_t j = 0; i + j < limbs; ++j) {
      // a b + carry is at most p - 1; the limb that is there already goes to the parts.
      const Word term = j < b.size() ? b_.Mul(a[i], b[j]) : b_.Const(0);
      const bool last = i + j + 1 == limbs;
      const WordBuilder::Pair parts = b_.Split(b_.Add(term, carry));
      const Word sum = b_.Add(parts.low, product[i + j]);
      const WordBuilder::Pair again = b_.Split(sum);
      product[i + j] = again.low;
      if (!last) carry = b_.Bounded(b_.Add(parts.high, again.high), MaxU32);
    }
  }
  return product;
}

Limbs Integers::Mul(Shape s, const Limbs& a, const Limbs& b, bool checked) {
  if (s.limbs == 1) {
    if (checked) return {Fit(s, b_.Mul(Signed(s, a[0]), Signed(s, b[0])))};
    return {Wrap(s, b_.Mul(a[0], b[0]), 0, b_.Max(a[0]) * b_.Max(b[0]))};
  }
  if (!checked) return Product(a, b, s.limbs);
  const int32_t site = site_(Trap::Overflow);
  if (!s.is_signed) {
    // Two limbs, both upper halves not 0: too large. Else the upper limb's terms add up without overflow.
    CHECK(s.limbs == 2);
    b_.AssertZero(b_.Mul(a[1], b[1]), site);
    const WordBuilder::Pair low = b_.Split(b_.Mul(a[0], b[0]));
    const Word high = b_.Add(b_.Add(b_.Mul(a[1], b[0]), b_.Mul(a[0], b[1])), low.high);
    return {low.low, b_.CheckU32(high, site)};
  }
  const Word negative = b_.Xor(Negative(s, a), Negative(s, b));
  const Limbs full = Product(Magnitude(s, a), Magnitude(s, b), 2 * s.limbs);
  const Limbs low(full.begin(), full.begin() + s.limbs);
  Word rest = b_.Const(0);
  for (uint32_t i = s.limbs; i < 2 * s.limbs; ++i) rest = b_.Add(rest, full[i]);
  b_.AssertZero(rest, site);
  AssertMagnitudeFits(low, negative);
  return NegateIf(negative, low);
}

// |x| < 2^(n-1), or equal to it where x is negative.
void Integers::AssertMagnitudeFits(const Limbs& magnitude, Word negative) {
  const Word half = b_.Const(uint64_t{1} << 31);
  const Word small = b_.Lt(magnitude.back(), half);
  if (b_.IsConst(small, 1)) return;
  const Word rest = IsZero(Limbs(magnitude.begin(), magnitude.end() - 1));
  const Word least = b_.Mul(negative, b_.Mul(b_.Eq(magnitude.back(), half), rest));
  b_.Assert(b_.Add(small, least), site_(Trap::Overflow));
}

Limbs Integers::Negated(const Limbs& a) {
  return SubLimbs(Limbs(a.size(), b_.Const(0)), a, nullptr);
}

// Complement where the condition holds, then add it.
Limbs Integers::NegateIf(Word condition, const Limbs& a) {
  if (b_.IsConst(condition, 0)) return a;
  if (b_.IsConst(condition, 1)) return Negated(a);
  Limbs flipped;
  for (Word limb : a) {
    const Word turned = b_.Sub(b_.Const(MaxU32), b_.MulI(limb, 2));  // (MaxU32 - limb) - limb
    flipped.push_back(b_.Bounded(b_.Add(limb, b_.Mul(condition, turned)), MaxU32));
  }
  Limbs one(a.size(), b_.Const(0));
  return AddLimbs(flipped, one, condition, nullptr);
}

Limbs Integers::Magnitude(Shape s, const Limbs& a) {
  if (!s.is_signed) return a;
  const Word negative = Negative(s, a);
  if (s.limbs > 1) return NegateIf(negative, a);
  if (b_.IsConst(negative, 0)) return a;
  // a + negative (2^bits - 2 a)
  const Word turn = b_.AddI(b_.MulI(a[0], g::P - 2), Modulus(s));
  return {b_.Bounded(b_.Add(a[0], b_.Mul(negative, turn)), SignBit(s))};
}

Limbs Integers::Neg(Shape s, const Limbs& a, bool checked) {
  if (checked) return Sub(s, Limbs(s.limbs, b_.Const(0)), a, true);
  if (s.limbs > 1) return Negated(a);
  return {Wrap(s, b_.Neg(a[0]), -static_cast<int64_t>(b_.Max(a[0])), 0)};
}

Limbs Integers::Abs(Shape s, const Limbs& a, bool checked) {
  Limbs magnitude = Magnitude(s, a);
  if (checked) b_.Assert(b_.Lt(magnitude.back(), b_.Const(SignBit(s))), site_(Trap::Overflow));
  return magnitude;
}

Limbs Integers::MulHi(Shape s, const Limbs& a, const Limbs& b) {
  if (s.limbs == 1) {
    if (!s.is_signed) {
      const Word product = b_.Mul(a[0], b[0]);
      if (s.bits == 32) return {b_.High(product)};
      return {b_.DivMod(product, b_.Const(Modulus(s)), -1).quotient};
    }
    const Word product = b_.Mul(Signed(s, a[0]), Signed(s, b[0]));
    // Lifted by a multiple of 2^(2 bits) it is not negative and keeps its lower 2 bits bits.
    const uint64_t lift = s.bits == 32 ? uint64_t{1} << 63 : uint64_t{1} << (2 * s.bits);
    const uint64_t most =
        s.bits == 32 ? lift + (uint64_t{1} << 62) : lift + (uint64_t{1} << (2 * s.bits - 2));
    const Word lifted = b_.Bounded(b_.AddI(product, lift), most);
    if (s.bits == 32) return {b_.Xor(b_.High(lifted), b_.Const(uint64_t{1} << 31))};
    const Word low = b_.And(b_.Low(lifted), b_.Const((uint64_t{1} << (2 * s.bits - 1) << 1) - 1));
    return {b_.DivMod(low, b_.Const(Modulus(s)), -1).quotient};
  }
  const Limbs full = Product(a, b, 2 * s.limbs);
  Limbs high(full.begin() + s.limbs, full.end());
  if (!s.is_signed) return high;
  // Of two's complement bits taken as unsigned: each negative factor adds the other one to the upper half.
  const Word a_negative = Negative(s, a), b_negative = Negative(s, b);
  Limbs of_a, of_b;
  for (uint32_t i = 0; i < s.limbs; ++i) {
    of_a.push_back(b_.Mul(a_negative, b[i]));
    of_b.push_back(b_.Mul(b_negative, a[i]));
  }
  return SubLimbs(SubLimbs(high, of_a, nullptr), of_b, nullptr);
}

Word Integers::IsZero(const Limbs& a) {
  Word sum = b_.Const(0);
  for (Word limb : a) sum = b_.Add(sum, limb);
  return b_.Eq(sum, b_.Const(0));
}

Word Integers::Less(const Limbs& a, const Limbs& b) {
  Word less = b_.Const(0);
  for (size_t i = 0; i < a.size(); ++i) {
    const Word here = b_.Lt(a[i], b[i]);
    less = b_.IsConst(less, 0) ? here : b_.Add(here, b_.Mul(b_.Eq(a[i], b[i]), less));
    b_.Bounded(less, 1);
  }
  return less;
}

Word Integers::Lt(Shape s, const Limbs& a, const Limbs& b) {
  if (!s.is_signed) return Less(a, b);
  Limbs x = a, y = b;
  if (b_.Max(x.back()) < SignBit(s) && b_.Max(y.back()) < SignBit(s)) return Less(a, b);
  x.back() = b_.Xor(x.back(), b_.Const(SignBit(s)));
  y.back() = b_.Xor(y.back(), b_.Const(SignBit(s)));
  return Less(x, y);
}

Word Integers::Eq(const Limbs& a, const Limbs& b) {
  Word equal = b_.Const(1);
  for (size_t i = 0; i < a.size(); ++i) {
    const Word here = b_.Eq(a[i], b[i]);
    equal = b_.Mul(equal, here);
  }
  return b_.Bounded(equal, 1);
}

Limbs Integers::Select(Word condition, const Limbs& a, const Limbs& b) {
  Limbs chosen;
  for (size_t i = 0; i < a.size(); ++i) chosen.push_back(b_.Select(condition, a[i], b[i]));
  return chosen;
}

}  // namespace frazil::targets::tasm
