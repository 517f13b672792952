// Tip5 in portable form, and everything above one permutation.
//
// The published permutation looks bytes of 2^64 x up. Here the whole state is kept as y = 2^64 x, so that the lookup
// reads plain bytes; the power map needs no change, because 2^192 = 1 and so (2^64 x)^7 = 2^64 x^7. Only what enters
// and leaves is converted.
#include "machines/tasm/tip5.h"

#include <algorithm>
#include <cstring>

#include "base/goldilocks.h"
#include "machines/tasm/tip5_constants.h"
#include "machines/tasm/tip5_forms.h"

namespace frazil::machines::tasm {
namespace tip5 {
namespace {

using goldilocks::Mul;

uint64_t LookUp(uint64_t y) {
  uint64_t result = 0;
  for (int i = 0; i < 64; i += 8) result |= uint64_t{Lookup[(y >> i) & 0xff]} << i;
  return result;
}

uint64_t Seventh(uint64_t y) {
  const uint64_t square = Mul(y, y);
  const uint64_t cube = Mul(square, y);
  return Mul(Mul(square, square), cube);
}

template <size_t N>
using Numbers = std::array<int64_t, N>;

// x times c modulo z^N + 1, times `scale`.
template <size_t N, Numbers<N> c, int64_t scale>
inline Numbers<N> Negacyclic(const Numbers<N>& x) {
  Numbers<N> out{};
#pragma GCC unroll 8
  for (size_t row = 0; row < N; ++row)
#pragma GCC unroll 8
    for (size_t j = 0; j < N; ++j)
      out[row] += x[j] * scale * (row >= j ? c[row - j] : -c[N + row - j]);
  return out;
}

template <size_t N, Numbers<N> c, int64_t sign>
constexpr Numbers<N / 2> HalvesOf() {
  Numbers<N / 2> halves{};
  for (size_t i = 0; i < N / 2; ++i) halves[i] = c[i] + sign * c[i + N / 2];
  return halves;
}

// N times the product of x and c modulo z^N - 1 = (z^N/2 - 1)(z^N/2 + 1): half the products at each step.
template <size_t N, Numbers<N> c>
inline Numbers<N> Cyclic(const Numbers<N>& x) {
  if constexpr (N == 1) {
    return {x[0] * c[0]};
  } else {
    Numbers<N / 2> sums, differences;
    for (size_t i = 0; i < N / 2; ++i) {
      sums[i] = x[i] + x[i + N / 2];
      differences[i] = x[i] - x[i + N / 2];
    }
    const Numbers<N / 2> plus = Cyclic<N / 2, HalvesOf<N, c, 1>()>(sums);
    const Numbers<N / 2> minus =
        Negacyclic<N / 2, HalvesOf<N, c, -1>(), int64_t{N / 2}>(differences);
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
    low[i] = static_cast<int64_t>(y[i] & 0xffff'ffffu);
    high[i] = static_cast<int64_t>(y[i] >> 32);
  }
  low = Cyclic<16, Coefficients>(low);
  high = Cyclic<16, Coefficients>(high);
  for (size_t row = 0; row < 16; ++row) {
    // Sixteen times numbers below 2^52; 2^64 = 2^32 - 1.
    const uint64_t row_low = static_cast<uint64_t>(low[row]) >> 4;
    const uint64_t row_high = static_cast<uint64_t>(high[row]) >> 4;
    const uint64_t low_sum = row_low + (row_high >> 32) * goldilocks::Epsilon;
    const uint64_t shifted = row_high << 32;
    uint64_t sum = low_sum + shifted;
    if (sum < shifted) sum += goldilocks::Epsilon;
    y[row] = goldilocks::Add(goldilocks::FromUint64(sum), RoundConstants[16 * round + row]);
  }
}

}  // namespace

void PermutePortable(uint64_t* elements, uint64_t* lookups) {
  std::array<uint64_t, 16> y;
  for (size_t i = 0; i < 16; ++i) y[i] = Mul(elements[i], goldilocks::Epsilon);
  for (size_t round = 0; round < 5; ++round) {
    if (lookups != nullptr) std::memcpy(lookups + 4 * round, y.data(), 4 * sizeof(uint64_t));
    for (size_t i = 0; i < 4; ++i) y[i] = LookUp(y[i]);
    for (size_t i = 4; i < 16; ++i) y[i] = Seventh(y[i]);
    MultiplyAndAdd(y, round);
  }
  // 2^-64 = 2^128 = -2^32.
  for (size_t i = 0; i < 16; ++i) elements[i] = goldilocks::Neg(Mul(y[i], uint64_t{1} << 32));
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
