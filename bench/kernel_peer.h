// The same kernels by the compiler, for this machine: plain loops, loops whose stores pass the caches, loops over
// glibc's vector math.
#pragma once

#include <cstddef>
#include <cstdint>

namespace frazil::bench::peer {

void PlainAdd(size_t n, const float* x, const float* y, float* z);
void PlainTriad(size_t n, float a, const float* x, const float* y, float* z);
void PlainRelu(size_t n, const float* x, float* y);
// STREAM's loops with stores past the caches.
void StreamAdd(size_t n, const float* x, const float* y, float* z);
void StreamTriad(size_t n, float a, const float* x, const float* y, float* z);
void StreamRelu(size_t n, const float* x, float* y);
// A sum of everything in wide registers: from front to back, and as four streams.
float ReadOnce(size_t n, const float* x);
float ReadInFour(size_t n, const float* x);

void Exp(size_t n, const float* x, float* y);
void Sigmoid(size_t n, const float* x, float* y);
void Tanh(size_t n, const float* x, float* y);
void Gelu(size_t n, const float* x, float* y);
void Log(size_t n, const float* x, float* y);

void Saxpy(size_t n, float a, const float* x, float* y);
void Mandelbrot(size_t width, size_t height, int32_t most, int32_t* out);
void Softmax(size_t rows, size_t columns, const float* x, float* y);
void ColumnSums(size_t rows, size_t columns, const float* g, const float* x, float* scale,
                float* bias);  // rows: a multiple of 4
void LayerNorm(size_t rows, size_t columns, const float* x, const float* scale, const float* bias,
               float* y);
void BlackScholes(size_t n, const float* spot, const float* strike, const float* years, float rate,
                  float volatility, float* call, float* put);

}  // namespace frazil::bench::peer
