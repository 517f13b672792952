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

namespace {

template <long K, long Step, bool IsMean>
void PoolOf(long planes, long size, const float* __restrict x, float* __restrict y) {
  const long places = (size - K) / Step + 1;
  for (long c = 0; c < planes; ++c)
    for (long p = 0; p < places; ++p)
      for (long q = 0; q < places; ++q) {
        const float* from = x + (c * size + p * Step) * size + q * Step;
        float all = 0;
        for (long i = 0; i < K; ++i) {
          float row = from[i * size];
          for (long j = 1; j < K; ++j) {
            const float e = from[i * size + j];
            row = IsMean ? row + e : (row > e ? row : e);
          }
          all = i == 0 ? row : IsMean ? all + row : (all > row ? all : row);
        }
        y[(c * places + p) * places + q] = IsMean ? all * static_cast<float>(1.0 / (K * K)) : all;
      }
}

}  // namespace

void Pool(long planes, long size, long k, long step, bool is_mean, const float* x, float* y) {
  if (k == 2)
    return is_mean ? PoolOf<2, 2, true>(planes, size, x, y)
                   : PoolOf<2, 2, false>(planes, size, x, y);
  if (step == 2)
    return is_mean ? PoolOf<3, 2, true>(planes, size, x, y)
                   : PoolOf<3, 2, false>(planes, size, x, y);
  return is_mean ? PoolOf<3, 1, true>(planes, size, x, y) : PoolOf<3, 1, false>(planes, size, x, y);
}

void Transpose(long n, const float* __restrict x, float* __restrict y) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) y[i * n + j] = x[j * n + i];
}

void Argmax(long rows, long columns, const float* __restrict x, float* __restrict y) {
  for (long r = 0; r < rows; ++r) {
    long best = 0;
    for (long j = 1; j < columns; ++j)
      if (x[r * columns + j] > x[r * columns + best]) best = j;
    y[r] = static_cast<float>(best);
  }
}

void ScanRows(long rows, long columns, const float* __restrict x, float* __restrict y) {
  for (long r = 0; r < rows; ++r) {
    float sum = x[r * columns];
    y[r * columns] = sum;
    for (long j = 1; j < columns; ++j) y[r * columns + j] = sum += x[r * columns + j];
  }
}

void ScanColumns(long rows, long columns, const float* __restrict x, float* __restrict y) {
  for (long j = 0; j < columns; ++j) y[j] = x[j];
  for (long r = 1; r < rows; ++r)
    for (long j = 0; j < columns; ++j)
      y[r * columns + j] = y[(r - 1) * columns + j] + x[r * columns + j];
}

}  // namespace frazil::bench::peer
