// Support code for the field of p = 2^64 - 2^32 + 1, its cubic extension and digests. Arguments and results
// are canonical (less than p).
#include "targets/c/support.h"

namespace frazil::targets::c {
namespace {

constexpr Piece Pieces[] = {
    {"field_sub", "", R"c(
static inline uint64_t frz_field_sub(uint64_t a, uint64_t b) {
  return a >= b ? a - b : a - b + 0xffffffff00000001ull;
}
)c"},
    {"field_neg", "", R"c(
static inline uint64_t frz_field_neg(uint64_t a) {
  return a == 0 ? 0 : 0xffffffff00000001ull - a;
}
)c"},
    {"field_add", "", R"c(
static inline uint64_t frz_field_add(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum < a || sum >= 0xffffffff00000001ull ? sum - 0xffffffff00000001ull : sum;
}
)c"},
    {"field_mul", "i128", R"c(
/* 2^64 is 2^32 - 1 and 2^96 is -1 modulo p. */
static inline uint64_t frz_field_mul(uint64_t a, uint64_t b) {
  const frz_u128 product = (frz_u128)a * b;
  const uint64_t low = (uint64_t)product;
  const uint64_t high = (uint64_t)(product >> 64);
  const uint64_t middle = (high & 0xffffffffu) * 0xffffffffu;
  uint64_t sum = low - (high >> 32);
  if (low < high >> 32) sum -= 0xffffffffu;
  sum += middle;
  if (sum < middle) sum += 0xffffffffu;
  return sum >= 0xffffffff00000001ull ? sum - 0xffffffff00000001ull : sum;
}
)c"},
    {"field_invert", "field_mul", R"c(
/* a^n squared `times` times, times b. */
static inline uint64_t frz_field_square_times(uint64_t a, int times, uint64_t b) {
  for (int i = 0; i < times; ++i) a = frz_field_mul(a, a);
  return frz_field_mul(a, b);
}

/* a^(p - 2), where p - 2 = (2^31 - 1) 2^33 + 2^32 - 1; `aN` is a^(2^N - 1). a is not 0. */
static inline uint64_t frz_field_invert(uint64_t a) {
  const uint64_t a2 = frz_field_square_times(a, 1, a);
  const uint64_t a3 = frz_field_square_times(a2, 1, a);
  const uint64_t a6 = frz_field_square_times(a3, 3, a3);
  const uint64_t a12 = frz_field_square_times(a6, 6, a6);
  const uint64_t a24 = frz_field_square_times(a12, 12, a12);
  const uint64_t a30 = frz_field_square_times(a24, 6, a6);
  const uint64_t a31 = frz_field_square_times(a30, 1, a);
  const uint64_t a32 = frz_field_square_times(a31, 1, a);
  return frz_field_square_times(a31, 33, a32);
}
)c"},
    {"field_from_i64", "", R"c(
static inline uint64_t frz_field_from_i64(int64_t a) {
  return a < 0 ? (uint64_t)a + 0xffffffff00000001ull : (uint64_t)a;
}
)c"},
    {"field_from_u64", "", R"c(
static inline uint64_t frz_field_from_u64(uint64_t a) {
  return a >= 0xffffffff00000001ull ? a - 0xffffffff00000001ull : a;
}
)c"},
    {"xfield", "", R"c(
/* c[0] + c[1] x + c[2] x^2 modulo x^3 - x + 1. */
typedef struct frz_xfield {
  uint64_t c[3];
} frz_xfield;
)c"},
    {"digest", "", R"c(
typedef struct frz_digest {
  uint64_t c[5];
} frz_digest;
)c"},
    {"make_xfield", "xfield", R"c(
static inline frz_xfield frz_make_xfield(uint64_t c0, uint64_t c1, uint64_t c2) {
  const frz_xfield r = {{c0, c1, c2}};
  return r;
}
)c"},
    {"make_digest", "digest", R"c(
static inline frz_digest frz_make_digest(uint64_t c0, uint64_t c1, uint64_t c2, uint64_t c3, uint64_t c4) {
  const frz_digest r = {{c0, c1, c2, c3, c4}};
  return r;
}
)c"},
    {"xfield_add", "make_xfield field_add", R"c(
static inline frz_xfield frz_xfield_add(frz_xfield a, frz_xfield b) {
  return frz_make_xfield(frz_field_add(a.c[0], b.c[0]), frz_field_add(a.c[1], b.c[1]),
                         frz_field_add(a.c[2], b.c[2]));
}
)c"},
    {"xfield_sub", "make_xfield field_sub", R"c(
static inline frz_xfield frz_xfield_sub(frz_xfield a, frz_xfield b) {
  return frz_make_xfield(frz_field_sub(a.c[0], b.c[0]), frz_field_sub(a.c[1], b.c[1]),
                         frz_field_sub(a.c[2], b.c[2]));
}
)c"},
    {"xfield_neg", "make_xfield field_neg", R"c(
static inline frz_xfield frz_xfield_neg(frz_xfield a) {
  return frz_make_xfield(frz_field_neg(a.c[0]), frz_field_neg(a.c[1]), frz_field_neg(a.c[2]));
}
)c"},
    {"xfield_mul", "make_xfield field_add field_sub field_mul", R"c(
/* x^3 is x - 1 and x^4 is x^2 - x. */
static inline frz_xfield frz_xfield_mul(frz_xfield a, frz_xfield b) {
  uint64_t d[5] = {0, 0, 0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) d[i + j] = frz_field_add(d[i + j], frz_field_mul(a.c[i], b.c[j]));
  }
  return frz_make_xfield(frz_field_sub(d[0], d[3]), frz_field_sub(frz_field_add(d[1], d[3]), d[4]),
                         frz_field_add(d[2], d[4]));
}
)c"},
    {"xfield_invert", "make_xfield field_add field_sub field_neg field_mul field_invert", R"c(
/* By Cramer's rule on the matrix of "times a", whose columns are a, a x, a x^2. a is not 0. */
static inline frz_xfield frz_xfield_invert(frz_xfield a) {
  const uint64_t m[3][3] = {
      {a.c[0], a.c[1], a.c[2]},
      {frz_field_neg(a.c[2]), frz_field_add(a.c[0], a.c[2]), a.c[1]},
      {frz_field_neg(a.c[1]), frz_field_sub(a.c[1], a.c[2]), frz_field_add(a.c[0], a.c[2])}};
  uint64_t minor[3];
  uint64_t determinant = 0;
  for (int i = 0; i < 3; ++i) {
    const uint64_t* u = m[(i + 1) % 3];
    const uint64_t* v = m[(i + 2) % 3];
    minor[i] = frz_field_sub(frz_field_mul(u[1], v[2]), frz_field_mul(u[2], v[1]));
    determinant = frz_field_add(determinant, frz_field_mul(m[i][0], minor[i]));
  }
  determinant = frz_field_invert(determinant);
  return frz_make_xfield(frz_field_mul(minor[0], determinant), frz_field_mul(minor[1], determinant),
                         frz_field_mul(minor[2], determinant));
}
)c"},
    {"words_equal", "", R"c(
static inline bool frz_words_equal(const uint64_t* a, const uint64_t* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}
)c"},
};

}  // namespace

std::span<const Piece> FieldPieces() { return Pieces; }

}  // namespace frazil::targets::c
