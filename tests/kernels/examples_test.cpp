// The example kernels do what their comments say.
#include <map>

#include "kernels/call.h"
#include "kernels/expect.h"

namespace frazil::kernels_test {
namespace {

const ir::Program* Example(const char* name) {
  return KernelOfFile(std::string(FRAZIL_EXAMPLE_KERNELS_DIR) + "/" + name + ".py");
}

TEST(Examples, Saxpy) {
  for (const size_t n : Lengths) {
    const std::vector<float> x = Uniform(n, -2, 2), y = Uniform(n, -2, 2, 2);
    Call call(Example("saxpy"));
    ASSERT_TRUE(call.Scalar(1.7f).In(x).InOut(y).N(n).RunEverywhere(n <= SmallEnough));
    ExpectAllClose(
        call.Get<float>(2),
        [&](size_t i) { return static_cast<float>(1.7f * x[i]) + static_cast<double>(y[i]); }, 0, 0,
        "saxpy");
  }
}

TEST(Examples, Mandelbrot) {
  constexpr uint32_t width = 61, height = 37, most = 100;
  Call call(Example("mandelbrot"));
  call.Out<uint32_t>(width * height)
      .Scalar(width)
      .Scalar(height)
      .Scalar(-2.0f)
      .Scalar(-1.0f)
      .Scalar(0.05f)
      .Scalar(most);
  ASSERT_TRUE(call.RunEverywhere());
  const std::vector<uint32_t> counts = call.Get<uint32_t>(0);
  size_t inside = 0;
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      const float c_re = -2.0f + static_cast<float>(x) * 0.05f,
                  c_im = -1.0f + static_cast<float>(y) * 0.05f;
      float re = 0, im = 0;
      uint32_t count = 0;
      for (; count < most && !(re * re + im * im > 4.0f); ++count) {
        const float next = re * re - im * im + c_re;
        im = 2.0f * re * im + c_im;
        re = next;
      }
      ASSERT_EQ(counts[y * width + x], count) << x << ", " << y;
      inside += count == most ? 1 : 0;
    }
  EXPECT_GT(inside, 100u);
  EXPECT_LT(inside, size_t{width} * height);
}

TEST(Examples, Histogram) {
  for (const size_t n : Lengths) {
    const std::vector<float> values = Wild(n, -1, 3);
    std::vector<uint32_t> expected(20, 5);
    for (const float v : values)
      if (v >= 0 && v < 2) ++expected[std::min<size_t>(static_cast<size_t>(v / 2.0f * 20.0f), 19)];
    Call call(Example("histogram"));
    call.In(values).InOut(std::vector<uint32_t>(20, 5)).N(n).Scalar(0.0f).Scalar(2.0f);
    ASSERT_TRUE(call.RunEverywhere(n <= SmallEnough));
    EXPECT_EQ(call.Get<uint32_t>(1), expected);
  }
}

TEST(Examples, BlockReverse) {
  constexpr int64_t blocks = 5;
  const std::vector<float> x = Uniform(blocks * 256, -1, 1);
  Call call(Example("block_reverse"));
  ASSERT_TRUE(call.In(x).Out<float>(x.size()).Scalar(blocks).Scalar(int64_t{256}).RunEverywhere());
  ExpectAllClose(
      call.Get<float>(1), [&](size_t i) { return x[i / 256 * 256 + 255 - i % 256]; }, 0, 0,
      "block_reverse");
}

TEST(Examples, BlackScholes) {
  for (const size_t n : {1, 7, 257, 100'003}) {
    const std::vector<float> price = Uniform(n, 5, 30), strike = Uniform(n, 1, 100, 2),
                             years = Uniform(n, 0.25f, 10, 3);
    Call call(Example("black_scholes"));
    call.In(price).In(strike).In(years).Out<float>(n).Out<float>(n).N(n).Scalar(0.02f).Scalar(0.3f);
    ASSERT_TRUE(call.RunEverywhere(n <= SmallEnough));
    const auto exact = [&](size_t i, bool is_call) {
      const double s = price[i], k = strike[i], t = years[i], v = 0.3f, r = 0.02f;
      const double d1 = (std::log(s / k) + (r + v * v / 2) * t) / (v * std::sqrt(t)),
                   d2 = d1 - v * std::sqrt(t);
      const auto cdf = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
      return is_call ? s * cdf(d1) - k * std::exp(-r * t) * cdf(d2)
                     : k * std::exp(-r * t) * cdf(-d2) - s * cdf(-d1);
    };
    ExpectAllClose(call.Get<float>(3), [&](size_t i) { return exact(i, true); }, 0, 5e-5, "call");
    ExpectAllClose(call.Get<float>(4), [&](size_t i) { return exact(i, false); }, 0, 5e-5, "put");
  }
}

TEST(Examples, Softmax) {
  const std::vector<float> x = Uniform(5 * 100, -20, 20);
  Call call(Example("softmax"));
  ASSERT_TRUE(call.In(x).Out<float>(500).N(5).N(100).RunEverywhere());
  for (size_t r = 0; r < 5; ++r) {
    double sum = 0;
    for (size_t j = 0; j < 100; ++j) sum += call.Get<float>(1)[r * 100 + j];
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

}  // namespace
}  // namespace frazil::kernels_test
