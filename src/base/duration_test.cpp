#include "base/duration.h"

#include <gtest/gtest.h>

#include <chrono>

namespace frazil {
namespace {

TEST(Duration, ThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(PrintDuration(0), "0.00 ns");
  EXPECT_EQ(PrintDuration(4.2), "4.20 ns");
  EXPECT_EQ(PrintDuration(9.996), "10.0 ns");
  EXPECT_EQ(PrintDuration(999.4), "999 ns");
  EXPECT_EQ(PrintDuration(999.6), "1.00 us");
  EXPECT_EQ(PrintDuration(58'640), "58.6 us");
  EXPECT_EQ(PrintDuration(391e6), "391 ms");
  EXPECT_EQ(PrintDuration(12.4e9), "12.4 s");
  EXPECT_EQ(PrintDuration(7200e9), "7200 s");
}

TEST(Duration, AgoIsInTheUnitThatFits) {
  const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  EXPECT_EQ(PrintAgo(now + 100), "now");
  EXPECT_EQ(PrintAgo(now - 60), "now");
  EXPECT_EQ(PrintAgo(now - 5 * 60 - 10), "5 min ago");
  EXPECT_EQ(PrintAgo(now - 3 * 3600 - 10), "3 h ago");
  EXPECT_EQ(PrintAgo(now - 12 * 24 * 3600 - 10), "12 days ago");
}

}  // namespace
}  // namespace frazil
