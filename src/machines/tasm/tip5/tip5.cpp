// Tip5 in portable form, and everything above one permutation.
//
// The published permutation looks bytes of 2^64 x up. Here the whole state is kept as y = 2^64 x, so that the lookup
// reads plain bytes; the power map needs no change, because 2^192 = 1 and so (2^64 x)^7 = 2^64 x^7. Only what enters
// and leaves is converted.
#include "machines/tasm/tip5/tip5.h"

#include <algorithm>

#include "base/number/goldilocks.h"
#include "machines/tasm/tip5/tip5_constants.h"
#include "machines/tasm/tip5/tip5_forms.h"

namespace frazil::machines::tasm {
namespace tip5 {
namespace {

using goldilocks::Epsilon;

uint64_t LookUp(uint64_t y) {
  uint64_t result = 0;
  for (int i = 0; i < 64; i += 8) result |= uint64_t{Lookup[(y >> i) & 0xff]} << i;
  return result;
}

// Elements of any 64 bits, not only below p: nothing between two lookups asks for more, and the last step of a
// reduction is a third of it.
inline uint64_t Times(uint64_t a, uint64_t b) {
  __extension__ using uint128 = unsigned __int128;
  const uint128 product = uint128{a} * b;
  const uint64_t low = static_cast<uint64_t>(product), high = static_cast<uint64_t>(product >> 64);
  uint64_t rest = low - (high >> 32);
  if (rest > low) rest -= Epsilon;
  const uint64_t middle = (high & Epsilon) * Epsilon;
  const uint64_t sum = rest + middle;
  return sum < middle ? sum + Epsilon : sum;
}

inline uint64_t Seventh(uint64_t y) {
  const uint64_t square = Times(y, y);
  const uint64_t cube = Times(square, y);
  return Times(Times(square, square), cube);
}

// Numbers modulo 2^64; differences wrap and come back.
template <size_t N>
using Numbers = std::array<uint64_t, N>;

template <size_t N>
[[gnu::always_inline]] constexpr Numbers<N / 2> Every(const Numbers<N>& x, size_t first) {
  Numbers<N / 2> half{};
  for (size_t i = 0; i < N / 2; ++i) half[i] = x[2 * i + first];
  return half;
}

template <size_t N>
[[gnu::always_inline]] constexpr Numbers<N> Plus(const Numbers<N>& x, const Numbers<N>& y) {
  Numbers<N> sum{};
  for (size_t i = 0; i < N; ++i) sum[i] = x[i] + y[i];
  return sum;
}

// x times c modulo z^N + 1. Even and odd coefficients by Karatsuba's three products modulo w^N/2 + 1, w = z^2.
template <size_t N, Numbers<N> c>
[[gnu::always_inline]] inline Numbers<N> Negacyclic(const Numbers<N>& x) {
  if constexpr (N == 1) {
    return {x[0] * c[0]};
  } else {
    constexpr Numbers<N / 2> even_c = Every<N>(c, 0), odd_c = Every<N>(c, 1);
    const Numbers<N / 2> even_x = Every<N>(x, 0), odd_x = Every<N>(x, 1);
    const Numbers<N / 2> even = Negacyclic<N / 2, even_c>(even_x);
    const Numbers<N / 2> odd = Negacyclic<N / 2, odd_c>(odd_x);
    const Numbers<N / 2> both =
        Negacyclic<N / 2, Plus<N / 2>(even_c, odd_c)>(Plus<N / 2>(even_x, odd_x));
    Numbers<N> out;
    for (size_t i = 0; i < N / 2; ++i) {
      out[2 * i] = i == 0 ? even[0] - odd[N / 2 - 1] : even[i] + odd[i - 1];
      out[2 * i + 1] = both[i] - even[i] - odd[i];
    }
    return out;
  }
}

template <size_t N>
constexpr Numbers<N / 2> Folded(const Numbers<N>& c, uint64_t sign, uint64_t scale) {
  Numbers<N / 2> folded{};
  for (size_t i = 0; i < N / 2; ++i) folded[i] = (c[i] + sign * c[i + N / 2]) * scale;
  return folded;
}

// N times the product of x and c modulo z^N - 1 = (z^N/2 - 1)(z^N/2 + 1).
template <size_t N, Numbers<N> c>
[[gnu::always_inline]] inline Numbers<N> Cyclic(const Numbers<N>& x) {
  if constexpr (N == 1) {
    return {x[0] * c[0]};
  } else {
    Numbers<N / 2> sums, differences;
    for (size_t i = 0; i < N / 2; ++i) {
      sums[i] = x[i] + x[i + N / 2];
      differences[i] = x[i] - x[i + N / 2];
    }
    const Numbers<N / 2> plus = Cyclic<N / 2, Folded<N>(c, 1, 1)>(sums);
    const Numbers<N / 2> minus =
        Negacyclic<N / 2, Folded<N>(c, uint64_t{0} - 1, N / 2)>(differences);
    Numbers<N> out;
    for (size_t i = 0; i < N / 2; ++i) {
      out[i] = plus[i] + minus[i];
      out[i + N / 2] = plus[i] - minus[i];
    }
    return out;
  }
}

constexpr Numbers<16> Coefficients = [] {
  Numbers<16> coefficients{};
  for (size_t i = 0; i < 16; ++i) coefficients[i] = Column[i];
  return coefficients;
}();

// The matrix has entries below 2^16, so the two halves of each element can be summed without carries.
void MultiplyAndAdd(std::array<uint64_t, 16>& y, size_t round) {
  Numbers<16> low, high;
  for (size_t i = 0; i < 16; ++i) {
    low[i] = y[i] & Epsilon;
    high[i] = y[i] >> 32;
  }
  low = Cyclic<16, Coefficients>(low);
  high = Cyclic<16, Coefficients>(high);
  for (size_t row = 0; row < 16; ++row) {
    // Sixteen times numbers below 2^52; 2^64 = 2^32 - 1. With the constant the low part stays below 2^54.
    const uint64_t constant = RoundConstants[16 * round + row];
    const uint64_t row_low = (low[row] >> 4) + (constant & Epsilon);
    const uint64_t row_high = (high[row] >> 4) + (constant >> 32);
    const uint64_t shifted = row_high << 32;
    const uint64_t sum = row_low + (row_high >> 32) * Epsilon + shifted;
    y[row] = sum < shifted ? sum + Epsilon : sum;
  }
}

}  // namespace

void PermutePortable(uint64_t* elements, uint64_t* lookups) {
  std::array<uint64_t, 16> y;
  for (size_t i = 0; i < 16; ++i) y[i] = Times(elements[i], Epsilon);
  for (size_t round = 0; round < 5; ++round) {
    for (size_t i = 0; i < 4; ++i) {
      y[i] = goldilocks::FromUint64(y[i]);
      if (lookups != nullptr) lookups[4 * round + i] = y[i];
      y[i] = LookUp(y[i]);
    }
    for (size_t i = 4; i < 16; ++i) y[i] = Seventh(y[i]);
    MultiplyAndAdd(y, round);
  }
  // 2^-64 = 2^128 = -2^32.
  for (size_t i = 0; i < 16; ++i)
    elements[i] = goldilocks::Neg(goldilocks::FromUint64(Times(y[i], uint64_t{1} << 32)));
}

}  // namespace tip5

namespace {

Digest FirstFive(const Tip5State& state) {
  Digest digest;
  std::copy_n(state.elements.begin(), 5, digest.begin());
  return digest;
}

// Calls absorb with each state that is about to be permuted.
template <typename Absorb>
Digest Sponge(std::span<const uint64_t> input, Absorb absorb) {
  Tip5State state;
  while (input.size() >= Tip5Rate) {
    std::ranges::copy(input.first(Tip5Rate), state.elements.begin());
    absorb(state);
    input = input.subspan(Tip5Rate);
  }
  std::fill_n(state.elements.begin(), Tip5Rate, 0);
  std::ranges::copy(input, state.elements.begin());
  state.elements[input.size()] = 1;
  absorb(state);
  return FirstFive(state);
}

}  // namespace

void PermuteElements(std::array<uint64_t, 16>& elements) {
  Tip5State state{elements};
  Permute(state);
  elements = state.elements;
}

void Permute(Tip5State& state) { tip5::BestForm()(state.elements.data(), nullptr); }

void PermuteRecording(Tip5State& state, Tip5Lookups& lookups) {
  tip5::BestForm()(state.elements.data(), lookups.data());
}

Digest HashTen(const std::array<uint64_t, 10>& input) {
  Tip5State state = Tip5State::FixedLength();
  std::ranges::copy(input, state.elements.begin());
  Permute(state);
  return FirstFive(state);
}

Digest HashPair(const Digest& left, const Digest& right) {
  Tip5State state = Tip5State::FixedLength();
  std::ranges::copy(left, state.elements.begin());
  std::ranges::copy(right, state.elements.begin() + 5);
  Permute(state);
  return FirstFive(state);
}

Digest HashVarlen(std::span<const uint64_t> input) {
  return Sponge(input, [](Tip5State& state) { Permute(state); });
}

Digest HashWordsRecording(std::span<const uint64_t> words, LimbSet& limbs) {
  return Sponge(words, [&](Tip5State& state) {
    Tip5Lookups lookups;
    PermuteRecording(state, lookups);
    limbs.Add(lookups);
  });
}

}  // namespace frazil::machines::tasm
