// Support code for floats. The one quiet NaN is made by `one_nan`, once after an operation whose value is
// moved; the 16-bit floats are converted in integers, so that a header means the same without F16C.
#include "targets/c/support.h"

namespace frazil::targets::c {
namespace {

constexpr Piece Pieces[] = {
    {"exact", "", R"c(
/* No fused multiply-add that the program does not ask for; gcc is told so for the whole header. */
#if defined(__clang__)
#define FRZ_EXACT _Pragma("STDC FP_CONTRACT OFF")
#else
#define FRZ_EXACT
#endif
)c"},
    {"from_bits", "", R"c(
static inline $T frz_from_bits_$t($U bits) {
  $T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
)c"},
    {"to_bits", "", R"c(
static inline $U frz_to_bits_$t($T value) {
  $U bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
)c"},
    {"nan_f32", "from_bits:f32", R"c(
/* The one quiet NaN. */
static inline float frz_nan_f32(void) {
  return frz_from_bits_f32(0x7fc00000u);
}
)c"},
    {"nan_f64", "from_bits:f64", R"c(
/* The one quiet NaN. */
static inline double frz_nan_f64(void) {
  return frz_from_bits_f64(0x7ff8000000000000ull);
}
)c"},
    {"one_nan", "nan_$t", R"c(
/* Arithmetic that gives a NaN gives the one quiet NaN. */
static inline $T frz_one_nan_$t($T x) {
  return x != x ? frz_nan_$t() : x;
}
)c"},
    {"nan_by_bits", "from_bits:$t to_bits:$t", R"c(
/* The same by bits, for square roots: LLVM takes `x < 0 ? NaN : sqrt(x)` for sqrt(x), whose NaN has a sign. */
static inline $T frz_nan_by_bits_$t($T x) {
  const $U bits = frz_to_bits_$t(x);
  return frz_from_bits_$t((bits & $a) > $i ? $q : bits);
}
)c"},
    {"fmin", "to_bits:$t", R"c(
/* The lesser; a NaN is dropped, -0 < +0. */
static inline $T frz_fmin_$t($T a, $T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return frz_to_bits_$t(a) >> ($W - 1) ? a : b;
  return a < b ? a : b;
}
)c"},
    {"fmax", "to_bits:$t", R"c(
/* The greater; a NaN is dropped, -0 < +0. */
static inline $T frz_fmax_$t($T a, $T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return frz_to_bits_$t(a) >> ($W - 1) ? b : a;
  return a < b ? b : a;
}
)c"},
    {"minimum", "fmin:$t nan_$t", R"c(
/* The lesser; NaN if either is, -0 < +0. */
static inline $T frz_minimum_$t($T a, $T b) {
  return a != a || b != b ? frz_nan_$t() : frz_fmin_$t(a, b);
}
)c"},
    {"maximum", "fmax:$t nan_$t", R"c(
/* The greater; NaN if either is, -0 < +0. */
static inline $T frz_maximum_$t($T a, $T b) {
  return a != a || b != b ? frz_nan_$t() : frz_fmax_$t(a, b);
}
)c"},
    {"f32_to", "", R"c(
/* Towards zero, saturating; NaN gives 0. */
static inline $T frz_f32_to_$t(float x) {
  if (x != x) return 0;
  if (x <= $Lf) return $N;
  if (x >= $Hf) return $X;
  return ($T)x;
}
)c"},
    {"f64_to", "", R"c(
/* Towards zero, saturating; NaN gives 0. */
static inline $T frz_f64_to_$t(double x) {
  if (x != x) return 0;
  if (x <= $L) return $N;
  if (x >= $H) return $X;
  return ($T)x;
}
)c"},
    {"round_half", "to_bits:f64", R"c(
/* The bits of x rounded once, to nearest even, to a 16-bit float with that many mantissa bits and that
   least exponent. */
static inline uint16_t frz_round_half(double x, int mantissa_bits, int least_exponent) {
  const uint64_t bits = frz_to_bits_f64(x);
  const uint32_t sign = (uint32_t)(bits >> 48) & 0x8000u;
  const uint32_t infinity = 0x7fffu >> mantissa_bits << mantissa_bits;
  const int field = (int)(bits >> 52) & 0x7ff;
  const int exponent = field - 1023;
  const int scale = exponent > least_exponent ? exponent : least_exponent;
  const int shift = 52 - mantissa_bits + (scale - exponent);
  if (x != x) return (uint16_t)(infinity | 1u << (mantissa_bits - 1));
  if (exponent > 1 - least_exponent) return (uint16_t)(sign | infinity);
  if (field == 0 || shift > 54) return (uint16_t)sign;
  const uint64_t significand = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  const uint64_t low = significand & ((1ull << shift) - 1);
  const uint64_t half = 1ull << (shift - 1);
  uint64_t units = significand >> shift;
  if (low > half || (low == half && (units & 1) != 0)) units += 1;
  const uint64_t magnitude = ((uint64_t)(scale - least_exponent) << mantissa_bits) + units;
  return (uint16_t)(sign | (magnitude < infinity ? (uint32_t)magnitude : infinity));
}
)c"},
    {"to_f16", "round_half", R"c(
static inline uint16_t frz_to_f16(double x) {
  return frz_round_half(x, 10, -14);
}
)c"},
    {"to_bf16", "round_half", R"c(
static inline uint16_t frz_to_bf16(double x) {
  return frz_round_half(x, 7, -126);
}
)c"},
    {"from_f16", "from_bits:f32 to_bits:f32", R"c(
static inline float frz_from_f16(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
  const uint32_t magnitude = h & 0x7fffu;
  if (magnitude > 0x7c00u) return frz_from_bits_f32(0x7fc00000u);
  if (magnitude == 0x7c00u) return frz_from_bits_f32(sign | 0x7f800000u);
  if (magnitude < 0x400u) {
    return frz_from_bits_f32(sign | frz_to_bits_f32((float)magnitude * 5.9604644775390625e-8f));
  }
  return frz_from_bits_f32(sign | ((magnitude << 13) + 0x38000000u));
}
)c"},
    {"from_bf16", "from_bits:f32", R"c(
static inline float frz_from_bf16(uint16_t h) {
  return frz_from_bits_f32((h & 0x7fffu) > 0x7f80u ? 0x7fc00000u : (uint32_t)h << 16);
}
)c"},
    {"u64_to_odd", "", R"c(
/* To 53 bits by rounding to odd, so that a second rounding to 16 bits is right. */
static inline double frz_u64_to_odd(uint64_t x) {
  if (x >> 53 != 0) x = (x & ~0x7ffull) | ((x & 0x7ffull) != 0 ? 0x800ull : 0u);
  return (double)x;
}
)c"},
    {"i64_to_odd", "u64_to_odd", R"c(
static inline double frz_i64_to_odd(int64_t x) {
  return x < 0 ? -frz_u64_to_odd(0u - (uint64_t)x) : frz_u64_to_odd((uint64_t)x);
}
)c"},
};

}  // namespace

std::span<const Piece> FloatPieces() { return Pieces; }

}  // namespace frazil::targets::c
