// Division. 32 bits: div_mod. A divisor below 2^16: digits of 16 bits through div_mod. Else bit by bit, which needs no
// hint: the machine's secret input belongs to the program, and a quotient in it would change the claim's shape.
#include "base/number/goldilocks.h"
#include "targets/tasm/words/integers.h"

namespace frazil::targets::tasm {

namespace g = goldilocks;
using ir::Trap;

namespace {

// 1 or -1.
Word SignFactor(WordBuilder& b, Word negative) { return b.AddI(b.MulI(negative, g::P - 2), 1); }

}  // namespace

void Integers::DivideUnsigned(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& remainder) {
  const int32_t site = site_(Trap::DivisionByZero);
  auto small = [&](const Limbs& x) {
    for (size_t i = 1; i < x.size(); ++i)
      if (!b_.IsConst(x[i], 0)) return false;
    return true;
  };
  quotient.assign(a.size(), b_.Const(0));
  remainder = quotient;
  if (small(a) && small(b)) {
    const WordBuilder::Quotient parts = b_.DivMod(a[0], b[0], site);
    quotient[0] = parts.quotient;
    remainder[0] = parts.remainder;
    return;
  }
  if (small(b) && b_.Max(b[0]) <= 0xffff) {
    Word left = b_.Const(0);
    const Word base = b_.Const(0x10000);
    for (size_t i = a.size(); i-- > 0;) {
      const WordBuilder::Quotient halves = b_.DivMod(a[i], base, -1);
      const WordBuilder::Quotient high =
          b_.DivMod(b_.Add(b_.Mul(left, base), halves.quotient), b[0], site);
      const WordBuilder::Quotient low =
          b_.DivMod(b_.Add(b_.Mul(high.remainder, base), halves.remainder), b[0], site);
      quotient[i] = b_.Bounded(b_.Add(b_.Mul(high.quotient, base), low.quotient), MaxU32);
      left = low.remainder;
    }
    remainder[0] = left;
    return;
  }
  b_.Assert(b_.Not(IsZero(b)), site);
  DivideByBits(a, b, quotient, remainder);
}

// The dividend moves out to the left into the remainder while the quotient's bits move in from the right.
void Integers::DivideByBits(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& remainder) {
  const size_t n = a.size();
  const uint32_t region = b_.OpenRegion();
  Limbs x, r;
  for (size_t i = 0; i < n; ++i) x.push_back(b_.Param(MaxU32));
  for (size_t i = 0; i < n; ++i) r.push_back(b_.Param(MaxU32));
  Word carry = b_.Const(0);
  auto shift = [&](Limbs& limbs) {
    for (Word& limb : limbs) {
      const WordBuilder::Pair parts = b_.Split(b_.Add(b_.Add(limb, limb), carry));
      limb = parts.low;
      carry = parts.high;
    }
  };
  shift(x);
  shift(r);
  Word no_borrow;
  const Limbs less = SubLimbs(r, b, &no_borrow);
  // Where a bit was shifted out, the subtraction borrows exactly it.
  const Word take = b_.Bounded(b_.Add(carry, no_borrow), 1);
  x[0] = b_.Bounded(b_.Add(x[0], take), MaxU32);
  Limbs next = x;
  for (size_t i = 0; i < n; ++i) next.push_back(b_.Select(take, less[i], r[i]));
  b_.CloseRegion(next);
  std::vector<Word> inputs = {b_.Const(32 * n)};
  inputs.insert(inputs.end(), a.begin(), a.end());
  inputs.insert(inputs.end(), n, b_.Const(0));
  const std::vector<Word> results =
      b_.Emit(WordOp::Loop, inputs, std::vector<uint64_t>(2 * n, MaxU32));
  b_.last_node().regions = {region};
  quotient.assign(results.begin(), results.begin() + n);
  remainder.assign(results.begin() + n, results.end());
}

Limbs Integers::Div(Shape s, const Limbs& a, const Limbs& b, Rounding rounding) {
  Limbs quotient, remainder;
  DivideUnsigned(Magnitude(s, a), Magnitude(s, b), quotient, remainder);
  if (!s.is_signed) return quotient;
  const Word negative = b_.Xor(Negative(s, a), Negative(s, b));
  Word up = b_.Const(0);
  if (rounding == Rounding::Floor) up = b_.Mul(negative, b_.Not(IsZero(remainder)));
  if (s.limbs == 1) {
    const Word value = b_.Mul(b_.Add(quotient[0], up), SignFactor(b_, negative));
    if (rounding == Rounding::Checked) return {Fit(s, value)};
    return {Wrap(s, value, -static_cast<int64_t>(Modulus(s)), Modulus(s))};
  }
  if (rounding == Rounding::Checked) AssertMagnitudeFits(quotient, negative);
  if (rounding == Rounding::Floor)
    quotient = AddLimbs(quotient, Limbs(s.limbs, b_.Const(0)), up, nullptr);
  return NegateIf(negative, quotient);
}

Limbs Integers::Rem(Shape s, const Limbs& a, const Limbs& b, Rounding rounding) {
  Limbs quotient, remainder;
  const Limbs divisor = Magnitude(s, b);
  DivideUnsigned(Magnitude(s, a), divisor, quotient, remainder);
  if (!s.is_signed) return remainder;
  const Word a_negative = Negative(s, a), b_negative = Negative(s, b);
  Word sign = a_negative;
  if (rounding == Rounding::Floor) {
    const Word turn = b_.Mul(b_.Xor(a_negative, b_negative), b_.Not(IsZero(remainder)));
    remainder = s.limbs == 1
                    ? Limbs{b_.Select(turn, b_.Sub(divisor[0], remainder[0]), remainder[0])}
                    : Select(turn, SubLimbs(divisor, remainder, nullptr), remainder);
    sign = b_negative;
  }
  if (s.limbs > 1) return NegateIf(sign, remainder);
  b_.Bounded(remainder[0], SignBit(s));
  const Word value = b_.Mul(remainder[0], SignFactor(b_, sign));
  return {Wrap(s, value, -static_cast<int64_t>(Modulus(s)), Modulus(s))};
}

}  // namespace frazil::targets::tasm
