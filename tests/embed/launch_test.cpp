// Launches of embedded kernels against plain loops, at lengths around every vector width and above the size at which
// threads share a launch, with canaries behind each buffer; and launches that must be refused, each with its sentence.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "embed_kernels.hpp"

namespace frazil::embed {
namespace {

constexpr size_t Lengths[] = {0,  1,   2,   7,   15,   16,   17,   63,      64,
                              65, 255, 256, 257, 3071, 3072, 3073, 100'003, 1'000'003};
constexpr size_t CanaryCount = 16;
constexpr float Canary = -12345.5f;

std::vector<float> Random(size_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(-4, 4);
  std::vector<float> data(n);
  for (float& value : data) value = values(engine);
  return data;
}

TEST(EmbedLaunch, SaxpyAtEveryLength) {
  for (const size_t n : Lengths) {
    const std::vector<float> x = Random(n, 1);
    std::vector<float> y = Random(n, 2), expected = y;
    y.insert(y.end(), CanaryCount, Canary);
    for (size_t i = 0; i < n; ++i) expected[i] = 1.5f * x[i] + expected[i];
    expected.insert(expected.end(), CanaryCount, Canary);
    const Status status = embed_kernels::saxpy(1.5f, x, std::span(y).first(n));
    ASSERT_TRUE(status) << status.ToString();
    EXPECT_EQ(y, expected) << n;
  }
}

TEST(EmbedLaunch, AGivenExtentIsHeld) {
  std::vector<float> x(100, 1), y(100, 1);
  ASSERT_TRUE(embed_kernels::saxpy(1, x, y, 40));
  EXPECT_EQ(std::accumulate(y.begin(), y.end(), 0.0f), 140);
}

TEST(EmbedLaunch, InPlace) {
  std::vector<float> y(1000, 3);
  const Status status = embed_kernels::saxpy(2, y, y);
  ASSERT_TRUE(status) << status.ToString();
  EXPECT_EQ(y, std::vector<float>(1000, 9));
}

TEST(EmbedLaunch, RowsShareThreads) {
  for (const auto& [rows, cols] :
       {std::pair<uint32_t, uint32_t>{1, 1}, {3, 257}, {1, 100'000}, {700, 300}}) {
    const std::vector<float> x = Random(size_t{rows} * cols, rows);
    std::vector<float> y(x.size() + CanaryCount, Canary);
    const Status status = embed_kernels::softmax(x, std::span(y).first(x.size()), rows, cols);
    ASSERT_TRUE(status) << status.ToString();
    for (uint32_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (uint32_t c = 0; c < cols; ++c) sum += y[size_t{r} * cols + c];
      ASSERT_NEAR(sum, 1, 1e-4) << r;
    }
    for (size_t i = x.size(); i < y.size(); ++i) ASSERT_EQ(y[i], Canary);
  }
}

TEST(EmbedLaunch, TwoDirections) {
  constexpr uint32_t Width = 200, Height = 150;
  std::vector<uint32_t> counts(Width * Height, 99'999);
  const Status status = embed_kernels::mandelbrot(counts, Width, Height, -2.0f, -1.0f, 0.013f, 60);
  ASSERT_TRUE(status) << status.ToString();
  for (uint32_t py = 0; py < Height; ++py) {
    for (uint32_t px = 0; px < Width; ++px) {
      const float c_re = -2.0f + static_cast<float>(px) * 0.013f,
                  c_im = -1.0f + static_cast<float>(py) * 0.013f;
      float re = 0, im = 0;
      uint32_t count = 0;
      for (; count < 60 && !(re * re + im * im > 4); ++count) {
        const float re2 = re * re, im2 = im * im;
        im = 2 * re * im + c_im;
        re = re2 - im2 + c_re;
      }
      ASSERT_EQ(counts[py * Width + px], count) << px << ", " << py;
    }
  }
}

TEST(EmbedLaunch, LaunchConfigurations) {
  std::vector<uint32_t> out(1000, 7);
  ASSERT_TRUE(embed_kernels::lanes(LaunchConfig::Lanes(999), out));
  for (uint32_t i = 0; i < 999; ++i) ASSERT_EQ(out[i], i);
  EXPECT_EQ(out[999], 7);
  std::ranges::fill(out, 7);
  ASSERT_TRUE(embed_kernels::lanes(LaunchConfig::Blocks({10}, {64}), out));
  EXPECT_EQ(out[639], 639);
  EXPECT_EQ(out[640], 7);
  const std::vector<float> x = Random(1024, 5);
  std::vector<float> y(1024);
  const Status status = embed_kernels::block_reverse(LaunchConfig::Blocks({4}, {256}), x, y);
  ASSERT_TRUE(status) << status.ToString();
  for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], x[i / 256 * 256 + 255 - i % 256]);
}

TEST(EmbedLaunch, Atomics) {
  const std::vector<float> values = Random(200'000, 6);
  std::vector<uint32_t> bins(10), expected(10);
  for (const float v : values)
    if (-4 <= v && v < 4) ++expected[std::min<size_t>(static_cast<size_t>((v + 4) / 8 * 10), 9)];
  ASSERT_TRUE(embed_kernels::histogram(values, bins, static_cast<uint32_t>(values.size()), -4, 4));
  EXPECT_EQ(bins, expected);
}

TEST(EmbedLaunch, ResultsAndCircuits) {
  const std::vector<double> x = {1, 2, 3}, y = {4, 5, 6};
  const auto answer = embed_kernels::dot(x, y);
  ASSERT_TRUE(answer) << answer.status.ToString();
  EXPECT_EQ(std::get<0>(*answer), 32);
  EXPECT_EQ(std::get<1>(*answer), 3);
  std::vector<float> c00 = {1, -5, 2}, c01 = {1, 1, -9}, c02(3);
  ASSERT_TRUE(embed_kernels::three(c00, c01, c02));
  EXPECT_EQ(c02, (std::vector<float>{2, 0, 0}));
}

TEST(EmbedLaunch, SmallTypesAndTakenNames) {
  std::vector<int16_t> values(5, 1);
  ASSERT_TRUE(embed_kernels::double_(-3, values));
  EXPECT_EQ(values, std::vector<int16_t>(5, -6));
  const F16 one{0x3c00};
  std::vector<F16> x(33, one), y(33, F16{0});
  bool flags[33] = {};
  flags[32] = true;
  ASSERT_TRUE(embed_kernels::halves(x, flags, y));
  EXPECT_EQ(y[0].bits, 0x3c00);
  EXPECT_EQ(y[32].bits, 0x4000);
}

// --- refusals --------------------------------------------------------------------------------------------------------

void ExpectRefused(const Status& status, LaunchError error, const std::string& sentence) {
  EXPECT_FALSE(status);
  EXPECT_EQ(status.error(), error) << status.ToString();
  EXPECT_EQ(status.ToString(), sentence);
}

TEST(EmbedRefusals, Lengths) {
  std::vector<float> x(100, 1), y(99, 1);
  ExpectRefused(embed_kernels::saxpy(1, x, y), LaunchError::WrongLength,
                "saxpy: x and y must have the same length");
  ExpectRefused(embed_kernels::saxpy(1, x, y, 100), LaunchError::TooShort,
                "saxpy: n is larger than y is long");
  std::vector<int16_t> values(5);
  ExpectRefused(embed_kernels::double_(1, values, ~uint64_t{0}), LaunchError::TooShort,
                "double: config is larger than class is long");
  EXPECT_EQ(y, std::vector<float>(99, 1));
  std::vector<uint32_t> out(10);
  ExpectRefused(embed_kernels::lanes(LaunchConfig::Lanes(11), out), LaunchError::TooShort,
                "lanes: lanes.x is larger than out is long");
}

TEST(EmbedRefusals, ALengthThatItsExtentCannotSay) {
  // Never touched: the launch is refused before anything is read.
  auto* address = reinterpret_cast<float*>(uintptr_t{1} << 40);
  const std::span<const float> x(address, size_t{1} << 32);
  const std::span<float> y(address + (size_t{1} << 33), size_t{1} << 32);
  ExpectRefused(embed_kernels::saxpy(1, x, y), LaunchError::TooLong,
                "saxpy: x is longer than n can say");
}

TEST(EmbedRefusals, Memory) {
  std::vector<float> data(200, 1);
  const std::span<float> all(data);
  ExpectRefused(embed_kernels::saxpy(1, all.first(100), all.subspan(50, 100)), LaunchError::Overlap,
                "saxpy: x and y overlap in part, and one of them is written");
  ExpectRefused(embed_kernels::saxpy(1, all.first(100), all.first(99), 99), LaunchError::Overlap,
                "saxpy: x and y overlap in part, and one of them is written");
  const std::span<float> nothing(static_cast<float*>(nullptr), 100);
  ExpectRefused(embed_kernels::saxpy(1, nothing, all.first(100)), LaunchError::NullBuffer,
                "saxpy: x has a length but no memory");
  auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(data.data()) + 2);
  ExpectRefused(embed_kernels::saxpy(1, all.first(10), std::span(odd + 50, 10)),
                LaunchError::Misaligned, "saxpy: y is not aligned to its elements");
  EXPECT_EQ(data, std::vector<float>(200, 1));
}

TEST(EmbedRefusals, NeighborsAndEmptyBuffersAreFine) {
  std::vector<float> data(200, 1);
  const std::span<float> all(data);
  EXPECT_TRUE(embed_kernels::saxpy(1, all.first(100), all.subspan(100)));
  EXPECT_TRUE(embed_kernels::saxpy(1, all.subspan(100), all.first(100)));
  EXPECT_TRUE(embed_kernels::saxpy(1, all.subspan(50, 0), all, 0));
  EXPECT_TRUE(embed_kernels::saxpy(1, {}, {}));
}

TEST(EmbedRefusals, EmptyLaunches) {
  std::vector<uint32_t> out(10);
  constexpr const char* Sentence =
      "lanes: the launch must have 1 or more in each direction, and at most 2^62 lanes";
  for (const LaunchConfig& config :
       {LaunchConfig::Lanes(0), LaunchConfig::Lanes(5, -1), LaunchConfig::Blocks({1}, {0}),
        LaunchConfig::Blocks({int64_t{1} << 40, int64_t{1} << 40}, {})})
    ExpectRefused(embed_kernels::lanes(config, out), LaunchError::EmptyLaunch, Sentence);
}

TEST(EmbedTraps, TheLowestIterationCounts) {
  for (const size_t n : {size_t{10}, size_t{3'000'000}}) {
    const std::vector<double> x(100, 2);
    std::vector<int32_t> at(n, 5);
    std::vector<double> y(n);
    at[n / 2] = 100;
    at[n - 1] = -1;
    const Status status = embed_kernels::pick(x, at, y, static_cast<uint32_t>(n));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error(), LaunchError::Trapped);
    EXPECT_EQ(status.trap(), TrapKind::OutOfBounds);
    EXPECT_EQ(status.index(), static_cast<int64_t>(n / 2));
    EXPECT_EQ(status.ToString(), "pick: out of bounds (iteration " + std::to_string(n / 2) + ")");
    at[n / 2] = at[n - 1] = 0;
    EXPECT_TRUE(embed_kernels::pick(x, at, y, static_cast<uint32_t>(n)))
        << "a trap leaves nothing behind";
  }
}

TEST(EmbedModule, Descriptors) {
  const ModuleData& module = embed_kernels::kernels();
  const KernelData* saxpy = module.Find("saxpy");
  ASSERT_NE(saxpy, nullptr);
  EXPECT_EQ(module.Find("nothing"), nullptr);
  ASSERT_EQ(saxpy->params.size, 4u);
  EXPECT_STREQ(saxpy->params.begin()[3].name.get(), "n");
  EXPECT_EQ(saxpy->params.begin()[3].role, ParamRole::Extent);
  EXPECT_EQ(saxpy->word_count, 6u);
  EXPECT_TRUE(std::string_view(saxpy->doc.get()).starts_with("y = a x + y."));
  EXPECT_TRUE(saxpy->isa.bytes().starts_with("FRZB")) << saxpy->isa.bytes().substr(0, 8);
  EXPECT_TRUE(saxpy->wasm.bytes().starts_with(std::string_view("\0asm", 4)));
  // One that has no place in C++ is there all the same, without code.
  const KernelData* stream = module.Find("stream");
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->plain_entry(UsedLevel()), nullptr);
}

}  // namespace
}  // namespace frazil::embed
