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

// Column[(row - column) mod 16] stands at 16 + row - column.
constexpr auto TwiceColumn = [] {
  std::array<uint64_t, 32> twice{};
  for (size_t i = 0; i < 32; ++i) twice[i] = Column[i % 16];
  return twice;
}();

// The matrix has entries below 2^16, so the two halves of each element can be summed without carries.
void MultiplyAndAdd(std::array<uint64_t, 16>& y, size_t round) {
  std::array<uint64_t, 16> low{}, high{};
  for (size_t column = 0; column < 16; ++column) {
    const uint64_t y_low = y[column] & 0xffff'ffffu;
    const uint64_t y_high = y[column] >> 32;
    for (size_t row = 0; row < 16; ++row) {
      low[row] += TwiceColumn[16 + row - column] * y_low;
      high[row] += TwiceColumn[16 + row - column] * y_high;
    }
  }
  for (size_t row = 0; row < 16; ++row) {
    // low, high < 2^52; 2^64 = 2^32 - 1.
    const uint64_t low_sum = low[row] + (high[row] >> 32) * goldilocks::Epsilon;
    const uint64_t shifted = high[row] << 32;
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
