// Four elements at a time, products from 32-bit halves, reduced as in Reduce (goldilocks.h). There is no unsigned
// comparison: both sides are shifted by 2^63 first.
#include "base/number/goldilocks_lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define FRAZIL_AVX2 __attribute__((target("avx2")))
#define FRAZIL_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace frazil::goldilocks {
namespace {

FRAZIL_AVX2_INLINE __m256i All(uint64_t value) {
  return _mm256_set1_epi64x(static_cast<long long>(value));
}

FRAZIL_AVX2_INLINE __m256i Load(const uint64_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
FRAZIL_AVX2_INLINE void Store(uint64_t* to, __m256i value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

FRAZIL_AVX2_INLINE __m256i OpaqueEpsilon() {
  __m256i epsilon = All(Epsilon);
  asm("" : "+x"(epsilon));
  return epsilon;
}

FRAZIL_AVX2_INLINE __m256i Below(__m256i a, __m256i b) {
  const __m256i half = All(uint64_t{1} << 63);
  return _mm256_cmpgt_epi64(_mm256_xor_si256(b, half), _mm256_xor_si256(a, half));
}

FRAZIL_AVX2_INLINE __m256i SubLanes(__m256i a, __m256i b, __m256i epsilon) {
  return _mm256_sub_epi64(_mm256_sub_epi64(a, b), _mm256_and_si256(Below(a, b), epsilon));
}

FRAZIL_AVX2_INLINE __m256i AddLanes(__m256i a, __m256i b, __m256i epsilon) {
  return SubLanes(a, _mm256_sub_epi64(All(P), b), epsilon);
}

FRAZIL_AVX2_INLINE __m256i MulLanes(__m256i a, __m256i b, __m256i epsilon) {
  const __m256i a1 = _mm256_srli_epi64(a, 32);
  const __m256i b1 = _mm256_srli_epi64(b, 32);
  const __m256i low_low = _mm256_mul_epu32(a, b);
  const __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(a, b1), _mm256_srli_epi64(low_low, 32));
  const __m256i cross =
      _mm256_add_epi64(_mm256_mul_epu32(a1, b), _mm256_and_si256(middle, epsilon));
  const __m256i high =
      _mm256_add_epi64(_mm256_add_epi64(_mm256_mul_epu32(a1, b1), _mm256_srli_epi64(middle, 32)),
                       _mm256_srli_epi64(cross, 32));
  const __m256i low = _mm256_blend_epi32(low_low, _mm256_slli_epi64(cross, 32), 0xaa);
  const __m256i t = _mm256_mul_epu32(high, epsilon);
  const __m256i q = _mm256_sub_epi64(_mm256_add_epi64(_mm256_srli_epi64(high, 32), All(P)), t);
  return SubLanes(low, q, epsilon);
}

FRAZIL_AVX2_INLINE bool MayBeWrong(__m256i product) {
  return (_mm256_movemask_epi8(_mm256_cmpeq_epi32(product, _mm256_set1_epi32(-1))) & 0xf0f0f0f0u) !=
         0;
}

constexpr size_t Lanes = 4;
constexpr size_t Block = 2048;

template <bool Subtracts>
FRAZIL_AVX2 void Sums(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count) {
  const __m256i epsilon = OpaqueEpsilon();
  size_t i = 0;
  for (; i + Lanes <= count; i += Lanes)
    Store(out + i, Subtracts ? SubLanes(Load(a + i), Load(b + i), epsilon)
                             : AddLanes(Load(a + i), Load(b + i), epsilon));
  for (; i < count; ++i) out[i] = Subtracts ? Sub(a[i], b[i]) : Add(a[i], b[i]);
}

FRAZIL_AVX2 void ProductsOfBlock(const uint64_t* a, const uint64_t* b, uint64_t* out,
                                 size_t count) {
  const __m256i epsilon = OpaqueEpsilon();
  __m256i top = _mm256_setzero_si256();
  size_t i = 0;
  for (; i + Lanes <= count; i += Lanes) {
    const __m256i product = MulLanes(Load(a + i), Load(b + i), epsilon);
    top = _mm256_max_epu32(top, product);
    Store(out + i, product);
  }
  if (MayBeWrong(top)) PutRight(out, i);
  for (; i < count; ++i) out[i] = Mul(a[i], b[i]);
}

FRAZIL_AVX2 void Products(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; i += Block)
    ProductsOfBlock(a + i, b + i, out + i, count - i < Block ? count - i : Block);
}

// Here the product is put right at once: behind a sum it could not be told.
FRAZIL_AVX2 void ProductsAndSums(const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                 uint64_t* out, size_t count) {
  const __m256i epsilon = OpaqueEpsilon();
  size_t i = 0;
  for (; i + Lanes <= count; i += Lanes) {
    __m256i product = MulLanes(Load(a + i), Load(b + i), epsilon);
    if (MayBeWrong(product)) [[unlikely]] {
      const __m256i fine = Below(product, All(P));
      product = _mm256_sub_epi64(product, _mm256_andnot_si256(fine, epsilon));
    }
    Store(out + i, AddLanes(product, Load(c + i), epsilon));
  }
  for (; i < count; ++i) out[i] = MulAdd(a[i], b[i], c[i]);
}

__extension__ using uint128 = unsigned __int128;

FRAZIL_AVX2 uint128 SumOfLanes(__m256i lanes) {
  alignas(32) uint64_t words[Lanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(words), lanes);
  return uint128{words[0]} + words[1] + words[2] + words[3];
}

// Products of halves are summed by their own halves, at 2^0, 2^32, 2^64 and 2^96 = -1. At most three of less than 2^32 go
// into one sum per step, which holds for 2^30 steps.
FRAZIL_AVX2 uint64_t Dot256(const uint64_t* a, const uint64_t* b, size_t count) {
  constexpr size_t Steps = size_t{1} << 28;
  const __m256i epsilon = OpaqueEpsilon();
  uint64_t total = 0;
  size_t i = 0;
  const size_t whole = count / Lanes * Lanes;
  while (i < whole) {
    const size_t end = whole - i < Steps * Lanes ? whole : i + Steps * Lanes;
    __m256i sums[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                       _mm256_setzero_si256()};
    auto add = [&](size_t at, __m256i product) FRAZIL_AVX2 {
      sums[at] = _mm256_add_epi64(sums[at], _mm256_and_si256(product, epsilon));
      sums[at + 1] = _mm256_add_epi64(sums[at + 1], _mm256_srli_epi64(product, 32));
    };
    for (; i < end; i += Lanes) {
      const __m256i u = Load(a + i), v = Load(b + i);
      const __m256i u1 = _mm256_srli_epi64(u, 32), v1 = _mm256_srli_epi64(v, 32);
      add(0, _mm256_mul_epu32(u, v));
      add(1, _mm256_mul_epu32(u, v1));
      add(1, _mm256_mul_epu32(u1, v));
      add(2, _mm256_mul_epu32(u1, v1));
    }
    const uint128 low = SumOfLanes(sums[0]) + (SumOfLanes(sums[1]) << 32);
    const uint128 high = SumOfLanes(sums[2]);
    const uint128 top = SumOfLanes(sums[3]);
    auto residue = [](uint128 value) {
      return ReduceAny(static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64));
    };
    total = Add(total, Sub(Add(residue(low), Mul(residue(high), Epsilon)), residue(top)));
  }
  return Add(total, ScalarLanes.dot(a + i, b + i, count - i));
}

}  // namespace

const LaneFunctions* Avx2Lanes() {
  static constexpr LaneFunctions lanes = {Sums<false>, Sums<true>, Products, ProductsAndSums,
                                          Dot256};
  return &lanes;
}

}  // namespace frazil::goldilocks

#else

namespace frazil::goldilocks {
const LaneFunctions* Avx2Lanes() { return nullptr; }
}  // namespace frazil::goldilocks

#endif
