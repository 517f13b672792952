// What the prelude's functions should be: double-precision libm for a first look, MPFR for the
// truth.
#pragma once

#include <mpfr.h>

#include <span>
#include <string_view>

namespace frazil::bench {

struct Reference {
  std::string_view op;                  // mnemonic, "exp"
  double (*fast)(double);               // libm, a few ulp at most
  void (*exact)(mpfr_t, const mpfr_t);  // at the precision of the result
  double slack;   // error of `fast` in ulps of f32: results this near a tie go to MPFR
  double lo, hi;  // where the function is neither constant nor an overflow (f64 samples)
};

std::span<const Reference> References();
const Reference* FindReference(std::string_view op);

}  // namespace frazil::bench
