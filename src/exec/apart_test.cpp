// Buffers sorted by address against the rule, pair by pair.
#include "exec/apart.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace frazil::exec {
namespace {

bool MayLieTogether(const MemoryUse& a, const MemoryUse& b) {
  if (!a.is_written && !b.is_written) return true;
  if (a.bytes == 0 || b.bytes == 0) return true;
  if (a.begin + a.bytes <= b.begin || b.begin + b.bytes <= a.begin) return true;
  return a.begin == b.begin && a.bytes == b.bytes && a.element == b.element && !a.is_tensor &&
         !b.is_tensor;
}

bool PairByPair(const std::vector<MemoryUse>& uses) {
  for (size_t i = 0; i < uses.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!MayLieTogether(uses[i], uses[j])) return false;
  return true;
}

TEST(AreApart, AgreesWithTheRulePairByPair) {
  std::mt19937_64 random(11);
  std::array<int, 2> seen = {};
  for (int round = 0; round < 50'000; ++round) {
    const size_t count = random() % 9;
    // Crowded or not, so that both answers come.
    const uint64_t room = round % 2 ? 60 : 400;
    std::vector<MemoryUse> uses;
    for (size_t i = 0; i < count; ++i) {
      uses.push_back({4 * (1 + random() % room), 4 * (random() % 4),
                      static_cast<uint32_t>(random() % 8 == 0), random() % 3 == 0,
                      random() % 8 == 0});
      if (i > 0 && random() % 4 == 0) {
        uses[i].begin = uses[0].begin;
        uses[i].bytes = uses[0].bytes;
      }
    }
    const bool expected = PairByPair(uses);
    ASSERT_EQ(AreApart(uses), expected) << round;
    ++seen[expected];
  }
  EXPECT_GT(seen[0], 5'000);
  EXPECT_GT(seen[1], 5'000);
}

TEST(AreApart, MemoryThatWouldEndBehindTheLastAddressIsApartFromNothing) {
  std::vector<MemoryUse> uses = {{UINT64_MAX - 7, 16, 0, true, false}};
  EXPECT_FALSE(AreApart(uses));
}

TEST(BuffersOfCall, ReadsAddressesAndLengths) {
  for (const size_t count : {2, 64, 65, 200}) {
    BuffersOfCall buffers;
    std::vector<uint64_t> words = {7};  // a scalar before them
    for (size_t i = 0; i < count; ++i) {
      buffers.Add(static_cast<uint32_t>(words.size()), ir::types::F32, i == count - 1, false);
      // Neighbors, not in order.
      words.insert(words.end(), {4096 + 40 * ((i * 37) % count), 10});
    }
    EXPECT_TRUE(buffers.AreApart(words.data())) << count;
    std::vector<uint64_t> longer = words;
    longer[2 * count] = 11;  // of the written one: into its neighbor, unless it is the last
    const bool is_last = words[2 * count - 1] == 4096 + 40 * (count - 1);
    EXPECT_EQ(buffers.AreApart(longer.data()), is_last) << count;
    std::vector<uint64_t> same = words;
    same[1] = same[2 * count - 1];  // one buffer twice
    EXPECT_TRUE(buffers.AreApart(same.data())) << count;
    same[2] = 9;  // a part of it
    EXPECT_FALSE(buffers.AreApart(same.data())) << count;
  }
  EXPECT_TRUE(BuffersOfCall().AreApart(nullptr));
}

}  // namespace
}  // namespace frazil::exec
