// The two promises of the drift test, measured: how often it cries wolf over long lives, and how soon it sees a drift.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/sanitized.h"
#include "profile/profile.h"

namespace frazil::profile {
namespace {

constexpr int Runs = Sanitized ? 1'000 : 10'000;
constexpr int Steps = 300;

// How many of the calls miss: from miss to miss by geometric steps, which is quick for small shares.
uint64_t Misses(std::mt19937_64& random, uint64_t calls, double share) {
  if (share >= 1) return calls;
  uint64_t misses = 0;
  const double scale = 1 / std::log1p(-share);
  for (double at = 0;; ++misses) {
    const double unit = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
    at += 1 + std::floor(std::log(unit) * scale);
    if (at > static_cast<double>(calls)) return misses;
  }
}

// The largest wealth of each simulated life, whose threshold is never reached: one simulation for every alpha.
// share(step, last): the probability of a miss, given what happened before.
template <typename Share>
std::vector<double> LargestWealths(double expected, uint64_t seed, Share share) {
  std::mt19937_64 random(seed);
  std::vector<double> largest;
  for (int run = 0; run < Runs; ++run) {
    DriftTest test(expected, 1e-300);
    double most = 1;
    uint64_t last_misses = 0;
    for (int step = 0; step < Steps; ++step) {
      const uint64_t calls = step % 7 == 0 ? 1 : step % 3 == 0 ? 16 : 64;
      last_misses = Misses(random, calls, share(step, last_misses));
      EXPECT_FALSE(test.Add(calls, last_misses));
      most = std::max(most, test.wealth());
    }
    largest.push_back(most);
  }
  return largest;
}

void ExpectRates(const std::vector<double>& largest) {
  for (double alpha : {0.5, 0.2, 0.05, 0.01, 0.001}) {
    const auto alarms =
        std::count_if(largest.begin(), largest.end(), [&](double w) { return w >= 1 / alpha; });
    const double rate = static_cast<double>(alarms) / static_cast<double>(largest.size());
    EXPECT_LE(rate, alpha);
    testing::Test::RecordProperty("rate_at_" + std::to_string(alpha), std::to_string(rate));
  }
}

TEST(DriftTest, FalseAlarmsAtTheBoundary) {
  const std::vector<double> largest = LargestWealths(0.01, 1, [](int, uint64_t) { return 0.01; });
  ExpectRates(largest);
  // And the bound is no idle one: a test that never spoke would pass the lines above.
  EXPECT_GT(std::count_if(largest.begin(), largest.end(), [](double w) { return w >= 2; }),
            Runs / 50);
}

TEST(DriftTest, FalseAlarmsAtALargeShare) {
  ExpectRates(LargestWealths(0.3, 2, [](int, uint64_t) { return 0.3; }));
}

TEST(DriftTest, FalseAlarmsOfCallsThatDependOnEachOther) {
  // Calm for long, then at the boundary; and always at the boundary right after a miss.
  ExpectRates(LargestWealths(0.05, 3, [](int step, uint64_t last_misses) {
    return last_misses > 0 || step % 100 > 60 ? 0.05 : 0.001;
  }));
}

// Calls from the drift to its detection, in batches of 16, after so many calls at a tenth of the expected share.
double MeanDelay(double share, int quiet_calls, double alpha) {
  std::mt19937_64 random(5);
  double total = 0;
  const int trials = quiet_calls > 100'000 ? 20 : 200;
  for (int trial = 0; trial < trials; ++trial) {
    DriftTest test(0.01, alpha);
    for (int i = 0; i < quiet_calls / 16; ++i) {
      EXPECT_FALSE(test.Add(16, Misses(random, 16, 0.001)));
    }
    do {
      total += 16;
    } while (!test.Add(16, Misses(random, 16, share)) && total < 1e8);
    EXPECT_TRUE(test.drifted());
  }
  return total / trials;
}

TEST(DriftTest, DelayIsNearTheBoundAndGrowsOnlyWithTheLogarithmOfTheLife) {
  constexpr double Alpha = 1e-6;
  for (double share : {0.03, 0.05, 0.2, 1.0}) {
    for (int quiet_calls : {0, 10'000, 1'000'000}) {
      const double steps = std::max(1.0, quiet_calls / 16.0);
      const double divergence = share * std::log(share / 0.01) +
                                (share == 1 ? 0 : (1 - share) * std::log((1 - share) / 0.99));
      const double bound = std::log(16 * steps * (steps + 1) / Alpha) / divergence;
      const double delay = MeanDelay(share, quiet_calls, Alpha);
      EXPECT_LE(delay, 1.4 * bound + 32) << share << " after " << quiet_calls;
      RecordProperty("delay_" + std::to_string(share) + "_after_" + std::to_string(quiet_calls),
                     std::to_string(delay) + " bound " + std::to_string(bound));
    }
  }
}

TEST(DriftTest, Edges) {
  DriftTest test(0.01, 1e-6);
  EXPECT_FALSE(test.Add(0, 0));
  EXPECT_FALSE(test.Add(1'000'000'000'000, 0));
  EXPECT_FALSE(test.Add(1'000'000'000'000, 10'000'000'000));  // exactly what is expected
  EXPECT_TRUE(test.Add(1'000'000'000'000, 1'000'000'000'000));
  EXPECT_TRUE(test.Add(1000, 0));  // it stays
  test.Reset();
  EXPECT_FALSE(test.drifted());
  EXPECT_EQ(test.wealth(), 1);
  EXPECT_TRUE(test.Add(1000, 2000));  // more misses than calls: all of them
  DriftTest never(1.0, 1e-6);
  EXPECT_FALSE(never.Add(1000, 900));
  DriftTest none(0.0, 1e-6);
  EXPECT_TRUE(none.Add(1, 1));
}

}  // namespace
}  // namespace frazil::profile
