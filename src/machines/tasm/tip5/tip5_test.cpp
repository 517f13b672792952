// Tip5 against published vectors, and its forms against each other.
#include "machines/tasm/tip5/tip5.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "base/number/goldilocks.h"
#include "machines/tasm/tip5/tip5_forms.h"

namespace frazil::machines::tasm {
namespace {

// The published vectors name an element by 2^64 times it.
uint64_t FromRaw(uint64_t raw) {
  return goldilocks::Mul(raw, goldilocks::Pow(goldilocks::Epsilon, goldilocks::P - 2));
}
uint64_t ToRaw(uint64_t element) { return goldilocks::Mul(element, goldilocks::Epsilon); }

std::string Hex(const Digest& digest) {
  std::string text;
  for (const uint64_t element : digest)
    for (int i = 0; i < 64; i += 8) {
      const auto byte = static_cast<unsigned>(element >> i & 0xff);
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
  return text;
}

TEST(Tip5, PublishedPermutation) {
  Tip5State state = {
      {0x0000000ffffffff0, 0x00000000ffffffff, 0x00000000ffffffff, 0x00000028ffffffd7,
       0x00000006fffffff9, 0x00000002fffffffd, 0x00000000ffffffff, 0x00000030ffffffcf,
       0x00000397fffffc68, 0x0000000ffffffff0, 0x316bfb7236382123, 0x216f521b66ef83f5,
       0x5689d7b363f52df0, 0xeb2f59e3aeae25fc, 0xb08299d277cbb4dc, 0xcbe3d9fdc5349140}};
  for (uint64_t& element : state.elements) element = FromRaw(element);
  Permute(state);
  const Digest expected = {0x15d38ea929f6632a, 0xf988e509ff738bb4, 0x48bcdfae88a2e9f3,
                           0x87339e832daac02a, 0x511e41268150fdac};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(ToRaw(state.elements[i]), expected[i]);
}

TEST(Tip5, PublishedHashesOfVariableLength) {
  Digest sum{};
  for (uint64_t length = 0; length < 20; ++length) {
    std::vector<uint64_t> input(length);
    for (uint64_t i = 0; i < length; ++i) input[i] = i;
    const Digest digest = HashVarlen(input);
    for (size_t i = 0; i < 5; ++i) sum[i] = goldilocks::Add(sum[i], digest[i]);
  }
  EXPECT_EQ(Hex(sum),
            "efbafa86622a9c69652f8a1c4ffd734f021ad23a0a8085412a877de0f9170b18ea4ff69b6fff9a03");
}

TEST(Tip5, FixedLengthHashesArePermutationsOfAState) {
  std::array<uint64_t, 10> input{};
  for (size_t i = 0; i < 6; ++i) {
    const Digest digest = HashTen(input);
    std::copy(digest.begin(), digest.end(), input.begin() + static_cast<ptrdiff_t>(i));
  }
  const Digest left = {input[0], input[1], input[2], input[3], input[4]};
  const Digest right = {input[5], input[6], input[7], input[8], input[9]};
  EXPECT_EQ(HashTen(input), HashPair(left, right));
}

// Elements at the edges of the field and of their halves, and random ones.
Tip5State RandomState(std::mt19937_64& random) {
  Tip5State state;
  for (uint64_t& element : state.elements) {
    switch (random() % 4) {
      case 0: element = random() % 3; break;
      case 1: element = goldilocks::P - 1 - random() % 3; break;
      case 2: element = (random() % 2 << 32) + (random() % 3) - 1; break;
      default: element = random();
    }
    element %= goldilocks::P;
    if (random() % 2 == 0) element = FromRaw(element);
  }
  return state;
}

TEST(Tip5, FormsAgree) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20'000; ++round) {
    const Tip5State start = RandomState(random);
    Tip5State portable = start, best = start, recorded = start;
    Tip5Lookups portable_lookups, lookups;
    tip5::PermutePortable(portable.elements.data(), portable_lookups.data());
    Permute(best);
    PermuteRecording(recorded, lookups);
    ASSERT_EQ(best, portable);
    ASSERT_EQ(recorded, portable);
    ASSERT_EQ(lookups, portable_lookups);
    for (const uint64_t element : best.elements) ASSERT_LT(element, goldilocks::P);
  }
}

TEST(Tip5, LimbsAreCountedOnce) {
  std::mt19937_64 random(6);
  LimbSet set;
  std::set<uint64_t> expected;
  for (int round = 0; round < 200; ++round) {
    Tip5State state = RandomState(random);
    Tip5Lookups lookups;
    PermuteRecording(state, lookups);
    uint64_t fresh = 0;
    for (const uint64_t number : lookups)
      for (int i = 0; i < 64; i += 16)
        fresh += expected.insert(number >> i & 0xffff).second ? 1 : 0;
    EXPECT_EQ(set.Add(lookups), fresh);
  }
  EXPECT_EQ(set.count(), expected.size());
}

}  // namespace
}  // namespace frazil::machines::tasm
