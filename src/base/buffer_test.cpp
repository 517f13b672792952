#include "base/buffer.h"

#include <gtest/gtest.h>

#include "base/launch_config.h"

namespace frazil {
namespace {

TEST(Buffer, AView) {
  std::vector<int32_t> values = {1, 2, 3};
  Buffer view(values);
  static_assert(std::is_same_v<decltype(view), Buffer<int32_t>>);
  EXPECT_EQ(view.data(), values.data());
  view.span()[1] = 7;
  EXPECT_EQ(values[1], 7);
  const std::vector<int32_t>& fixed = values;
  Buffer read(fixed);
  static_assert(std::is_same_v<decltype(read), Buffer<const int32_t>>);
  EXPECT_EQ(read.ToVector(), values);
  EXPECT_EQ(view.slot(), -1);
  EXPECT_EQ(view.CopyFrom(std::vector<int32_t>{1}).error().message,
            "1 elements are given where the buffer has 3");
  EXPECT_TRUE(Buffer<float>().empty());
}

TEST(Buffer, OwnsWhatItWasGiven) {
  const auto home = std::make_shared<int>(5);
  auto storage = std::make_shared<Storage>(Kind::F64, 3, home);
  const std::weak_ptr<Storage> watched = storage;
  Buffer<double> buffer(std::move(storage));
  EXPECT_EQ(buffer.ToVector(), std::vector<double>(3, 0));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
  Buffer copy(buffer);
  static_assert(std::is_same_v<decltype(copy), Buffer<double>>);
  EXPECT_EQ(copy.storage(), buffer.storage()) << "a copy, and no view of it";
  buffer = {};
  EXPECT_EQ(copy.size(), 3u);
  EXPECT_FALSE(watched.expired());
  copy = {};
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(home.use_count(), 1);
}

TEST(LaunchConfig, LanesAndBlocks) {
  const LaunchConfig config = LaunchConfig::Linear(1000, 256);
  EXPECT_EQ(config.grid, (Dim3{4, 1, 1}));
  EXPECT_EQ(config.block, (Dim3{256, 1, 1}));
  EXPECT_EQ(config.lanes(), 1000);
  EXPECT_TRUE(config.is_valid());
  EXPECT_EQ(LaunchConfig::Linear(0).grid.x, 0);
  EXPECT_FALSE(LaunchConfig::Linear(0).is_valid());
  EXPECT_EQ(LaunchConfig::Linear(INT64_MAX, 1).grid.x, INT64_MAX);
  EXPECT_EQ(LaunchConfig::Linear(-5).lanes(), -5);
  EXPECT_EQ(LaunchConfig::Lanes(7, 2).lanes(), 7);
  LaunchConfig beyond;
  beyond.grid.x = beyond.block.x = int64_t{1} << 32;
  EXPECT_EQ(beyond.lanes(), std::nullopt);
  EXPECT_FALSE(beyond.is_valid());
}

}  // namespace
}  // namespace frazil
