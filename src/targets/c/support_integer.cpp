// Support code for machine integers: what C leaves undefined (MIN / -1, shifts by the width, clz of 0) or
// has no operator for. Everything else is written as plain C by the emitter.
#include "targets/c/support.h"

namespace frazil::targets::c {
namespace {

constexpr Piece Pieces[] = {
    {"i128", "", R"c(
__extension__ typedef __int128 frz_i128;
__extension__ typedef unsigned __int128 frz_u128;
)c"},
    {"div_trunc", "", R"c(
/* a / b towards zero; b is not 0, and MIN / -1 wraps. */
static inline $T frz_div_trunc_$t($T a, $T b) {
  return b == -1 ? ($T)(0u - ($A)a) : ($T)(a / b);
}
)c"},
    {"rem_trunc", "", R"c(
/* a % b with the sign of a; b is not 0, and MIN % -1 is 0. */
static inline $T frz_rem_trunc_$t($T a, $T b) {
  return b == -1 ? ($T)0 : ($T)(a % b);
}
)c"},
    {"div_floor", "", R"c(
/* a / b towards minus infinity; b is not 0, and MIN / -1 wraps. */
static inline $T frz_div_floor_$t($T a, $T b) {
  if (b == -1) return ($T)(0u - ($A)a);
  const $T quotient = ($T)(a / b);
  return a % b != 0 && (a < 0) != (b < 0) ? ($T)(quotient - 1) : quotient;
}
)c"},
    {"rem_floor", "", R"c(
/* a modulo b with the sign of b; b is not 0, and MIN modulo -1 is 0. */
static inline $T frz_rem_floor_$t($T a, $T b) {
  if (b == -1) return 0;
  const $T remainder = ($T)(a % b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? ($T)(remainder + b) : remainder;
}
)c"},
    {"mul_hi", "i128", R"c(
/* The upper half of the double-width product. */
static inline $T frz_mul_hi_$t($T a, $T b) {
  return ($T)((($D)a * b) >> $W);
}
)c"},
    {"abs", "", R"c(
static inline $T frz_abs_$t($T a) {
  return a < 0 ? ($T)(0u - ($A)a) : a;
}
)c"},
    {"min", "", R"c(
static inline $T frz_min_$t($T a, $T b) {
  return b < a ? b : a;
}
)c"},
    {"max", "", R"c(
static inline $T frz_max_$t($T a, $T b) {
  return a < b ? b : a;
}
)c"},
    {"rotl", "", R"c(
static inline $T frz_rotl_$t($T a, $T amount) {
  const $A x = ($U)a;
  const $A n = ($A)amount & ($W - 1);
  return ($T)((x << n) | (x >> (($W - n) & ($W - 1))));
}
)c"},
    {"rotr", "", R"c(
static inline $T frz_rotr_$t($T a, $T amount) {
  const $A x = ($U)a;
  const $A n = ($A)amount & ($W - 1);
  return ($T)((x >> n) | (x << (($W - n) & ($W - 1))));
}
)c"},
    {"clz", "", R"c(
/* Leading zeros; the width for 0. */
static inline $T frz_clz_$t($T a) {
  const uint64_t x = ($U)a;
  return ($T)(x == 0 ? $W : __builtin_clzll(x) - (64 - $W));
}
)c"},
    {"ctz", "", R"c(
/* Trailing zeros; the width for 0. */
static inline $T frz_ctz_$t($T a) {
  const uint64_t x = ($U)a;
  return ($T)(x == 0 ? $W : __builtin_ctzll(x));
}
)c"},
    {"popcnt", "", R"c(
static inline $T frz_popcnt_$t($T a) {
  return ($T)__builtin_popcountll(($U)a);
}
)c"},
    {"outside", "", R"c(
/* Is there no element `index`? A negative index is a huge unsigned one. */
static inline bool frz_outside(int64_t index, int64_t length) {
  return (uint64_t)index >= (uint64_t)length;
}
)c"},
    {"trips", "", R"c(
/* How often a loop from lo to hi runs. Both come sign- or zero-extended, lo < hi is `runs`. */
static inline uint64_t frz_trips(bool runs, uint64_t lo, uint64_t hi, uint64_t step) {
  return runs ? (hi - lo - 1u) / step + 1u : 0u;
}
)c"},
};

}  // namespace

std::span<const Piece> IntegerPieces() { return Pieces; }

}  // namespace frazil::targets::c
