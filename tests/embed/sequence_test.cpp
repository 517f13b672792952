// Recorded launches: checked when they are recorded, then run as often as one likes.
#include <gtest/gtest.h>

#include <vector>

#include "embed_kernels.hpp"

namespace frazil::embed {
namespace {

TEST(EmbedSequence, RunsInOrder) {
  std::vector<float> x(100, 1), y(100, 0), z(100, 0);
  Sequence sequence;
  ASSERT_TRUE(sequence.Add(embed_kernels::saxpy_bind(2, x, y)));
  ASSERT_TRUE(sequence.Add(embed_kernels::saxpy_bind(1, y, z, 50)));
  ASSERT_EQ(sequence.size(), 2u);
  ASSERT_TRUE(sequence.Run());
  EXPECT_EQ(y[99], 2);
  EXPECT_EQ(z[49], 2);
  EXPECT_EQ(z[50], 0);
  ASSERT_TRUE(sequence.Run());
  EXPECT_EQ(y[0], 4);
  EXPECT_EQ(z[0], 6);
  x[0] = 10;
  ASSERT_TRUE(sequence.Run());
  EXPECT_EQ(y[0], 24) << "what it refers to is read when it runs";
}

TEST(EmbedSequence, LargeLaunchesAndResults) {
  constexpr size_t Large = 2'000'000;
  std::vector<float> x(Large, 1), y(Large, 1);
  const std::vector<double> a = {1, 2}, b = {3, 4};
  double product = 0;
  int64_t count = 0;
  Sequence sequence;
  ASSERT_TRUE(sequence.Add(embed_kernels::saxpy_bind(3, x, y)));
  ASSERT_TRUE(sequence.Add(embed_kernels::dot_bind(a, b, &product, &count)));
  ASSERT_TRUE(sequence.Run());
  EXPECT_EQ(y, std::vector<float>(Large, 4));
  EXPECT_EQ(product, 11);
  EXPECT_EQ(count, 2);
}

TEST(EmbedSequence, RefusesWhenItIsRecorded) {
  std::vector<float> x(100), y(99);
  Sequence sequence;
  const Status status = sequence.Add(embed_kernels::saxpy_bind(2, x, y));
  EXPECT_EQ(status.error(), LaunchError::WrongLength);
  EXPECT_EQ(sequence.size(), 0u);
  EXPECT_TRUE(sequence.Run());
  std::vector<uint32_t> out(4);
  EXPECT_EQ(sequence.Add(embed_kernels::lanes_bind(LaunchConfig::Lanes(0), out)).error(),
            LaunchError::EmptyLaunch);
}

TEST(EmbedSequence, EndsAtATrap) {
  const std::vector<double> x(3, 1);
  const std::vector<int32_t> at = {0, 7};
  std::vector<double> y(2);
  std::vector<float> a(10, 1), b(10, 1);
  Sequence sequence;
  ASSERT_TRUE(sequence.Add(embed_kernels::saxpy_bind(1, a, b)));
  ASSERT_TRUE(sequence.Add(embed_kernels::pick_bind(x, at, y, 2)));
  ASSERT_TRUE(sequence.Add(embed_kernels::saxpy_bind(1, a, b)));
  const Status status = sequence.Run();
  EXPECT_EQ(status.ToString(), "pick: out of bounds (iteration 1)");
  EXPECT_EQ(b[0], 2);
  sequence.Clear();
  EXPECT_TRUE(sequence.Run());
}

}  // namespace
}  // namespace frazil::embed
