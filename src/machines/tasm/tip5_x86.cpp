// Tip5 with AVX-512: one permutation in registers.
//
// The state is two vectors, elements 0 to 7 and 8 to 15. The circulant matrix is two blocks M, N with
//   low = M a + N b,  high = N a + M b,  so  low + high = (M + N)(a + b)  and  low - high = (M - N)(a - b):
// half the products of the plain matrix. They are taken on 32-bit halves of the elements, whose sums and differences fit
// 64-bit arithmetic exactly; the sums are stored once and every product reads its factor by a broadcasting load, which
// keeps the shuffle units out of it. Of the first vector only four lanes take the seventh power, so those go as 256 bits.
#include "machines/tasm/tip5_forms.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <array>

#include "base/goldilocks.h"
#include "machines/tasm/tip5_constants.h"

#define FRAZIL_AVX512 __attribute__((target("avx2,avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi")))
#define FRAZIL_AVX512_INLINE FRAZIL_AVX512 __attribute__((always_inline)) inline

namespace frazil::machines::tasm::tip5 {
namespace {

using goldilocks::Epsilon;

struct alignas(64) Lanes {
  std::array<int64_t, 8> lane;
};

// Columns of M + N (sign 1) and M - N (sign -1).
constexpr std::array<Lanes, 8> BlockColumns(int64_t sign) {
  std::array<Lanes, 8> columns{};
  for (size_t j = 0; j < 8; ++j)
    for (size_t row = 0; row < 8; ++row)
      columns[j].lane[row] = int64_t{Column[(row + 16 - j) % 16]} + sign * int64_t{Column[(row + 24 - j) % 16]};
  return columns;
}
constexpr std::array<Lanes, 8> Sums = BlockColumns(1);
constexpr std::array<Lanes, 8> Differences = BlockColumns(-1);

struct alignas(64) Halves {
  std::array<uint64_t, 160> value;
};
// The round constants' low and high halves, doubled as the sums are.
constexpr Halves TwiceConstants = [] {
  Halves halves{};
  for (size_t i = 0; i < 80; ++i) {
    halves.value[i] = 2 * (RoundConstants[i] & Epsilon);
    halves.value[80 + i] = 2 * (RoundConstants[i] >> 32);
  }
  return halves;
}();

// The two widths differ only in the names of their instructions.
struct Wide {
  using Vector = __m512i;
  FRAZIL_AVX512_INLINE static Vector Set(uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
  FRAZIL_AVX512_INLINE static Vector Add(Vector a, Vector b) { return _mm512_add_epi64(a, b); }
  FRAZIL_AVX512_INLINE static Vector Sub(Vector a, Vector b) { return _mm512_sub_epi64(a, b); }
  FRAZIL_AVX512_INLINE static Vector Mul(Vector a, Vector b) { return _mm512_mul_epu32(a, b); }
  FRAZIL_AVX512_INLINE static Vector Up(Vector a) { return _mm512_slli_epi64(a, 32); }
  FRAZIL_AVX512_INLINE static Vector Down(Vector a) { return _mm512_srli_epi64(a, 32); }
  FRAZIL_AVX512_INLINE static Vector And(Vector a, Vector b) { return _mm512_and_si512(a, b); }
  // The odd 32-bit words of `odd`, the even ones of `even`.
  FRAZIL_AVX512_INLINE static Vector Join(Vector even, Vector odd) {
    return _mm512_mask_blend_epi32(0xaaaa, even, odd);
  }
  FRAZIL_AVX512_INLINE static Vector AddIfLess(Vector a, Vector b, Vector value, Vector addend) {
    return _mm512_mask_add_epi64(value, _mm512_cmplt_epu64_mask(a, b), value, addend);
  }
  FRAZIL_AVX512_INLINE static Vector SubIfLess(Vector a, Vector b, Vector value, Vector subtrahend) {
    return _mm512_mask_sub_epi64(value, _mm512_cmplt_epu64_mask(a, b), value, subtrahend);
  }
};

struct Narrow {
  using Vector = __m256i;
  FRAZIL_AVX512_INLINE static Vector Set(uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
  FRAZIL_AVX512_INLINE static Vector Add(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
  FRAZIL_AVX512_INLINE static Vector Sub(Vector a, Vector b) { return _mm256_sub_epi64(a, b); }
  FRAZIL_AVX512_INLINE static Vector Mul(Vector a, Vector b) { return _mm256_mul_epu32(a, b); }
  FRAZIL_AVX512_INLINE static Vector Up(Vector a) { return _mm256_slli_epi64(a, 32); }
  FRAZIL_AVX512_INLINE static Vector Down(Vector a) { return _mm256_srli_epi64(a, 32); }
  FRAZIL_AVX512_INLINE static Vector And(Vector a, Vector b) { return _mm256_and_si256(a, b); }
  FRAZIL_AVX512_INLINE static Vector Join(Vector even, Vector odd) { return _mm256_blend_epi32(even, odd, 0xaa); }
  FRAZIL_AVX512_INLINE static Vector AddIfLess(Vector a, Vector b, Vector value, Vector addend) {
    return _mm256_mask_add_epi64(value, _mm256_cmplt_epu64_mask(a, b), value, addend);
  }
  FRAZIL_AVX512_INLINE static Vector SubIfLess(Vector a, Vector b, Vector value, Vector subtrahend) {
    return _mm256_mask_sub_epi64(value, _mm256_cmplt_epu64_mask(a, b), value, subtrahend);
  }
};

// low + 2^64 high modulo p, below 2^64 but not always below p.
template <typename W>
FRAZIL_AVX512_INLINE typename W::Vector Reduce(typename W::Vector low, typename W::Vector high) {
  const auto epsilon = W::Set(Epsilon);
  const auto top = W::Down(high);
  const auto difference = W::SubIfLess(low, top, W::Sub(low, top), epsilon);
  const auto middle = W::Mul(high, epsilon);
  const auto sum = W::Add(difference, middle);
  return W::AddIfLess(sum, middle, sum, epsilon);
}

template <typename W>
FRAZIL_AVX512_INLINE typename W::Vector Multiply(typename W::Vector a, typename W::Vector a_high, typename W::Vector b,
                                                 typename W::Vector b_high) {
  const auto p00 = W::Mul(a, b);
  const auto p01 = W::Mul(a, b_high);
  const auto p10 = W::Mul(a_high, b);
  const auto p11 = W::Mul(a_high, b_high);
  const auto middle = W::Add(p01, W::Down(p00));
  const auto upper = W::Add(p10, W::And(middle, W::Set(Epsilon)));
  const auto high = W::Add(W::Add(p11, W::Down(middle)), W::Down(upper));
  return Reduce<W>(W::Join(p00, W::Up(upper)), high);
}

template <typename W>
FRAZIL_AVX512_INLINE typename W::Vector Seventh(typename W::Vector y) {
  const auto y_high = W::Down(y);
  const auto square = Multiply<W>(y, y_high, y, y_high);
  const auto square_high = W::Down(square);
  const auto cube = Multiply<W>(square, square_high, y, y_high);
  const auto fourth = Multiply<W>(square, square_high, square, square_high);
  return Multiply<W>(cube, W::Down(cube), fourth, W::Down(fourth));
}

FRAZIL_AVX512_INLINE __m512i Canonical(__m512i y) {
  return _mm512_min_epu64(y, _mm512_add_epi64(y, Wide::Set(Epsilon)));
}

FRAZIL_AVX512_INLINE __m256i LookUp(__m256i y) {
  const __m512i bytes = _mm512_castsi256_si512(y);
  const uint8_t* table = Lookup.data();
  // Seven bits choose within 128 entries; the eighth chooses which 128.
  const __m512i lower = _mm512_permutex2var_epi8(_mm512_loadu_si512(table), bytes, _mm512_loadu_si512(table + 64));
  const __m512i upper =
      _mm512_permutex2var_epi8(_mm512_loadu_si512(table + 128), bytes, _mm512_loadu_si512(table + 192));
  return _mm256_mask_blend_epi8(_mm256_movepi8_mask(y), _mm512_castsi512_si256(lower), _mm512_castsi512_si256(upper));
}

// low + 2^32 high modulo p, canonical; both below 2^53.
FRAZIL_AVX512_INLINE __m512i Fold(__m512i low, __m512i high) {
  const __m512i epsilon = Wide::Set(Epsilon);
  const __m512i sum = Wide::Add(low, Wide::Mul(Wide::Down(high), epsilon));
  const __m512i total = Wide::Add(sum, Wide::Up(high));
  return Canonical(Wide::AddIfLess(total, sum, total, epsilon));
}

// Sum over j of column[j] factor[j], in two chains.
FRAZIL_AVX512_INLINE __m512i Product(const std::array<Lanes, 8>& columns, const uint64_t* factors) {
  __m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (size_t j = 0; j < 8; ++j) {
    const __m512i product =
        _mm512_mullo_epi64(_mm512_load_si512(&columns[j]), _mm512_set1_epi64(static_cast<long long>(factors[j])));
    (j % 2 == 0 ? even : odd) = _mm512_add_epi64(j % 2 == 0 ? even : odd, product);
  }
  return _mm512_add_epi64(even, odd);
}

FRAZIL_AVX512_INLINE __m512i HalfSum(__m512i a, const uint64_t* b) {
  return _mm512_srli_epi64(_mm512_add_epi64(a, _mm512_load_si512(b)), 1);
}

FRAZIL_AVX512_INLINE void Round(__m512i& a, __m512i& b, size_t round) {
  const __m256i looked = LookUp(_mm512_castsi512_si256(a));
  const __m256i powers = Seventh<Narrow>(_mm512_extracti64x4_epi64(a, 1));
  a = _mm512_inserti64x4(_mm512_castsi256_si512(looked), powers, 1);
  b = Seventh<Wide>(b);

  alignas(64) std::array<uint64_t, 32> factors;
  const __m512i mask = Wide::Set(Epsilon);
  const __m512i a_low = Wide::And(a, mask), a_high = Wide::Down(a);
  const __m512i b_low = Wide::And(b, mask), b_high = Wide::Down(b);
  _mm512_store_si512(factors.data(), Wide::Add(a_low, b_low));
  _mm512_store_si512(factors.data() + 8, Wide::Sub(a_low, b_low));
  _mm512_store_si512(factors.data() + 16, Wide::Add(a_high, b_high));
  _mm512_store_si512(factors.data() + 24, Wide::Sub(a_high, b_high));
  asm volatile("" : : "r"(factors.data()) : "memory");  // products read memory, not shuffled registers
  const __m512i sum_low = Product(Sums, factors.data());
  const __m512i difference_low = Product(Differences, factors.data() + 8);
  const __m512i sum_high = Product(Sums, factors.data() + 16);
  const __m512i difference_high = Product(Differences, factors.data() + 24);

  const auto* constants = TwiceConstants.value.data() + 16 * round;
  a = Fold(HalfSum(Wide::Add(sum_low, difference_low), constants),
           HalfSum(Wide::Add(sum_high, difference_high), constants + 80));
  b = Fold(HalfSum(Wide::Sub(sum_low, difference_low), constants + 8),
           HalfSum(Wide::Sub(sum_high, difference_high), constants + 88));
}

// 2^64 x = (2^32 - 1) x_low - x_high.
FRAZIL_AVX512_INLINE __m512i Enter(__m512i x) {
  const __m512i epsilon = Wide::Set(Epsilon);
  const __m512i low = Wide::Mul(x, epsilon), high = Wide::Down(x);
  return Canonical(Wide::SubIfLess(low, high, Wide::Sub(low, high), epsilon));
}

// 2^-64 y = -2^32 y = -(2^32 y_low + (2^32 - 1) y_high).
FRAZIL_AVX512_INLINE __m512i Leave(__m512i y) {
  const __m512i low = Wide::Up(y);
  const __m512i sum = Wide::Add(low, Wide::Mul(Wide::Down(y), Wide::Set(Epsilon)));
  const __m512i shifted = Canonical(Wide::AddIfLess(sum, low, sum, Wide::Set(Epsilon)));
  return _mm512_maskz_sub_epi64(_mm512_test_epi64_mask(shifted, shifted), Wide::Set(goldilocks::P), shifted);
}

FRAZIL_AVX512 void PermuteAvx512(uint64_t* elements, uint64_t* lookups) {
  __m512i a = Enter(_mm512_load_si512(elements));
  __m512i b = Enter(_mm512_load_si512(elements + 8));
  for (size_t round = 0; round < 5; ++round) {
    if (lookups != nullptr)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(lookups + 4 * round), _mm512_castsi512_si256(a));
    Round(a, b, round);
  }
  _mm512_store_si512(elements, Leave(a));
  _mm512_store_si512(elements + 8, Leave(b));
}

}  // namespace

Form BestForm() {
  static const Form form = [] {
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vbmi");
    return wide ? PermuteAvx512 : PermutePortable;
  }();
  return form;
}

}  // namespace frazil::machines::tasm::tip5

#else

namespace frazil::machines::tasm::tip5 {

Form BestForm() { return PermutePortable; }

}  // namespace frazil::machines::tasm::tip5
#endif
