// Two speeds. For f32 the double of libm decides unless it lies within its own error of a tie or
// our result differs from it; MPFR decides the rest and all of f64.
#include "judge.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace frazil::bench {
namespace {

constexpr size_t KeptMisrounded = 8;
constexpr uint32_t QuietNan32 = 0x7fc00000;
constexpr uint64_t QuietNan64 = 0x7ff8000000000000;

// 1 / ulp of an f32 result near `value`.
double InverseUlp32(double value) {
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff) - 1023;
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + 23 - std::max(exponent, -126)) << 52);
}

void Worse(Score& score, double ulp, uint64_t a, uint64_t b = 0) {
  if (ulp > score.max_ulp) {
    score.max_ulp = ulp;
    score.worst[0] = a;
    score.worst[1] = b;
  }
}

void Special(Score& score, uint64_t a, uint64_t b = 0) {
  if (score.wrong_special++ == 0) {
    score.first_special[0] = a;
    score.first_special[1] = b;
  }
}

// |value - y| in ulps of a format with the given precision and least exponent of a subnormal.
double UlpError(mpfr_t difference, const mpfr_t value, double y, int precision, int least) {
  mpfr_sub_d(difference, value, y, MPFR_RNDN);
  mpfr_abs(difference, difference, MPFR_RNDN);
  const long exponent = mpfr_zero_p(value) ? least : mpfr_get_exp(value) - precision;
  mpfr_mul_2si(difference, difference, -std::max<long>(exponent, least), MPFR_RNDN);
  return mpfr_get_d(difference, MPFR_RNDN);
}

// Judges a result against MPFR's value, special cases first. `rounded` is the value in the format.
template <typename T>
void Compare(T y, T rounded, mpfr_t difference, const mpfr_t value, Score& score, uint64_t a,
             uint64_t b) {
  constexpr bool Narrow = sizeof(T) == 4;
  if (std::isnan(rounded)) {
    const bool quiet = Narrow ? std::bit_cast<uint32_t>(static_cast<float>(y)) == QuietNan32
                              : std::bit_cast<uint64_t>(static_cast<double>(y)) == QuietNan64;
    if (!quiet) Special(score, a, b);
    return;
  }
  if (y == rounded && std::signbit(y) == std::signbit(rounded)) {
    if (std::isfinite(rounded))
      Worse(score, UlpError(difference, value, y, Narrow ? 24 : 53, Narrow ? -149 : -1074), a, b);
    return;
  }
  ++score.not_correctly_rounded;
  if (score.misrounded.size() < KeptMisrounded) score.misrounded.push_back(a);
  if (std::isnan(y) || mpfr_inf_p(value) || (y == 0 && rounded == 0) ||
      std::signbit(y) != std::signbit(rounded)) {
    Special(score, a, b);
    return;
  }
  // An overflow one step early or late counts from the first power of two outside.
  const double stand_in =
      std::isinf(y) ? std::copysign(Narrow ? 0x1p128 : 0x1.fffffffffffffp1023, y) : y;
  Worse(score, UlpError(difference, value, stand_in, Narrow ? 24 : 53, Narrow ? -149 : -1074), a,
        b);
}

}  // namespace

void Score::Add(const Score& other) {
  inputs += other.inputs;
  misrounded.insert(misrounded.end(), other.misrounded.begin(), other.misrounded.end());
  not_correctly_rounded += other.not_correctly_rounded;
  if (wrong_special == 0) std::copy(other.first_special, other.first_special + 2, first_special);
  wrong_special += other.wrong_special;
  if (other.max_ulp > max_ulp) {
    max_ulp = other.max_ulp;
    std::copy(other.worst, other.worst + 2, worst);
  }
}

Judge::Judge(const Reference& reference, mpfr_prec_t precision) : reference_(reference) {
  mpfr_init2(x_, 53);
  mpfr_init2(value_, precision);
  mpfr_init2(difference_, precision);
}

Judge::~Judge() {
  mpfr_clear(x_);
  mpfr_clear(value_);
  mpfr_clear(difference_);
}

void Judge::F32(float x, float y, Score& score) {
  ++score.inputs;
  const double value = reference_.fast(x);
  const float rounded = static_cast<float>(value);
  if (value != value) {
    if (std::bit_cast<uint32_t>(y) != QuietNan32) Special(score, std::bit_cast<uint32_t>(x));
    return;
  }
  const bool same = std::bit_cast<uint32_t>(y) == std::bit_cast<uint32_t>(rounded);
  // Far beyond the largest float (or at infinity itself) there is nothing to measure.
  if (same && std::fabs(value) > 0x1.00001p128) return;
  const double ulp = std::fabs(value - rounded) * InverseUlp32(value);
  if (same && ulp < 0.5 - reference_.slack) {
    if (ulp > score.max_ulp) Worse(score, ulp, std::bit_cast<uint32_t>(x));
    return;
  }
  Exact32(x, y, score);
}

void Judge::Exact32(float x, float y, Score& score) {
  mpfr_set_flt(x_, x, MPFR_RNDN);
  reference_.exact(value_, x_);
  Compare(y, mpfr_get_flt(value_, MPFR_RNDN), difference_, value_, score,
          std::bit_cast<uint32_t>(x), 0);
}

void Judge::F64(double x, double y, Score& score) {
  ++score.inputs;
  mpfr_set_d(x_, x, MPFR_RNDN);
  reference_.exact(value_, x_);
  Compare(y, mpfr_get_d(value_, MPFR_RNDN), difference_, value_, score, std::bit_cast<uint64_t>(x),
          0);
}

PowJudge::PowJudge() {
  mpfr_init2(x_, 53);
  mpfr_init2(y_, 53);
  mpfr_init2(value_, 200);
  mpfr_init2(difference_, 200);
}

PowJudge::~PowJudge() {
  mpfr_clear(x_);
  mpfr_clear(y_);
  mpfr_clear(value_);
  mpfr_clear(difference_);
}

void PowJudge::F32(float x, float y, float z, Score& score) {
  ++score.inputs;
  mpfr_set_flt(x_, x, MPFR_RNDN);
  mpfr_set_flt(y_, y, MPFR_RNDN);
  mpfr_pow(value_, x_, y_, MPFR_RNDN);
  Compare(z, mpfr_get_flt(value_, MPFR_RNDN), difference_, value_, score,
          std::bit_cast<uint32_t>(x), std::bit_cast<uint32_t>(y));
}

void PowJudge::F64(double x, double y, double z, Score& score) {
  ++score.inputs;
  mpfr_set_d(x_, x, MPFR_RNDN);
  mpfr_set_d(y_, y, MPFR_RNDN);
  mpfr_pow(value_, x_, y_, MPFR_RNDN);
  Compare(z, mpfr_get_d(value_, MPFR_RNDN), difference_, value_, score, std::bit_cast<uint64_t>(x),
          std::bit_cast<uint64_t>(y));
}

}  // namespace frazil::bench
