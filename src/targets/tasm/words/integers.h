// Integers of every width as 32-bit limbs, lowest first. A type of up to 32 bits is one limb that holds its two's
// complement bits, zero-extended.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "targets/tasm/words/word_builder.h"

namespace frazil::targets::tasm {

using Limbs = std::vector<Word>;
using SiteOf = std::function<int32_t(ir::Trap)>;  // a trap of the op that is being lowered

class Integers {
 public:
  Integers(WordBuilder& builder, SiteOf site) : b_(builder), site_(std::move(site)) {}

  struct Shape {
    uint32_t bits;  // of the top limb's type: 8, 16, 32; for one limb the type's width
    uint32_t limbs;
    bool is_signed;
  };
  static Shape ShapeOf(ir::Type type);

  Limbs Constant(Shape s, std::span<const uint64_t> words64);
  Limbs Add(Shape s, const Limbs& a, const Limbs& b, bool checked);
  Limbs Sub(Shape s, const Limbs& a, const Limbs& b, bool checked);
  Limbs Mul(Shape s, const Limbs& a, const Limbs& b, bool checked);
  Limbs Neg(Shape s, const Limbs& a, bool checked);
  Limbs Abs(Shape s, const Limbs& a, bool checked);
  Limbs MulHi(Shape s, const Limbs& a, const Limbs& b);
  enum class Rounding { Trunc, Floor, Checked };
  Limbs Div(Shape s, const Limbs& a, const Limbs& b, Rounding rounding);
  Limbs Rem(Shape s, const Limbs& a, const Limbs& b, Rounding rounding);

  Limbs And(const Limbs& a, const Limbs& b);
  Limbs Or(const Limbs& a, const Limbs& b);
  Limbs Xor(const Limbs& a, const Limbs& b);
  Limbs Not(Shape s, const Limbs& a);
  Limbs Shl(Shape s, const Limbs& a, const Limbs& n);
  Limbs Shr(Shape s, const Limbs& a, const Limbs& n);
  Limbs Rotate(Shape s, const Limbs& a, const Limbs& n, bool left);
  Limbs Clz(Shape s, const Limbs& a);
  Limbs Ctz(Shape s, const Limbs& a);
  Limbs Popcnt(Shape s, const Limbs& a);

  Word Eq(const Limbs& a, const Limbs& b);
  Word Lt(Shape s, const Limbs& a, const Limbs& b);
  Limbs Select(Word condition, const Limbs& a, const Limbs& b);

  Limbs Cast(Shape from, const Limbs& a, Shape to, bool checked);
  Word ToField(Shape from, const Limbs& a);
  Word Negative(Shape s, const Limbs& a);  // 0 or 1

 private:
  uint64_t SignBit(Shape s) const { return uint64_t{1} << (s.bits - 1); }
  uint64_t Modulus(Shape s) const { return uint64_t{1} << s.bits; }
  // One limb: the value as a field element, negative ones below 0; and back.
  Word Signed(Shape s, Word a);
  Word Wrap(Shape s, Word value, int64_t least, uint64_t most);  // modulo 2^bits
  Word Fit(Shape s, Word value);                                 // traps with overflow
  Limbs Magnitude(Shape s, const Limbs& a);                      // |a| as unsigned
  Limbs Negated(const Limbs& a);                                 // modulo 2^(32 n)
  Limbs NegateIf(Word condition, const Limbs& a);
  Limbs AddLimbs(const Limbs& a, const Limbs& b, Word carry, Word* out);
  Limbs SubLimbs(const Limbs& a, const Limbs& b, Word* no_borrow);
  Limbs Product(const Limbs& a, const Limbs& b, uint32_t limbs);  // the lowest so many limbs
  Word IsZero(const Limbs& a);
  Word Less(const Limbs& a, const Limbs& b);
  void DivideUnsigned(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& remainder);
  void DivideByBits(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& remainder);
  void AssertMagnitudeFits(const Limbs& magnitude, Word negative);

  WordBuilder& b_;
  SiteOf site_;
};

}  // namespace frazil::targets::tasm
