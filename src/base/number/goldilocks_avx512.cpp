// Eight elements at a time, products by IFMA. a = a0 + 2^52 a1 with a1 of 12 bits; the instruction reads the low 52 bits
// of its operands, so a0 needs no mask:
//   x0 = lo(a0 b0), x1 = hi(a0 b0) + lo(a0 b1) + lo(a1 b0), x2 = hi(a0 b1) + hi(a1 b0) + a1 b1
//   a b = x0 + 2^52 x1 + 2^104 x2
// In the terms of Reduce: low = x0 + 2^52 x1 mod 2^64, high mod 2^32 = x1 / 2^12 mod 2^32, s = 2^8 x2 + x1 / 2^44.
// The p that q = s + p - t needs stands in the sums from the start. This is twenty instructions for eight products; on the
// machines we measured, 32-bit halves take twenty-two and are slower (bench: field). Sums of products stay in x0, x1, x2.
#include "base/number/goldilocks_lanes.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// Its headers make "undefined" vectors by reading one that is not set.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#define FRAZIL_AVX512 __attribute__((target("avx512f,avx512dq,avx512ifma")))
#define FRAZIL_AVX512_INLINE __attribute__((target("avx512f,avx512dq,avx512ifma"), always_inline)) inline

namespace frazil::goldilocks {
namespace {

// The compiler would take a product by 2^32 - 1 for shifts and differences, three instructions for one.
FRAZIL_AVX512_INLINE __m512i OpaqueEpsilon() {
  __m512i epsilon = _mm512_set1_epi64(Epsilon);
  asm("" : "+v"(epsilon));
  return epsilon;
}

FRAZIL_AVX512_INLINE __m512i Load(const uint64_t* from) { return _mm512_loadu_si512(from); }
FRAZIL_AVX512_INLINE __m512i All(uint64_t value) {
  return _mm512_set1_epi64(static_cast<long long>(value));
}

FRAZIL_AVX512_INLINE __m512i SubLanes(__m512i a, __m512i b, __m512i epsilon) {
  const __mmask8 borrows = _mm512_cmplt_epu64_mask(a, b);
  const __m512i difference = _mm512_sub_epi64(a, b);
  return _mm512_mask_sub_epi64(difference, borrows, difference, epsilon);
}

FRAZIL_AVX512_INLINE __m512i AddLanes(__m512i a, __m512i b, __m512i epsilon) {
  return SubLanes(a, _mm512_sub_epi64(All(P), b), epsilon);
}

// a b, or a b + c: the carry of low + c is one more 2^64, which is 2^12 in x1.
template <bool Adds>
FRAZIL_AVX512_INLINE __m512i MulLanes(__m512i a, __m512i b, __m512i c, __m512i epsilon) {
  const __m512i a1 = _mm512_srli_epi64(a, 52);
  const __m512i b1 = _mm512_srli_epi64(b, 52);
  // p = 2^8 (2^56 - 2^24) + 1.
  __m512i x1 = _mm512_madd52hi_epu64(All(uint64_t{1} << 44), a, b);
  x1 = _mm512_madd52lo_epu64(x1, a, b1);
  x1 = _mm512_madd52lo_epu64(x1, a1, b);
  __m512i x2 = _mm512_madd52hi_epu64(All((uint64_t{1} << 56) - (uint64_t{1} << 24)), a, b1);
  x2 = _mm512_madd52hi_epu64(x2, a1, b);
  x2 = _mm512_madd52lo_epu64(x2, a1, b1);
  __m512i low = _mm512_madd52lo_epu64(_mm512_slli_epi64(x1, 52), a, b);
  if constexpr (Adds) {
    low = _mm512_add_epi64(low, c);
    x1 = _mm512_mask_add_epi64(x1, _mm512_cmplt_epu64_mask(low, c), x1, All(uint64_t{1} << 12));
  }
  const __m512i t = _mm512_mul_epu32(_mm512_srli_epi64(x1, 12), epsilon);
  const __m512i s = _mm512_add_epi64(_mm512_slli_epi64(x2, 8), _mm512_srli_epi64(x1, 44));
  return SubLanes(low, _mm512_sub_epi64(s, t), epsilon);
}

constexpr size_t Lanes = 8;
constexpr size_t Block =
    2048;  // elements between two looks for wrong ones: they are still in the first cache

FRAZIL_AVX512_INLINE __mmask8 Tail(size_t count) {
  return static_cast<__mmask8>((1u << count) - 1);
}

// Loads and stores by mask are slow: only the last ones are.
FRAZIL_AVX512_INLINE __m512i LoadSome(__mmask8 lanes, const uint64_t* from) {
  return _mm512_maskz_loadu_epi64(lanes, from);
}

template <bool Subtracts>
FRAZIL_AVX512 void Sums(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count) {
  const __m512i epsilon = OpaqueEpsilon();
  auto join = [&](__m512i x, __m512i y) FRAZIL_AVX512 {
    return Subtracts ? SubLanes(x, y, epsilon) : AddLanes(x, y, epsilon);
  };
  size_t i = 0;
  for (; i + Lanes <= count; i += Lanes)
    _mm512_storeu_si512(out + i, join(Load(a + i), Load(b + i)));
  if (i == count) return;
  const __mmask8 rest = Tail(count - i);
  _mm512_mask_storeu_epi64(out + i, rest, join(LoadSome(rest, a + i), LoadSome(rest, b + i)));
}

// `c` is read if `Adds`.
template <bool Adds>
FRAZIL_AVX512 void ProductsOfBlock(const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                   uint64_t* out, size_t count) {
  const __m512i epsilon = OpaqueEpsilon(), zero = _mm512_setzero_si512();
  __m512i top = zero;
  size_t i = 0;
  for (; i + Lanes <= count; i += Lanes) {
    const __m512i product =
        MulLanes<Adds>(Load(a + i), Load(b + i), Adds ? Load(c + i) : zero, epsilon);
    top = _mm512_max_epu32(top, product);
    _mm512_storeu_si512(out + i, product);
  }
  if (i < count) {
    const __mmask8 rest = Tail(count - i);
    const __m512i product = MulLanes<Adds>(LoadSome(rest, a + i), LoadSome(rest, b + i),
                                           Adds ? LoadSome(rest, c + i) : zero, epsilon);
    top = _mm512_max_epu32(top, product);
    _mm512_mask_storeu_epi64(out + i, rest, product);
  }
  if ((_mm512_cmpeq_epi32_mask(top, _mm512_set1_epi32(-1)) & 0xaaaa) != 0) PutRight(out, count);
}

FRAZIL_AVX512 void Products(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; i += Block)
    ProductsOfBlock<false>(a + i, b + i, nullptr, out + i, count - i < Block ? count - i : Block);
}

FRAZIL_AVX512 void ProductsAndSums(const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                   uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; i += Block)
    ProductsOfBlock<true>(a + i, b + i, c + i, out + i, count - i < Block ? count - i : Block);
}

