// All 65536 values both ways, and every rounding boundary from below, on and above the tie.
#include "base/number/float16.h"

#include <gtest/gtest.h>

#include <cmath>

namespace frazil::float16 {
namespace {

template <typename F>
void CheckAllValues() {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    const float value = F::ToFloat(bits);
    if ((bits & 0x7fff) > F::Infinity) {
      EXPECT_EQ(std::bit_cast<uint32_t>(value), 0x7fc00000u);
      EXPECT_EQ(F::FromFloat(value), F::Nan);
    } else {
      ASSERT_EQ(F::FromFloat(value), bits);
      ASSERT_EQ(F::FromDouble(value), bits);
    }
  }
}

template <typename F>
void CheckBoundaries() {
  for (uint16_t bits = 0; bits < F::Infinity; ++bits) {
    const uint16_t next = static_cast<uint16_t>(bits + 1);
    const double low = F::ToFloat(bits);
    // Above the greatest finite value the next step would be one unit further.
    const double high = next == F::Infinity
                            ? low + (low - F::ToFloat(static_cast<uint16_t>(bits - 1)))
                            : static_cast<double>(F::ToFloat(next));
    const double tie = low + (high - low) / 2;
    const uint16_t even = (bits & 1) == 0 ? bits : next;
    ASSERT_EQ(F::FromDouble(tie), even);
    ASSERT_EQ(F::FromDouble(std::nextafter(tie, 0.0)), bits);
    ASSERT_EQ(F::FromDouble(std::nextafter(tie, INFINITY)), next);
    ASSERT_EQ(F::FromDouble(-tie), even | 0x8000);
    ASSERT_EQ(F::FromDouble(-std::nextafter(tie, INFINITY)), next | 0x8000);
  }
}

TEST(Float16, AllValues) {
  CheckAllValues<F16>();
  CheckAllValues<BF16>();
}

TEST(Float16, Boundaries) {
  CheckBoundaries<F16>();
  CheckBoundaries<BF16>();
}

TEST(Float16, RoundsOnce) {
  // Just above a tie: rounding to f32 first lands on the tie, which would go to even (down).
  const double above = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(F16::FromDouble(above), 0x3c01);
  EXPECT_EQ(F16::FromFloat(static_cast<float>(above)), 0x3c00);
  const double bf_above = 1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40);
  EXPECT_EQ(BF16::FromDouble(bf_above), 0x3f81);
  EXPECT_EQ(BF16::FromFloat(static_cast<float>(bf_above)), 0x3f80);
}

TEST(Float16, Extremes) {
  EXPECT_EQ(F16::FromDouble(1e300), 0x7c00);
  EXPECT_EQ(F16::FromDouble(-1e300), 0xfc00);
  EXPECT_EQ(F16::FromDouble(5e-324), 0);
  EXPECT_EQ(F16::FromDouble(-1e-300), 0x8000);
  EXPECT_EQ(F16::FromDouble(-0.0), 0x8000);
  EXPECT_EQ(F16::FromDouble(-std::nan("")), 0x7e00);
  EXPECT_EQ(F16::FromDouble(65519.99), 0x7bff);
  EXPECT_EQ(F16::FromDouble(65520.0), 0x7c00);
  EXPECT_EQ(BF16::FromFloat(3.4e38f), 0x7f80);
  EXPECT_EQ(BF16::FromFloat(std::numeric_limits<float>::denorm_min()), 0);
}

}  // namespace
}  // namespace frazil::float16
