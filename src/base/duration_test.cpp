#include "base/duration.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace frazil
