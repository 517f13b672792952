// Tip5 with AVX-512: one permutation in registers.
//
// The state is two vectors, elements 0 to 7 and 8 to 15. The circulant matrix is two blocks M, N with
//   low = M a + N b,  high = N a + M b,  so
//   low + high = (M + N)(a + b)  and  low - high = (M - N)(a - b):
// half the products of the plain matrix. They are taken on 32-bit halves of the elements, whose sums and
// differences fit 64-bit arithmetic exactly; the sums are stored once and every product reads its factor by a
// broadcasting load, which keeps the shuffle units out of it. Of the first vector only four lanes take the
// seventh power, so those go as 256 bits.
//
// Between products an element is two limbs, x0 + x1 W with W = 2^32 and W^2 = W - 1, each a little wider than
// 32 bits: the 52-bit multiplier takes that, and no carry has to be followed to its end, which is what one
// permutation waits for. Only what is looked up is made canonical.
#include "machines/tasm/tip5/tip5_forms.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "base/number/goldilocks.h"
#include "machines/tasm/tip5/tip5_constants.h"

#define FRAZIL_AVX512 \
  __attribute__((target("avx2,avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi,avx512ifma")))
#define FRAZIL_AVX512_INLINE FRAZIL_AVX512 __attribute__((always_inline)) inline

