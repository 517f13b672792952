// Call profiles and the period of token streams.
#include "profile/profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <random>

namespace frazil::profile {
namespace {

TEST(CallProfile, CountsTimesAndConstants) {
  // i64, a buffer, digest, i32
  CallProfile profile({1, 0, 5, 1}, {0, 1, 3, 8});
  EXPECT_EQ(profile.ns_per_call(), 0);
  EXPECT_EQ(profile.ConstantArguments(), (std::vector<std::vector<uint64_t>>(4)));
  std::vector<uint64_t> call = {7, 1000, 64, 1, 2, 3, 4, 5, 9};
  profile.Add(call.data(), 1, 100);
  call[1] = 2000;
  call[8] = 10;
  profile.Add(call.data(), 16, 50);
  EXPECT_EQ(profile.calls(), 17u);
  EXPECT_EQ(profile.total_ns(), 900);
  EXPECT_EQ(profile.ConstantArguments(),
            (std::vector<std::vector<uint64_t>>{{7}, {}, {1, 2, 3, 4, 5}, {}}));
  call[7] = 6;
  profile.Add(call.data(), 1, 50);
  call[7] = 5;
  profile.Add(call.data(), 1, 50);
  EXPECT_EQ(profile.ConstantArguments(), (std::vector<std::vector<uint64_t>>{{7}, {}, {}, {}}));
  profile.ForgetArguments();
  profile.Add(call.data(), 1, 50);
  EXPECT_EQ(profile.ConstantArguments(),
            (std::vector<std::vector<uint64_t>>{{7}, {}, {1, 2, 3, 4, 5}, {10}}));
}

TEST(CallProfile, TimePerCallIsOfRecentCallsAndIgnoresOutliers) {
  CallProfile profile({}, {});
  for (int i = 0; i < 100; ++i) profile.Add(nullptr, 1, i % 10 == 0 ? 1e6 : 500);
  EXPECT_EQ(profile.ns_per_call(), 500);
  for (int i = 0; i < 31; ++i) profile.Add(nullptr, 1, 20);
  EXPECT_EQ(profile.ns_per_call(), 20);
}

TEST(TokenRing, KeepsTheNewest) {
  TokenRing ring(4);
  EXPECT_EQ(ring.size(), 0u);
  EXPECT_EQ(ring.Period(1), 0u);
  for (uint64_t i = 1; i <= 10; ++i) {
    ring.Push(i);
    EXPECT_EQ(ring.size(), std::min<size_t>(i, 4));
    for (size_t back = 0; back < ring.size(); ++back) EXPECT_EQ(ring.at_back(back), i - back);
  }
  ring.Clear();
  EXPECT_EQ(ring.size(), 0u);
}

void PushAll(TokenRing& ring, std::initializer_list<uint64_t> tokens) {
  for (uint64_t token : tokens) ring.Push(token);
}

TEST(TokenRing, FiveRepetitionsOfNineOps) {
  TokenRing ring;
  ASSERT_GE(ring.capacity(), 4096u);
  for (uint64_t noise = 0; noise < 100; ++noise) ring.Push(1000 + noise * noise % 37);
  for (int repetition = 1; repetition <= 5; ++repetition) {
    EXPECT_EQ(ring.Period(5), 0u);
    PushAll(ring, {1, 2, 3, 1, 2, 4, 1, 2, 5});
  }
  EXPECT_EQ(ring.Period(5), 9u);
  EXPECT_EQ(ring.Period(6), 0u);
  // In the middle of the next repetition it still repeats, from another start.
  PushAll(ring, {1, 2, 3, 1});
  EXPECT_EQ(ring.Period(5), 9u);
  ring.Push(77);
  EXPECT_EQ(ring.Period(2), 0u);
}

TEST(TokenRing, TheSmallestPeriodIsFound) {
  TokenRing ring;
  for (int i = 0; i < 12; ++i) ring.Push(5);
  EXPECT_EQ(ring.Period(12), 1u);
  EXPECT_EQ(ring.Period(13), 0u);
  for (int i = 0; i < 4; ++i) PushAll(ring, {1, 1, 1, 2});
  EXPECT_EQ(ring.Period(4), 4u);
  PushAll(ring, {1, 1, 1});
  EXPECT_EQ(ring.Period(3), 1u);
}

TEST(TokenRing, ALongPeriodFillsTheRing) {
  TokenRing ring;
  for (int repetition = 0; repetition < 6; ++repetition) {
    for (uint64_t token = 0; token < 819; ++token) ring.Push(token);
  }
  EXPECT_EQ(ring.Period(5), 819u);  // 4095 of 4096
  for (int repetition = 0; repetition < 6; ++repetition) {
    for (uint64_t token = 0; token < 820; ++token) ring.Push(token);
  }
  EXPECT_EQ(ring.Period(5), 0u);  // 4100 do not fit
  EXPECT_EQ(ring.Period(4), 820u);
}

TEST(TokenRing, AgreesWithTheDefinition) {
  std::mt19937_64 random(3);
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    const size_t capacity = 1 + random() % 70;
    TokenRing ring(capacity);
    std::deque<uint64_t> tokens;  // newest first
    const size_t period = 1 + random() % 12, pushes = random() % 150;
    for (size_t i = 0; i < pushes; ++i) {
      const uint64_t token = random() % 40 == 0 ? random() % 3 : (i % period) * (i % period) % 3;
      ring.Push(token);
      tokens.push_front(token);
      if (tokens.size() > capacity) tokens.pop_back();
    }
    const size_t repetitions = random() % 7;
    size_t expected = 0;
    for (size_t p = 1; repetitions > 0 && expected == 0 && p * repetitions <= tokens.size(); ++p) {
      bool repeats = true;
      for (size_t i = 0; i + p < repetitions * p; ++i)
        repeats = repeats && tokens[i] == tokens[i + p];
      if (repeats) expected = p;
    }
    ASSERT_EQ(ring.Period(repetitions), expected) << round;
    found += expected > 1;
  }
  EXPECT_GT(found, 300);
}

// Streams that make a naive search quadratic: a long run of one token, broken once near its old end.
TEST(TokenRing, IsLinearForTheWorstTokens) {
  auto seconds = [](size_t size) {
    TokenRing ring(size);
    for (size_t i = 0; i < size; ++i) ring.Push(i == size / 2 + 5 ? 1 : 0);
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto start = std::chrono::steady_clock::now();
      // More repetitions than the run is long: nothing is found before the end of the search.
      EXPECT_EQ(ring.Period(size), 0u);
      EXPECT_EQ(ring.Period(2), 1u);
      TokenRing other = ring;
      other.Push(2);
      EXPECT_EQ(other.Period(2), 0u);
      best = std::min(
          best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  EXPECT_LT(seconds(1 << 18), 100 * seconds(1 << 14));  // 16 times the tokens; 256 if quadratic
}

}  // namespace
}  // namespace frazil::profile
