#include "base/deadline.h"

#include <gtest/gtest.h>

#include <thread>

namespace frazil {
namespace {

TEST(Deadline, NoLimitLiesInThePast) {
  for (const uint64_t ms : {UINT64_MAX, uint64_t{1} << 63, uint64_t{1} << 44, uint64_t{60'000}}) {
    const Deadline deadline = Deadline::After(ms);
    EXPECT_FALSE(deadline.Passed()) << ms;
    EXPECT_GT(deadline.LeftMs(), 50'000u) << ms;
    EXPECT_EQ(deadline.PollMs(), 60'000) << ms;
  }
  EXPECT_FALSE(Deadline::Never().Passed());
  EXPECT_FALSE(Deadline::After(std::chrono::milliseconds::max()).Passed());
  EXPECT_TRUE(Deadline::After(std::chrono::milliseconds::min()).Passed());
  EXPECT_GE(Deadline::Never(), Deadline::After(uint64_t{365} * 24 * 3600 * 1000));
}

TEST(Deadline, Passes) {
  EXPECT_TRUE(Deadline::After(0).Passed());
  EXPECT_EQ(Deadline::After(0).PollMs(), 0);
  const Deadline soon = Deadline::After(2);
  std::this_thread::sleep_until(soon.at());
  EXPECT_TRUE(soon.Passed());
  EXPECT_EQ(soon.LeftMs(), 0u);
}

TEST(Deadline, AShareIsNeverMoreThanTheWhole) {
  const Deadline whole = Deadline::After(10'000);
  EXPECT_LE(whole.Within(UINT64_MAX).LeftMs(), 10'000u);
  EXPECT_LE(whole.Within(5).LeftMs(), 5u);
}

TEST(Patience, WaitingCostsNoneOfIt) {
  Patience patience(200);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  EXPECT_FALSE(patience.Over());
  const Deadline most = Deadline::After(60'000);
  while (!patience.Over() && !most.Passed()) {
  }
  EXPECT_FALSE(most.Passed());
  patience.Restart();
  EXPECT_FALSE(patience.Over());
}

TEST(Patience, EndsForWhoOnlyWaits) {
  Patience patience(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  EXPECT_TRUE(patience.Over());
  EXPECT_TRUE(Patience(0).Over());
  EXPECT_FALSE(Patience(UINT64_MAX).Over());
}

}  // namespace
}  // namespace frazil
