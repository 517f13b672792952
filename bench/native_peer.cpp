// -O3 -march=native; __restrict, so that no test of overlap stands before the loops.
#include "native_peer.h"

namespace frazil::bench::peer {

void Add(size_t n, const float* __restrict x, const float* __restrict y, float* __restrict z) {
  for (size_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}

void Chain(size_t n, const float* __restrict x, const float* __restrict y, float* __restrict z) {
  for (size_t i = 0; i < n; ++i) {
    const float a = x[i] * y[i];
    const float b = a + x[i];
    const float c = b * 0.75f;
    const float d = c - y[i];
    const float e = d * d;
    const float f = e + a;
    const float g = f * 0.3f;
    const float h = g - b;
    const float k = h * c;
    z[i] = k + d;
  }
}

float Sum(size_t n, const float* x) {
#pragma clang fp reassociate(on)
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

}  // namespace frazil::bench::peer
