// The two 16-bit floats as bits: f16 (5 exponent, 10 mantissa bits) and bf16 (8, 7). Conversions
// round once, to nearest even; a NaN becomes the one quiet NaN of the destination.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace frazil::float16 {

template <int ExponentBits, int MantissaBits>
struct Format {
  static constexpr int Bias = (1 << (ExponentBits - 1)) - 1;
  static constexpr int MinExponent = 1 - Bias;
  static constexpr uint16_t Infinity = ((1 << ExponentBits) - 1) << MantissaBits;
  static constexpr uint16_t Nan = Infinity | (1 << (MantissaBits - 1));
  static constexpr uint16_t SignBit = 0x8000;

  static constexpr uint16_t FromDouble(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const uint16_t sign = static_cast<uint16_t>(bits >> 48) & SignBit;
    const int field = static_cast<int>(bits >> 52) & 0x7ff;
    const uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
    if (field == 0x7ff) return mantissa != 0 ? Nan : static_cast<uint16_t>(sign | Infinity);
    // A double's own subnormals lie far below half of the least 16-bit number.
    if (field == 0) return sign;
    const int exponent = field - 1023;
    const int scale = std::max(exponent, MinExponent);
    // value = significand 2^(exponent - 52); count it in units of 2^(scale - MantissaBits).
    const uint64_t significand = mantissa | (uint64_t{1} << 52);
    const int shift = 52 - MantissaBits + (scale - exponent);
    if (shift > 54) return sign;
    const uint64_t low = significand & ((uint64_t{1} << shift) - 1);
    const uint64_t half = uint64_t{1} << (shift - 1);
    uint64_t units = significand >> shift;
    if (low > half || (low == half && (units & 1) != 0)) units += 1;
    // `units` carries the leading one, which adds 1 to the exponent field; so does a rounding
    // carry.
    const uint64_t magnitude = (static_cast<uint64_t>(scale - MinExponent) << MantissaBits) + units;
    return static_cast<uint16_t>(sign | std::min<uint64_t>(magnitude, Infinity));
  }
  // Widening to double is exact, so this rounds once too.
  static constexpr uint16_t FromFloat(float value) { return FromDouble(value); }

  static constexpr float ToFloat(uint16_t bits) {
    const uint16_t magnitude = bits & static_cast<uint16_t>(~SignBit);
    if (magnitude > Infinity) return std::numeric_limits<float>::quiet_NaN();
    const int field = magnitude >> MantissaBits;
    const uint32_t mantissa = magnitude & ((1u << MantissaBits) - 1);
    const uint32_t sign = static_cast<uint32_t>(bits & SignBit) << 16;
    if (field == (1 << ExponentBits) - 1) return std::bit_cast<float>(sign | 0x7f80'0000u);
    if (field == 0) {
      // 2^(MinExponent - MantissaBits) per unit; the product is exact (bf16: a float subnormal).
      constexpr double Unit =
          std::bit_cast<double>(uint64_t{1023 + MinExponent - MantissaBits} << 52);
      const float value = static_cast<float>(mantissa * Unit);
      return sign != 0 ? -value : value;
    }
    const uint32_t exponent = static_cast<uint32_t>(field - Bias + 127) << 23;
    return std::bit_cast<float>(sign | exponent | (mantissa << (23 - MantissaBits)));
  }
};

using F16 = Format<5, 10>;
using BF16 = Format<8, 7>;
static_assert(F16::Nan == 0x7e00 && BF16::Nan == 0x7fc0);

}  // namespace frazil::float16
