// Doubles and elements. Scaling by 2^16 is exact, so each way rounds once.
#include "base/number/fixed.h"

#include <cmath>

namespace frazil::fixed_detail {
namespace {

constexpr int64_t Greatest = static_cast<int64_t>(goldilocks::P / 2);

}  // namespace

uint64_t ElementOf(double value) {
  const double scaled = std::nearbyint(value * static_cast<double>(Fixed::Scale));
  if (std::isnan(scaled)) return 0;
  // Greatest is no double: the next one above it is 2^63.
  if (scaled >= 0x1p63 || scaled > static_cast<double>(Greatest))
    return goldilocks::FromInt64(Greatest);
  if (scaled <= -0x1p63 || scaled < -static_cast<double>(Greatest))
    return goldilocks::FromInt64(-Greatest);
  const int64_t whole = static_cast<int64_t>(scaled);
  return goldilocks::FromInt64(whole > Greatest ? Greatest : whole < -Greatest ? -Greatest : whole);
}

double DoubleOf(uint64_t element) {
  return static_cast<double>(SignedOf(element)) / static_cast<double>(Fixed::Scale);
}

}  // namespace frazil::fixed_detail
