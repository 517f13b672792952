// All randomness of the attacks is choices: numbers of a seed in the mass attack, the bytes of an input under libFuzzer
// (tests/fuzz/fuzz_judges.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace frazil::tests {

class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(seed) {}
  Choices(const uint8_t* data, size_t size) : data_(data), left_(size), state_(0x5eed) {}

  // Any number. Few bytes of an input, so that what follows them stays what it was when one of them changes.
  uint64_t Next() {
    if (left_ > 0) return Scramble(Below(1 << 16));
    state_ += 0x9e3779b97f4a7c15ull;
    return Scramble(state_);
  }
  // The next bytes, while there are any.
  uint64_t Below(uint64_t n) {
    if (n < 2) return 0;
    if (left_ == 0) return Next() % n;
    uint64_t word = 0;
    for (uint64_t rest = n - 1; rest != 0 && left_ > 0; rest >>= 8, --left_)
      word = word << 8 | *data_++;
    return word % n;
  }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
  }
  template <typename List>
  const auto& OneOf(const List& list) {
    return list[Below(std::size(list))];
  }

 private:
  static uint64_t Scramble(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  const uint8_t* data_ = nullptr;
  size_t left_ = 0;
  uint64_t state_;
};

}  // namespace frazil::tests
