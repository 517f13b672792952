// Tip5, the machine's hash: the permutation of sixteen elements, and what the tables need to know about it.
// Independent of the IR's prelude, so that the two can be held against each other.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "machines/tasm/program.h"

namespace frazil::machines::tasm {

constexpr size_t Tip5Rate = 10;

// Canonical elements; 0 to 9 are the rate, 10 to 15 the capacity.
struct alignas(64) Tip5State {
  std::array<uint64_t, 16> elements{};

  // The capacity of all ones that fixed-length hashing starts from.
  static Tip5State FixedLength() { return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}}; }
  friend bool operator==(const Tip5State&, const Tip5State&) = default;
};

// The numbers whose sixteen-bit limbs one permutation looks up: four in each of five rounds.
using Tip5Lookups = std::array<uint64_t, 20>;

void Permute(Tip5State& state);
// The same for who has no other use for the state (tir::Permutation).
void PermuteElements(std::array<uint64_t, 16>& elements);
void PermuteRecording(Tip5State& state, Tip5Lookups& lookups);

Digest HashTen(const std::array<uint64_t, 10>& input);
Digest HashPair(const Digest& left, const Digest& right);
// The sponge over input, 1, 0, 0, ...
Digest HashVarlen(std::span<const uint64_t> input);

// Distinct sixteen-bit limbs: the height of the cascade table.
class LimbSet {
 public:
  // How many of them were new.
  uint64_t Add(const Tip5Lookups& lookups) {
    uint64_t fresh = 0;
    for (uint64_t number : lookups) {
      for (int i = 0; i < 4; ++i, number >>= 16) {
        uint64_t& word = bits_[(number & 0xffff) >> 6];
        const uint64_t bit = uint64_t{1} << (number & 63);
        fresh += (word & bit) == 0 ? 1 : 0;
        word |= bit;
      }
    }
    count_ += fresh;
    return fresh;
  }
  uint64_t count() const { return count_; }
  bool Has(uint64_t limb) const { return (bits_[limb >> 6] >> (limb & 63) & 1) != 0; }
  const std::array<uint64_t, 1024>& bits() const { return bits_; }

 private:
  std::array<uint64_t, 1024> bits_{};
  uint64_t count_ = 0;
};

// Hashes a program's words as the machine does before it starts, and adds their limbs.
Digest HashWordsRecording(std::span<const uint64_t> words, LimbSet& limbs);

}  // namespace frazil::machines::tasm
