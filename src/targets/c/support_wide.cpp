// Support code for int<k>: n 64-bit words, least first, two's complement. Functions that can overflow give
// true where the exact result does not fit, and the caller traps. Division is schoolbook in 32-bit digits:
// short, and fast enough for numbers of at most 4096 bits.
#include "targets/c/support.h"

namespace frazil::targets::c {
namespace {

constexpr Piece Pieces[] = {
    {"int", "", R"c(
/* $K x 64 bits, two's complement, least word first. */
typedef struct frz_int$K {
  uint64_t w[$K];
} frz_int$K;
)c"},
    {"wide_compare", "", R"c(
/* Negative, 0 or positive as a is less than, equal to or greater than b. */
static inline int frz_wide_compare(const uint64_t* a, const uint64_t* b, int n) {
  if (a[n - 1] != b[n - 1]) return (int64_t)a[n - 1] < (int64_t)b[n - 1] ? -1 : 1;
  for (int i = n - 2; i >= 0; --i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}
)c"},
    {"wide_add", "", R"c(
static inline bool frz_wide_add(uint64_t* r, const uint64_t* a, const uint64_t* b, int n) {
  uint64_t carry = 0;
  for (int i = 0; i < n; ++i) {
    const uint64_t partial = a[i] + carry;
    r[i] = partial + b[i];
    carry = (uint64_t)(partial < carry) + (uint64_t)(r[i] < partial);
  }
  return (~(a[n - 1] ^ b[n - 1]) & (a[n - 1] ^ r[n - 1])) >> 63 != 0;
}
)c"},
    {"wide_sub", "", R"c(
static inline bool frz_wide_sub(uint64_t* r, const uint64_t* a, const uint64_t* b, int n) {
  uint64_t borrow = 0;
  for (int i = 0; i < n; ++i) {
    const uint64_t partial = a[i] - b[i];
    r[i] = partial - borrow;
    borrow = (uint64_t)(a[i] < b[i]) + (uint64_t)(partial < borrow);
  }
  return ((a[n - 1] ^ b[n - 1]) & (a[n - 1] ^ r[n - 1])) >> 63 != 0;
}
)c"},
    {"wide_neg", "", R"c(
static inline bool frz_wide_neg(uint64_t* r, const uint64_t* a, int n) {
  uint64_t carry = 1;
  const bool was_negative = a[n - 1] >> 63 != 0;
  for (int i = 0; i < n; ++i) {
    r[i] = ~a[i] + carry;
    carry = carry != 0 && r[i] == 0;
  }
  return was_negative && r[n - 1] >> 63 != 0;
}
)c"},
    {"wide_abs", "wide_neg", R"c(
static inline bool frz_wide_abs(uint64_t* r, const uint64_t* a, int n) {
  if (a[n - 1] >> 63 != 0) return frz_wide_neg(r, a, n);
  for (int i = 0; i < n; ++i) r[i] = a[i];
  return false;
}
)c"},
    {"wide_mul", "i128 wide_abs", R"c(
static inline bool frz_wide_mul(uint64_t* r, const uint64_t* a, const uint64_t* b, int n) {
  const bool negative = (a[n - 1] ^ b[n - 1]) >> 63 != 0;
  uint64_t x[64];
  uint64_t y[64];
  uint64_t low[64] = {0};
  bool overflow = false;
  (void)frz_wide_abs(x, a, n);
  (void)frz_wide_abs(y, b, n);
  for (int i = 0; i < n; ++i) {
    uint64_t carry = 0;
    for (int j = 0; j < n; ++j) {
      if (i + j >= n) {
        if (x[i] != 0 && y[j] != 0) overflow = true;
        continue;
      }
      const frz_u128 sum = (frz_u128)x[i] * y[j] + low[i + j] + carry;
      low[i + j] = (uint64_t)sum;
      carry = (uint64_t)(sum >> 64);
    }
    if (carry != 0) overflow = true;
  }
  if (negative) {
    (void)frz_wide_neg(r, low, n);
    /* -2^(64n - 1) fits, and is the only negative one whose magnitude has the top bit. */
    return overflow || (low[n - 1] >> 63 != 0 && frz_wide_neg(x, low, n) == false);
  }
  for (int i = 0; i < n; ++i) r[i] = low[i];
  return overflow || low[n - 1] >> 63 != 0;
}
)c"},
    {"wide_divide", "wide_abs", R"c(
/* One digit of schoolbook division: u -= q v at place j; the digit q. v has `size` > 1 digits, its top bit set. */
static inline uint32_t frz_wide_digit(uint32_t* u, const uint32_t* v, int size) {
  const uint64_t top = (uint64_t)u[size] << 32 | u[size - 1];
  uint64_t q = top / v[size - 1];
  uint64_t rest = top % v[size - 1];
  while (q >> 32 != 0 || q * v[size - 2] > (rest << 32 | u[size - 2])) {
    q -= 1;
    rest += v[size - 1];
    if (rest >> 32 != 0) break;
  }
  uint64_t borrow = 0;
  for (int i = 0; i <= size; ++i) {
    const uint64_t take = i < size ? q * v[i] + borrow : borrow;
    const uint32_t before = u[i];
    u[i] = before - (uint32_t)take;
    borrow = (take >> 32) + (uint64_t)(before < (uint32_t)take);
  }
  if (borrow != 0) {
    uint64_t carry = 0;
    q -= 1;
    for (int i = 0; i <= size; ++i) {
      carry += (uint64_t)u[i] + (i < size ? v[i] : 0u);
      u[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  return (uint32_t)q;
}

/* Magnitudes of quotient and remainder of |a| / |b|; b is not 0. */
static inline void frz_wide_divide(uint64_t* quotient, uint64_t* remainder, const uint64_t* a,
                                   const uint64_t* b, int n) {
  uint64_t x[64];
  uint64_t y[64];
  uint32_t u[129] = {0};
  uint32_t v[128] = {0};
  uint32_t q[128] = {0};
  int size = 2 * n;
  int shift = 0;
  (void)frz_wide_abs(x, a, n);
  (void)frz_wide_abs(y, b, n);
  while (size > 1 && (uint32_t)(y[(size - 1) / 2] >> (size % 2 == 0 ? 32 : 0)) == 0) size -= 1;
  shift = __builtin_clz((uint32_t)(y[(size - 1) / 2] >> (size % 2 == 0 ? 32 : 0)));
  for (int i = 0; i < n; ++i) {
    u[2 * i] |= (uint32_t)(x[i] << shift);
    u[2 * i + 1] = (uint32_t)(x[i] << shift >> 32);
    u[2 * i + 2] = shift == 0 ? 0 : (uint32_t)(x[i] >> (64 - shift));
    v[2 * i] |= (uint32_t)(y[i] << shift);
    v[2 * i + 1] = (uint32_t)(y[i] << shift >> 32);
    if (i + 1 < n) v[2 * i + 2] = shift == 0 ? 0 : (uint32_t)(y[i] >> (64 - shift));
  }
  if (size == 1) {
    uint64_t rest = u[2 * n];
    for (int j = 2 * n - 1; j >= 0; --j) {
      const uint64_t top = rest << 32 | u[j];
      q[j] = (uint32_t)(top / v[0]);
      rest = top % v[0];
      u[j] = 0;
    }
    u[2 * n] = 0;
    u[0] = (uint32_t)rest;
  } else {
    for (int j = 2 * n - size; j >= 0; --j) q[j] = frz_wide_digit(u + j, v, size);
  }
  for (int i = 0; i < n; ++i) {
    const uint64_t low = (uint64_t)u[2 * i + 1] << 32 | u[2 * i];
    quotient[i] = (uint64_t)q[2 * i + 1] << 32 | q[2 * i];
    remainder[i] = shift == 0 ? low : low >> shift | (uint64_t)u[2 * i + 2] << (64 - shift);
  }
}
)c"},
    {"wide_div", "wide_divide", R"c(
/* Towards zero; b is not 0. Only MIN / -1 does not fit. */
static inline bool frz_wide_div(uint64_t* r, const uint64_t* a, const uint64_t* b, int n) {
  const bool negative = (a[n - 1] ^ b[n - 1]) >> 63 != 0;
  uint64_t remainder[64];
  frz_wide_divide(r, remainder, a, b, n);
  if (negative) {
    (void)frz_wide_neg(r, r, n);
    return false;
  }
  return r[n - 1] >> 63 != 0;
}
)c"},
    {"wide_rem", "wide_divide", R"c(
/* With the sign of a; b is not 0. */
static inline void frz_wide_rem(uint64_t* r, const uint64_t* a, const uint64_t* b, int n) {
  const bool negative = a[n - 1] >> 63 != 0;
  uint64_t quotient[64];
  frz_wide_divide(quotient, r, a, b, n);
  if (negative) (void)frz_wide_neg(r, r, n);
}
)c"},
    {"wide_is_zero", "", R"c(
static inline bool frz_wide_is_zero(const uint64_t* a, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] != 0) return false;
  }
  return true;
}
)c"},
    {"wide_min", "int:$K wide_compare", R"c(
static inline frz_int$K frz_wide_min_$K(frz_int$K a, frz_int$K b) {
  return frz_wide_compare(b.w, a.w, $K) < 0 ? b : a;
}
)c"},
    {"wide_max", "int:$K wide_compare", R"c(
static inline frz_int$K frz_wide_max_$K(frz_int$K a, frz_int$K b) {
  return frz_wide_compare(a.w, b.w, $K) < 0 ? b : a;
}
)c"},
    {"wide_from_i64", "", R"c(
static inline void frz_wide_from_i64(uint64_t* r, int n, int64_t a) {
  for (int i = 1; i < n; ++i) r[i] = a < 0 ? UINT64_MAX : 0;
  r[0] = (uint64_t)a;
}
)c"},
    {"wide_from_u64", "", R"c(
static inline bool frz_wide_from_u64(uint64_t* r, int n, uint64_t a) {
  for (int i = 1; i < n; ++i) r[i] = 0;
  r[0] = a;
  return n == 1 && a >> 63 != 0;
}
)c"},
    {"wide_to_i64", "", R"c(
static inline bool frz_wide_to_i64(int64_t* r, const uint64_t* a, int n) {
  const uint64_t sign = a[0] >> 63 != 0 ? UINT64_MAX : 0;
  for (int i = 1; i < n; ++i) {
    if (a[i] != sign) return true;
  }
  *r = (int64_t)a[0];
  return false;
}
)c"},
    {"wide_to_u64", "", R"c(
static inline bool frz_wide_to_u64(uint64_t* r, const uint64_t* a, int n) {
  for (int i = 1; i < n; ++i) {
    if (a[i] != 0) return true;
  }
  *r = a[0];
  return n == 1 && a[0] >> 63 != 0;
}
)c"},
    {"wide_resize", "", R"c(
/* a of m words as r of n words. */
static inline bool frz_wide_resize(uint64_t* r, int n, const uint64_t* a, int m) {
  const uint64_t sign = a[m - 1] >> 63 != 0 ? UINT64_MAX : 0;
  for (int i = 0; i < n; ++i) r[i] = i < m ? a[i] : sign;
  for (int i = n; i < m; ++i) {
    if (a[i] != sign) return true;
  }
  return (r[n - 1] ^ sign) >> 63 != 0;
}
)c"},
};

}  // namespace

std::span<const Piece> WidePieces() { return Pieces; }

}  // namespace frazil::targets::c
