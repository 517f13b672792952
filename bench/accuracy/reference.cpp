// One row per unary function. glibc's double functions are within 2 ulp (2^-51), so a result that
// is farther than 2^-24 of an f32 ulp from a tie is rounded rightly by the double alone; gelu is
// composed here and loses up to 2^8 ulp where e^(-x^2/2) is steep, so it gets a wider band.
#include "reference.h"

#include <cmath>

namespace frazil::bench {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Gelu(double x) {
  return x == 0 ? x : x == -HUGE_VAL ? -0.0 : 0.5 * x * std::erfc(-x * 0.70710678118654752440);
}
double Rsqrt(double x) { return 1 / std::sqrt(x); }

void SigmoidExact(mpfr_t r, const mpfr_t x) {
  mpfr_neg(r, x, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

void GeluExact(mpfr_t r, const mpfr_t x) {
  if (mpfr_inf_p(x) && mpfr_signbit(x)) {
    mpfr_set_zero(r, -1);
    return;
  }
  mpfr_t root;
  mpfr_init2(root, mpfr_get_prec(r));
  mpfr_sqrt_ui(root, 2, MPFR_RNDN);
  mpfr_div(r, x, root, MPFR_RNDN);
  mpfr_neg(r, r, MPFR_RNDN);
  mpfr_erfc(r, r, MPFR_RNDN);
  mpfr_mul(r, r, x, MPFR_RNDN);
  mpfr_div_2ui(r, r, 1, MPFR_RNDN);
  mpfr_clear(root);
}

// IEEE 754 rSqrt(-0) is -inf; mpfr_rec_sqrt gives +inf.
void RsqrtExact(mpfr_t r, const mpfr_t x) {
  mpfr_sqrt(r, x, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

template <int (*F)(mpfr_t, const mpfr_t, mpfr_rnd_t)>
void Mp(mpfr_t r, const mpfr_t x) {
  F(r, x, MPFR_RNDN);
}

constexpr double Libm = 0x1p-24;
constexpr Reference Table[] = {
    {"exp", std::exp, Mp<mpfr_exp>, Libm, -746, 710},
    {"exp2", std::exp2, Mp<mpfr_exp2>, Libm, -1076, 1024},
    {"expm1", std::expm1, Mp<mpfr_expm1>, Libm, -40, 710},
    {"log", std::log, Mp<mpfr_log>, Libm, 0, 8},
    {"log2", std::log2, Mp<mpfr_log2>, Libm, 0, 8},
    {"log10", std::log10, Mp<mpfr_log10>, Libm, 0, 8},
    {"log1p", std::log1p, Mp<mpfr_log1p>, Libm, -1, 8},
    {"sin", std::sin, Mp<mpfr_sin>, Libm, -1e6, 1e6},
    {"cos", std::cos, Mp<mpfr_cos>, Libm, -1e6, 1e6},
    {"tan", std::tan, Mp<mpfr_tan>, Libm, -1e6, 1e6},
    {"atan", std::atan, Mp<mpfr_atan>, Libm, -8, 8},
    {"sinh", std::sinh, Mp<mpfr_sinh>, Libm, -711, 711},
    {"cosh", std::cosh, Mp<mpfr_cosh>, Libm, -711, 711},
    {"tanh", std::tanh, Mp<mpfr_tanh>, Libm, -20, 20},
    {"sigmoid", Sigmoid, SigmoidExact, Libm, -746, 40},
    {"erf", std::erf, Mp<mpfr_erf>, Libm, -6, 6},
    {"gelu", Gelu, GeluExact, 0x1p-19, -38.6, 9},
    {"rsqrt", Rsqrt, RsqrtExact, Libm, 0, 4},
    {"cbrt", std::cbrt, Mp<mpfr_cbrt>, Libm, -8, 8},
};

}  // namespace

std::span<const Reference> References() { return Table; }

const Reference* FindReference(std::string_view op) {
  for (const Reference& row : Table) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

}  // namespace frazil::bench
