// The field over arrays, by the widest vector code that the processor has. Elements are canonical (< p) on the way in
// and out; an array of results may be one of the operands, but not overlap one otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace frazil::goldilocks {

enum class VectorLevel : uint8_t {
  Scalar,
  Avx2,    // products from 32-bit halves
  Avx512,  // products from 52-bit pieces (IFMA)
};
constexpr VectorLevel AllVectorLevels[] = {VectorLevel::Scalar, VectorLevel::Avx2,
                                           VectorLevel::Avx512};

// The best level of this processor.
VectorLevel HostVectorLevel();

// `level` must not be above the host's.
void AddEach(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count, VectorLevel level);
void SubEach(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count, VectorLevel level);
void MulEach(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count, VectorLevel level);
// out = a b + c, element by element.
void MulAddEach(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* out,
                size_t count, VectorLevel level);
// The sum of all a b; reduced at the end only.
uint64_t Dot(const uint64_t* a, const uint64_t* b, size_t count, VectorLevel level);

}  // namespace frazil::goldilocks
