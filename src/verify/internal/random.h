// Numbers that nobody could have fitted: a generator whose state is a SHA-256 digest of what is being compared.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/sha256.h"

namespace frazil::verify {

class Random {
 public:
  explicit Random(std::string_view seed_text) {
    Sha256 hash;
    hash.Update(seed_text);
    const std::array<uint8_t, 32> digest = hash.Finish();
    std::memcpy(state_, digest.data(), sizeof(state_));
  }

  // xoshiro256** (Blackman and Vigna): the state is never all zero, being a digest.
  uint64_t Next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  // Below n > 0; the bias of n / 2^64 does not matter for choosing test inputs.
  uint64_t Below(uint64_t n) {
    __extension__ using uint128 = unsigned __int128;
    return static_cast<uint64_t>((uint128{Next()} * n) >> 64);
  }
  bool Chance(uint64_t percent) { return Below(100) < percent; }
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
  }

 private:
  uint64_t state_[4];
};

}  // namespace frazil::verify
