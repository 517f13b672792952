// The loops of native_loops_bench.cpp in C++, compiled apart for this machine (bench/CMakeLists.txt).
#pragma once

#include <cstddef>

namespace frazil::bench::peer {

void Add(size_t n, const float* x, const float* y, float* z);
void Chain(size_t n, const float* x, const float* y, float* z);  // ten ops
float Sum(size_t n, const float* x);                             // in any order
// The loops of conv_bench.cpp. Windows of k x k in planes of size x size; the mean is the sum by rows, times 1 / k^2.
void Pool(long planes, long size, long k, long step, bool is_mean, const float* x, float* y);
void Transpose(long n, const float* x, float* y);
void Argmax(long rows, long columns, const float* x, float* y);  // the first
void ScanRows(long rows, long columns, const float* x, float* y);
void ScanColumns(long rows, long columns, const float* x, float* y);

}  // namespace frazil::bench::peer
