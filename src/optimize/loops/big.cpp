// Intervals of exact integers, for loops only: which checked op cannot overflow, which cast keeps its value.
#include "optimize/loops/big.h"

#include <algorithm>

#include "base/number/goldilocks.h"

namespace frazil::optimize {

std::optional<Big> Big::Of(ir::Type type, std::span<const uint64_t> words) {
  Big big;
  if (type.scalar == ir::Scalar::Int) {
    if (words.size() >= Limbs) return std::nullopt;
    wide::Resize(big.limbs_, words);
    return big;
  }
  if (!ir::IsFixedInt(type.scalar) && type.scalar != ir::Scalar::Bool) return std::nullopt;
  return ir::IsSigned(type.scalar) ? Big(static_cast<int64_t>(words[0])) : FromUint64(words[0]);
}

Big Big::PowerOfTwo(uint32_t exponent) {
  Big big;
  big.limbs_[exponent / 64] = uint64_t{1} << (exponent % 64);
  return big;
}

uint64_t Big::Field() const {
  std::array<uint64_t, Limbs> magnitude;
  const bool negative = wide::IsNegative(limbs_);
  wide::Abs(magnitude, limbs_);
  uint64_t residue = 0;
  for (size_t i = Limbs; i-- > 0;)
    residue = goldilocks::Add(goldilocks::Mul(residue, goldilocks::Epsilon),
                              goldilocks::FromUint64(magnitude[i]));
  return negative ? goldilocks::Neg(residue) : residue;
}

std::optional<Interval> RangeOf(ir::Type type) {
  if (!type.is_scalar()) return std::nullopt;
  if (type.scalar == ir::Scalar::Bool) return Interval{0, 1};
  const bool wide_int = type.scalar == ir::Scalar::Int;
  if (wide_int ? type.limbs + 1u >= Big::Limbs : !ir::IsFixedInt(type.scalar)) return std::nullopt;
  const uint32_t bits = wide_int ? 64u * type.limbs : static_cast<uint32_t>(ir::BitsOf(type));
  if (!ir::IsSigned(type.scalar)) return Interval{0, Big::PowerOfTwo(bits) - 1};
  const Big half = Big::PowerOfTwo(bits - 1);
  return Interval{Big(0) - half, half - 1};
}

Interval operator+(const Interval& a, const Interval& b) {
  return {a.low + b.low, a.high + b.high};
}
Interval operator-(const Interval& a, const Interval& b) {
  return {a.low - b.high, a.high - b.low};
}
Interval operator*(const Interval& a, const Interval& b) {
  const Big products[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  for (const Big& product : products)
    if (product.overflowed()) return {product, product};
  return {std::ranges::min(products, [](const Big& x, const Big& y) { return x < y; }),
          std::ranges::max(products, [](const Big& x, const Big& y) { return x < y; })};
}

}  // namespace frazil::optimize
