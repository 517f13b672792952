// What holds without any kernel: levels, configurations, and pieces of a launch on several threads.
#include "embed/launch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace frazil::embed {
namespace {

TEST(CpuLevel, NamesAndUse) {
  for (int i = 0; i < CpuLevelCount; ++i) {
    const auto level = static_cast<CpuLevel>(i);
    EXPECT_EQ(CpuLevelNamed(CpuLevelName(level)), level);
  }
  EXPECT_FALSE(CpuLevelNamed("sse9"));
  EXPECT_LE(UsedLevel(), HostLevel());
}

TEST(LaunchConfig, Valid) {
  EXPECT_TRUE(LaunchConfig::Lanes(1).is_valid());
  EXPECT_TRUE(LaunchConfig::Lanes(int64_t{1} << 62).is_valid());
  EXPECT_FALSE(LaunchConfig::Lanes(0).is_valid());
  EXPECT_FALSE(LaunchConfig::Lanes((int64_t{1} << 62) + 1).is_valid());
  EXPECT_FALSE(LaunchConfig::Blocks({int64_t{1} << 31, int64_t{1} << 31}, {2, 1, 1}).is_valid());
  EXPECT_FALSE(LaunchConfig::Blocks({4}, {-1}).is_valid());
}

// Never too lax: whatever overlaps in part is near; neighbors and the same buffer are not.
TEST(IsNear, AgainstTheDefinition) {
  for (uint64_t a = 100; a < 112; ++a)
    for (uint64_t b = 100; b < 112; ++b)
      for (uint64_t bytes_a = 0; bytes_a < 8; ++bytes_a)
        for (uint64_t bytes_b = 0; bytes_b < 8; ++bytes_b) {
          const bool overlap = bytes_a > 0 && bytes_b > 0 && a < b + bytes_b && b < a + bytes_a;
          const bool same = a == b && bytes_a == bytes_b;
          const bool near = IsNear(a, bytes_a, b, bytes_b, true) != 0;
          if (overlap && !same)
            EXPECT_TRUE(near) << a << " " << bytes_a << " " << b << " " << bytes_b;
          if (overlap && same) EXPECT_FALSE(near);
          if (!overlap && bytes_a > 0 && bytes_b > 0)
            EXPECT_FALSE(near) << a << " " << bytes_a << " " << b << " " << bytes_b;
          if (overlap) EXPECT_TRUE(IsNear(a, bytes_a, b, bytes_b, false) != 0);
        }
}

// A kernel by hand: adds 1 to each element of its range; element 700 and those above 900 trap with their number.
int32_t Count(const uint64_t* words, uint64_t*, NativeRun* run) {
  auto* counts = reinterpret_cast<std::atomic<int>*>(words[0]);
  for (auto i = static_cast<int64_t>(words[2]); i < static_cast<int64_t>(words[3]); ++i) {
    if (words[1] != 0 && (i == 700 || i > 900)) {
      run->trap_index = i;
      run->trap_op = 7;
      return 1 + static_cast<int32_t>(TrapKind::OutOfBounds);
    }
    counts[i].fetch_add(1);
  }
  return 0;
}

TEST(RunPieces, EveryIterationOnce) {
  ThreadPool pool(3);
  for (const int64_t trips : {1, 2, 999, 1000}) {
    for (const int64_t grain : {1, 7, 300, 5000}) {
      std::vector<std::atomic<int>> counts(1000);
      const uint64_t words[] = {reinterpret_cast<uint64_t>(counts.data()), 0};
      EXPECT_EQ(RunPieces({Count, true, words, 2, trips, grain}, pool).status, 0);
      for (int64_t i = 0; i < 1000; ++i)
        ASSERT_EQ(counts[static_cast<size_t>(i)], i < trips ? 1 : 0);
    }
  }
}

TEST(RunPieces, TheLowestTrap) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::atomic<int>> counts(1000);
    const uint64_t words[] = {reinterpret_cast<uint64_t>(counts.data()), 1};
    const TrapRecord trap = RunPieces({Count, true, words, 2, 1000, 1 + round}, pool);
    EXPECT_EQ(trap.status, 1 + static_cast<int32_t>(TrapKind::OutOfBounds));
    EXPECT_EQ(trap.index, 700);
    EXPECT_EQ(trap.op, 7u);
  }
}

TEST(Status, Words) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().ToString(), "ok");
  EXPECT_EQ(WordOf(int8_t{-1}), ~uint64_t{0});
  EXPECT_EQ(WordOf(uint8_t{255}), 255u);
  EXPECT_EQ(WordOf(1.0f), 0x3f800000u);
  EXPECT_EQ(FromWord<int16_t>(WordOf(int16_t{-5})), -5);
  EXPECT_EQ(FromWord<double>(WordOf(-0.5)), -0.5);
}

}  // namespace
}  // namespace frazil::embed
