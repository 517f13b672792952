// -O3 -march=native -fveclib=libmvec -fopenmp-simd, without errno; __restrict, so that no test of overlap stands before
// the loops.
#include "kernel_peer.h"

#include <cmath>

namespace frazil::bench::peer {
namespace {

using Vector = float __attribute__((vector_size(64)));

inline Vector Load(const float* x) {
  Vector v;
  __builtin_memcpy(&v, x, sizeof v);
  return v;
}

inline void Stream(float* z, Vector v) {
  __builtin_nontemporal_store(v, reinterpret_cast<Vector*>(z));
}

}  // namespace

void PlainAdd(size_t n, const float* __restrict x, const float* __restrict y, float* __restrict z) {
  for (size_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}

void PlainTriad(size_t n, float a, const float* __restrict x, const float* __restrict y,
                float* __restrict z) {
  for (size_t i = 0; i < n; ++i) z[i] = x[i] + a * y[i];
}

void PlainRelu(size_t n, const float* __restrict x, float* __restrict y) {
  for (size_t i = 0; i < n; ++i) y[i] = x[i] < 0.0f ? 0.0f : x[i];
}

// Arrays begin at lines and hold whole vectors.
void StreamAdd(size_t n, const float* x, const float* y, float* z) {
#pragma clang loop unroll_count(4)
  for (size_t i = 0; i < n; i += 16) Stream(z + i, Load(x + i) + Load(y + i));
  __builtin_ia32_sfence();
}

void StreamTriad(size_t n, float a, const float* x, const float* y, float* z) {
#pragma clang loop unroll_count(4)
  for (size_t i = 0; i < n; i += 16) Stream(z + i, Load(x + i) + a * Load(y + i));
  __builtin_ia32_sfence();
}

void StreamRelu(size_t n, const float* x, float* y) {
  const Vector zero = {};
#pragma clang loop unroll_count(4)
  for (size_t i = 0; i < n; i += 16) {
    const Vector v = Load(x + i);
    Stream(y + i, v < zero ? zero : v);
  }
  __builtin_ia32_sfence();
}

float ReadOnce(size_t n, const float* x) {
  Vector sums[8] = {};
  for (size_t i = 0; i < n; i += 128)
    for (size_t v = 0; v < 8; ++v) {
      __builtin_prefetch(x + i + 16 * v + 128);
      sums[v] += Load(x + i + 16 * v);
    }
  for (size_t v = 1; v < 8; ++v) sums[0] += sums[v];
  return sums[0][0] + sums[0][15];
}

float ReadInFour(size_t n, const float* x) {
  Vector sums[4] = {};
  const size_t part = n / 4;
  for (size_t i = 0; i < part; i += 16)
    for (size_t v = 0; v < 4; ++v) sums[v] += Load(x + i + v * part);
  for (size_t v = 1; v < 4; ++v) sums[0] += sums[v];
  return sums[0][0] + sums[0][15];
}

void Exp(size_t n, const float* __restrict x, float* __restrict y) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = expf(x[i]);
}

void Sigmoid(size_t n, const float* __restrict x, float* __restrict y) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = 1.0f / (1.0f + expf(-x[i]));
}

void Tanh(size_t n, const float* __restrict x, float* __restrict y) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = tanhf(x[i]);
}

void Gelu(size_t n, const float* __restrict x, float* __restrict y) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

void Log(size_t n, const float* __restrict x, float* __restrict y) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = logf(x[i]);
}

void Saxpy(size_t n, float a, const float* __restrict x, float* __restrict y) {
#pragma omp simd
  for (size_t i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void Mandelbrot(size_t width, size_t height, int32_t most, int32_t* __restrict out) {
#pragma omp simd
  for (size_t i = 0; i < width * height; ++i) {
    const float cx = static_cast<float>(i % width) * (3.0f / static_cast<float>(width)) - 2.0f;
    const float cy = static_cast<float>(i / width) * (2.0f / static_cast<float>(height)) - 1.0f;
    float zx = 0, zy = 0;
    int32_t count = 0;
    while (count < most && zx * zx + zy * zy <= 4.0f) {
      const float next = zx * zx - zy * zy + cx;
      zy = 2.0f * zx * zy + cy;
      zx = next;
      ++count;
    }
    out[i] = count;
  }
}

void Softmax(size_t rows, size_t columns, const float* __restrict x, float* __restrict y) {
#pragma clang fp reassociate(on)
  for (size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float greatest = x[0];
#pragma omp simd reduction(max : greatest)
    for (size_t j = 0; j < columns; ++j) greatest = x[j] > greatest ? x[j] : greatest;
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (size_t j = 0; j < columns; ++j) {
      y[j] = expf(x[j] - greatest);
      total += y[j];
    }
#pragma omp simd
    for (size_t j = 0; j < columns; ++j) y[j] = y[j] / total;
  }
}

void LayerNorm(size_t rows, size_t columns, const float* __restrict x,
               const float* __restrict scale, const float* __restrict bias, float* __restrict y) {
  for (size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (size_t j = 0; j < columns; ++j) total += x[j];
    const float mean = total / static_cast<float>(columns);
    float spread = 0;
#pragma omp simd reduction(+ : spread)
    for (size_t j = 0; j < columns; ++j) spread += (x[j] - mean) * (x[j] - mean);
    const float scaling = 1.0f / sqrtf(spread / static_cast<float>(columns) + 1e-5f);
#pragma omp simd
    for (size_t j = 0; j < columns; ++j) y[j] = (x[j] - mean) * scaling * scale[j] + bias[j];
  }
}

// Four rows at a time, so that sums are read and written once for all of them.
void ColumnSums(size_t rows, size_t columns, const float* __restrict g, const float* __restrict x,
                float* __restrict scale, float* __restrict bias) {
#pragma omp simd
  for (size_t j = 0; j < columns; ++j) scale[j] = bias[j] = 0;
  for (size_t r = 0; r + 4 <= rows; r += 4, g += 4 * columns, x += 4 * columns) {
#pragma omp simd
    for (size_t j = 0; j < columns; ++j) {
      float s = scale[j], b = bias[j];
      for (size_t k = 0; k < 4; ++k) {
        s += g[k * columns + j] * x[k * columns + j];
        b += g[k * columns + j];
      }
      scale[j] = s, bias[j] = b;
    }
  }
}

void BlackScholes(size_t n, const float* __restrict spot, const float* __restrict strike,
                  const float* __restrict years, float rate, float volatility,
                  float* __restrict call, float* __restrict put) {
  // The normal distribution by its polynomial, as in the usual benchmark.
  auto distribution = [](float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float tail =
        0.39894228f * expf(-0.5f * d * d) *
        (k * (0.31938153f +
              k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
  };
#pragma omp simd
  for (size_t i = 0; i < n; ++i) {
    const float root = sqrtf(years[i]);
    const float d1 =
        (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
        (volatility * root);
    const float d2 = d1 - volatility * root;
    const float n1 = distribution(d1), n2 = distribution(d2);
    const float discount = strike[i] * expf(-rate * years[i]);
    call[i] = spot[i] * n1 - discount * n2;
    put[i] = discount * (1.0f - n2) - spot[i] * (1.0f - n1);
  }
}

}  // namespace frazil::bench::peer