__extension__ using uint128 = unsigned __int128;

FRAZIL_AVX512 uint128 SumOfLanes(__m512i lanes) {
  alignas(64) uint64_t words[Lanes];
  _mm512_store_si512(words, lanes);
  uint128 sum = 0;
  for (uint64_t word : words) sum += word;
  return sum;
}

FRAZIL_AVX512 uint64_t Residue(uint128 value) {
  return ReduceAny(static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64));
}

struct DotSums {
  __m512i x0, x1, y1, x2, y2;

  FRAZIL_AVX512_INLINE void Take(__m512i u, __m512i v) {
    const __m512i u1 = _mm512_srli_epi64(u, 52), v1 = _mm512_srli_epi64(v, 52);
    x0 = _mm512_madd52lo_epu64(x0, u, v);
    x1 = _mm512_madd52hi_epu64(x1, u, v);
    y1 = _mm512_madd52lo_epu64(y1, u, v1);
    x1 = _mm512_madd52lo_epu64(x1, u1, v);
    x2 = _mm512_madd52hi_epu64(x2, u, v1);
    y2 = _mm512_madd52hi_epu64(y2, u1, v);
    x2 = _mm512_madd52lo_epu64(x2, u1, v1);
  }
  // 2^104 = -2^8.
  FRAZIL_AVX512 uint64_t Fold() const {
    const uint64_t plus = Residue(SumOfLanes(x0) + ((SumOfLanes(x1) + SumOfLanes(y1)) << 52));
    const uint64_t minus = Residue((SumOfLanes(x2) + SumOfLanes(y2)) << 8);
    return Sub(plus, minus);
  }
};

// A step adds less than 2^53 to a lane of x1: after at most 2,048 of them the sums are folded.
FRAZIL_AVX512 uint64_t Dot512(const uint64_t* a, const uint64_t* b, size_t count) {
  constexpr size_t Steps = 1024;
  const __m512i zero = _mm512_setzero_si512();
  uint64_t total = 0;
  size_t i = 0;
  while (i < count) {
    DotSums sums{zero, zero, zero, zero, zero};
    const size_t end = count - i < Steps * Lanes ? count : i + Steps * Lanes;
    for (; i + Lanes <= end; i += Lanes) sums.Take(Load(a + i), Load(b + i));
    if (i < end) {
      const __mmask8 rest = Tail(end - i);
      sums.Take(LoadSome(rest, a + i), LoadSome(rest, b + i));
      i = end;
    }
    total = Add(total, sums.Fold());
  }
  return total;
}

}  // namespace

const LaneFunctions* Avx512Lanes() {
  static constexpr LaneFunctions lanes = {Sums<false>, Sums<true>, Products, ProductsAndSums,
                                          Dot512};
  return &lanes;
}

}  // namespace frazil::goldilocks

#else

namespace frazil::goldilocks {
const LaneFunctions* Avx512Lanes() { return nullptr; }
}  // namespace frazil::goldilocks

#endif