namespace frazil::machines::tasm::tip5 {
namespace {

using goldilocks::Epsilon;
constexpr uint64_t W = uint64_t{1} << 32;

struct alignas(64) Lanes {
  std::array<int64_t, 8> lane;
};

// Entries of M + N (sign 1) and M - N (sign -1), all below 2^17.
constexpr int64_t Entry(size_t row, size_t j, int64_t sign) {
  return int64_t{Column[(row + 16 - j) % 16]} + sign * int64_t{Column[(row + 24 - j) % 16]};
}
// Their columns as the 52-bit multiplier takes them, in two's complement.
constexpr std::array<Lanes, 8> BlockColumns(int64_t sign) {
  std::array<Lanes, 8> columns{};
  for (size_t j = 0; j < 8; ++j)
    for (size_t row = 0; row < 8; ++row)
      columns[j].lane[row] = Entry(row, j, sign) & ((int64_t{1} << 52) - 1);
  return columns;
}
constexpr std::array<Lanes, 8> Sums = BlockColumns(1);
constexpr std::array<Lanes, 8> Differences = BlockColumns(-1);

// Added to differences of limbs, so that they are positive.
constexpr uint64_t Lift = uint64_t{1} << 34;

// What sums and differences of one half start from.
struct Start {
  Lanes sum, difference;
};
struct RoundStart {
  Start low, high;
};
// Twice the round's constants ca, cb for the two blocks, as (ca + cb) and (ca - cb), which sum and difference bring back; in the
// low half with W moved there from the high one, so that what Fold takes from it never makes it negative. In the
// differences also what their products have too much: Lift times the row's entries, and 2^52 for each negative entry,
// whose product with a positive factor is never 0.
constexpr std::array<RoundStart, 5> Starts = [] {
  std::array<RoundStart, 5> starts{};
  for (size_t round = 0; round < 5; ++round)
    for (size_t row = 0; row < 8; ++row) {
      const uint64_t a = RoundConstants[16 * round + row], b = RoundConstants[16 * round + 8 + row];
      uint64_t excess = 0;
      for (size_t j = 0; j < 8; ++j) {
        const int64_t entry = Entry(row, j, -1);
        excess += Lift * static_cast<uint64_t>(entry) + (entry < 0 ? uint64_t{1} << 52 : 0);
      }
      const uint64_t a_low = (a & Epsilon) + W, b_low = (b & Epsilon) + W;
      const uint64_t a_high = (a >> 32) - 1, b_high = (b >> 32) - 1;
      starts[round].low.sum.lane[row] = static_cast<int64_t>(a_low + b_low);
      starts[round].low.difference.lane[row] = static_cast<int64_t>(a_low - b_low - excess);
      starts[round].high.sum.lane[row] = static_cast<int64_t>(a_high + b_high);
      starts[round].high.difference.lane[row] = static_cast<int64_t>(a_high - b_high - excess);
    }
  return starts;
}();
static_assert(std::ranges::all_of(RoundConstants, [](uint64_t constant) { return constant >= W; }));

// The two widths differ only in the names of their instructions.
#define FRAZIL_TIP5_LANES(name, width, set)                                                        \
  struct name {                                                                                    \
    using Vector = __m##width##i;                                                                  \
    FRAZIL_AVX512_INLINE static Vector Set(uint64_t x) { return set(static_cast<long long>(x)); }  \
    FRAZIL_AVX512_INLINE static Vector Add(Vector a, Vector b) {                                   \
      return _mm##width##_add_epi64(a, b);                                                         \
    }                                                                                              \
    FRAZIL_AVX512_INLINE static Vector Sub(Vector a, Vector b) {                                   \
      return _mm##width##_sub_epi64(a, b);                                                         \
    }                                                                                              \
    FRAZIL_AVX512_INLINE static Vector Low52(Vector sum, Vector a, Vector b) {                     \
      return _mm##width##_madd52lo_epu64(sum, a, b);                                               \
    }                                                                                              \
    FRAZIL_AVX512_INLINE static Vector High52(Vector sum, Vector a, Vector b) {                    \
      return _mm##width##_madd52hi_epu64(sum, a, b);                                               \
    }                                                                                              \
    template <int bits>                                                                            \
    FRAZIL_AVX512_INLINE static Vector Up(Vector a) {                                              \
      return _mm##width##_slli_epi64(a, bits);                                                     \
    }                                                                                              \
    FRAZIL_AVX512_INLINE static Vector Down(Vector a) { return _mm##width##_srli_epi64(a, 32); }   \
    FRAZIL_AVX512_INLINE static Vector And(Vector a, Vector b) {                                   \
      return _mm##width##_and_si##width(a, b);                                                     \
    }                                                                                              \
    FRAZIL_AVX512_INLINE static Vector AndOr(Vector a, Vector b, Vector c) {                       \
      return _mm##width##_ternarylogic_epi64(a, b, c, 0xea);                                       \
    }                                                                                              \
    FRAZIL_AVX512_INLINE static Vector Min(Vector a, Vector b) {                                   \
      return _mm##width##_min_epu64(a, b);                                                         \
    }                                                                                              \
  };
FRAZIL_TIP5_LANES(Wide, 512, _mm512_set1_epi64)
FRAZIL_TIP5_LANES(Narrow, 256, _mm256_set1_epi64x)
#undef FRAZIL_TIP5_LANES

// Both below 2^33 + 2^23.
template <typename V>
struct Limbs {
  typename V::Vector low, high;
};

// With A = x0 y0, M = x0 y1 + x1 y0, D = x1 y1, each cut at 2^52 = 2^20 W into a lower and an upper part:
//   L = A_low - D_low - 2^20 (M_up + D_up),  H = M_low + D_low + 2^20 (M_up + A_up),  x y = L + H W.
// One p and 2^21 W more in L, 2^21 less in H, keep both positive.
constexpr uint64_t HighBias = W - 1 - (uint64_t{1} << 21);
constexpr uint64_t LowBias = (uint64_t{1} << 53) + 1 - W + HighBias;

// l0 + l1 W + h0 W + h1 W^2 = (l0 - h1 + W) + (l1 + h0 + h1 - 1) W; LowBias has the - 1 already.
template <typename V>
FRAZIL_AVX512_INLINE Limbs<V> Carry(typename V::Vector low, typename V::Vector high) {
  const auto mask = V::Set(Epsilon);
  const auto high_up = V::Down(high);
  return {V::Sub(V::AndOr(low, mask, V::Set(W)), high_up),
          V::Add(V::Add(V::And(high, mask), high_up), V::Down(low))};
}

// x y from D_low and the parts of M, which Square has cheaper; D_low is in the lower one already.
template <typename V>
FRAZIL_AVX512_INLINE Limbs<V> FromMiddle(const Limbs<V>& x, const Limbs<V>& y,
                                         typename V::Vector d_low, typename V::Vector middle_up,
                                         typename V::Vector middle_low) {
  const auto a_low = V::Low52(V::Set(LowBias), x.low, y.low);
  const auto low_up = V::High52(middle_up, x.high, y.high);
  const auto high_up = V::High52(middle_up, x.low, y.low);
  return Carry<V>(V::Sub(V::Sub(a_low, d_low), V::template Up<20>(low_up)),
                  V::Add(middle_low, V::template Up<20>(high_up)));
}

template <typename V>
FRAZIL_AVX512_INLINE Limbs<V> Multiply(const Limbs<V>& x, const Limbs<V>& y) {
  const auto d_low = V::Low52(V::Set(HighBias), x.high, y.high);
  return FromMiddle<V>(x, y, d_low, V::High52(V::High52(V::Set(0), x.low, y.high), x.high, y.low),
                       V::Low52(V::Low52(d_low, x.low, y.high), x.high, y.low));
}

template <typename V>
FRAZIL_AVX512_INLINE Limbs<V> Square(const Limbs<V>& x) {
  const auto twice = V::Add(x.high, x.high);
  const auto d_low = V::Low52(V::Set(HighBias), x.high, x.high);
  return FromMiddle<V>(x, x, d_low, V::High52(V::Set(0), x.low, twice),
                       V::Low52(d_low, x.low, twice));
}

template <typename V>
FRAZIL_AVX512_INLINE Limbs<V> Seventh(const Limbs<V>& y) {
  const Limbs<V> square = Square<V>(y);
  return Multiply<V>(Multiply<V>(square, y), Square<V>(square));
}

// Below p. The high limb is at most 2 W - 2, so adding its carry to it does not carry again.
template <typename V>
FRAZIL_AVX512_INLINE typename V::Vector Canonical(const Limbs<V>& x) {
  const auto top = V::Down(x.high);
  const auto sum =
      V::Add(V::Sub(x.low, top), V::Add(V::template Up<32>(x.high), V::template Up<32>(top)));
  return V::Min(sum, V::Add(sum, V::Set(Epsilon)));
}

FRAZIL_AVX512_INLINE __m256i LookUp(__m256i y) {
  const __m512i bytes = _mm512_castsi256_si512(y);
  const uint8_t* table = Lookup.data();
  // Seven bits choose within 128 entries; the eighth chooses which 128.
  const __m512i lower =
      _mm512_permutex2var_epi8(_mm512_loadu_si512(table), bytes, _mm512_loadu_si512(table + 64));
  const __m512i upper = _mm512_permutex2var_epi8(_mm512_loadu_si512(table + 128), bytes,
                                                 _mm512_loadu_si512(table + 192));
  return _mm256_mask_blend_epi8(_mm256_movepi8_mask(y), _mm512_castsi512_si256(lower),
                                _mm512_castsi512_si256(upper));
}

FRAZIL_AVX512_INLINE __m512i Join(__m256i lower, __m256i upper) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
}
FRAZIL_AVX512_INLINE __m256i Upper(__m512i x) { return _mm512_extracti64x4_epi64(x, 1); }
FRAZIL_AVX512_INLINE __m256i Lower(__m512i x) { return _mm512_castsi512_si256(x); }

// start + the sum over j of column[j] factor[j], in two chains. Factors are below 2^35.
FRAZIL_AVX512_INLINE __m512i Product(const Lanes& start, const std::array<Lanes, 8>& columns,
                                     const uint64_t* factors) {
  __m512i even = _mm512_load_si512(&start), odd = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (size_t j = 0; j < 8; ++j) {
    __m512i& sum = j % 2 == 0 ? even : odd;
    sum = Wide::Low52(sum, _mm512_load_si512(&columns[j]), Wide::Set(factors[j]));
  }
  return _mm512_add_epi64(even, odd);
}

// Half of twice the sum; then low - h1 + (h0 + h1) W, whose low part has W to spare.
FRAZIL_AVX512_INLINE Limbs<Wide> Fold(__m512i twice_low, __m512i twice_high) {
  const __m512i mask = Wide::Set(Epsilon);
  const __m512i low = _mm512_srli_epi64(twice_low, 1);
  const __m512i high = _mm512_srli_epi64(twice_high, 1);
  const __m512i high_up = Wide::Down(high);
  const __m512i rest = Wide::Sub(low, high_up);
  return {Wide::And(rest, mask),
          Wide::Add(Wide::Add(Wide::And(high, mask), high_up), Wide::Down(rest))};
}

// `looked_up` are the canonical elements 0 to 3, which are also the lower lanes of a.
FRAZIL_AVX512_INLINE void Round(Limbs<Wide>& a, Limbs<Wide>& b, __m256i looked_up, size_t round) {
  const __m256i looked = LookUp(looked_up);
  const Limbs<Narrow> powers = Seventh<Narrow>({Upper(a.low), Upper(a.high)});
  b = Seventh<Wide>(b);
  const __m512i a_low = Join(_mm256_and_si256(looked, Narrow::Set(Epsilon)), powers.low);
  const __m512i a_high = Join(Narrow::Down(looked), powers.high);

  alignas(64) std::array<uint64_t, 32> factors;
  const __m512i lift = Wide::Set(Lift);
  _mm512_store_si512(factors.data(), Wide::Add(a_low, b.low));
  _mm512_store_si512(factors.data() + 8, Wide::Sub(Wide::Add(a_low, lift), b.low));
  _mm512_store_si512(factors.data() + 16, Wide::Add(a_high, b.high));
  _mm512_store_si512(factors.data() + 24, Wide::Sub(Wide::Add(a_high, lift), b.high));
  asm volatile(""
               :
               : "r"(factors.data())
               : "memory");  // products read memory, not shuffled registers
  const RoundStart& start = Starts[round];
  const __m512i sum_low = Product(start.low.sum, Sums, factors.data());
  const __m512i difference_low = Product(start.low.difference, Differences, factors.data() + 8);
  const __m512i sum_high = Product(start.high.sum, Sums, factors.data() + 16);
  const __m512i difference_high = Product(start.high.difference, Differences, factors.data() + 24);
  a = Fold(Wide::Add(sum_low, difference_low), Wide::Add(sum_high, difference_high));
  b = Fold(Wide::Sub(sum_low, difference_low), Wide::Sub(sum_high, difference_high));
}

// 2^64 x = W^2 x = -(x0 + x1) + x0 W; 2 W move down and one p is added, so that both are positive.
FRAZIL_AVX512_INLINE Limbs<Wide> Enter(__m512i x) {
  const __m512i mask = Wide::Set(Epsilon);
  const __m512i low = Wide::And(x, mask);
  const __m512i rest = Wide::Sub(Wide::Set(2 * W + 1), Wide::Add(low, Wide::Down(x)));
  return {Wide::And(rest, mask), Wide::Add(Wide::Add(low, Wide::Set(W - 3)), Wide::Down(rest))};
}

// 2^-64 y = -W y = -(y0 W + y1 (W - 1)).
FRAZIL_AVX512_INLINE __m512i Leave(const Limbs<Wide>& limbs) {
  const __m512i epsilon = Wide::Set(Epsilon);
  const __m512i y = Canonical<Wide>(limbs);
  const __m512i low = Wide::Up<32>(y);
  const __m512i sum = Wide::Add(low, _mm512_mul_epu32(Wide::Down(y), epsilon));
  const __m512i shifted =
      _mm512_mask_add_epi64(sum, _mm512_cmplt_epu64_mask(sum, low), sum, epsilon);
  const __m512i canonical = Wide::Min(shifted, Wide::Add(shifted, epsilon));
  return _mm512_maskz_sub_epi64(_mm512_test_epi64_mask(canonical, canonical),
                                Wide::Set(goldilocks::P), canonical);
}

FRAZIL_AVX512 void PermuteAvx512(uint64_t* elements, uint64_t* lookups) {
  Limbs<Wide> a = Enter(_mm512_load_si512(elements));
  Limbs<Wide> b = Enter(_mm512_load_si512(elements + 8));
  for (size_t round = 0; round < 5; ++round) {
    const __m256i looked_up = Canonical<Narrow>({Lower(a.low), Lower(a.high)});
    if (lookups != nullptr)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(lookups + 4 * round), looked_up);
    Round(a, b, looked_up, round);
  }
  _mm512_store_si512(elements, Leave(a));
  _mm512_store_si512(elements + 8, Leave(b));
}

}  // namespace

Form BestForm() {
  static const Form form = [] {
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512ifma");
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
