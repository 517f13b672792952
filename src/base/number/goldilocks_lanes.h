// What each level of goldilocks_vector.h has: one function for each operation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/number/goldilocks.h"

namespace frazil::goldilocks {

struct LaneFunctions {
  void (*add)(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count);
  void (*sub)(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count);
  void (*mul)(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count);
  void (*mul_add)(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* out,
                  size_t count);
  uint64_t (*dot)(const uint64_t* a, const uint64_t* b, size_t count);
};

extern const LaneFunctions ScalarLanes;
// Null where the compiler's machine has no such code.
const LaneFunctions* Avx2Lanes();
const LaneFunctions* Avx512Lanes();

// Vector products leave p out where `low + t < s` (see Reduce): about once in 2^63 products an element is p too
// small, which shows as one that is not canonical. Elements whose upper half is all ones are looked for by the
// vector code, a block at a time; this puts them right.
inline void PutRight(uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (out[i] >= P) out[i] += P;
}

// low + 2^64 high for any high.
constexpr uint64_t ReduceAny(uint64_t low, uint64_t high) {
  return Add(FromUint64(low), Mul(FromUint64(high), Epsilon));
}

}  // namespace frazil::goldilocks
