// The loops of native_loops_bench.cpp in C++, compiled apart for this machine (bench/CMakeLists.txt).
#pragma once

#include <cstddef>

namespace frazil::bench::peer {

void Add(size_t n, const float* x, const float* y, float* z);
void Chain(size_t n, const float* x, const float* y, float* z);  // ten ops
float Sum(size_t n, const float* x);                             // in any order

}  // namespace frazil::bench::peer
