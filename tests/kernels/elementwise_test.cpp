// Elementwise kernels and whole-vector reductions, for every length.
#include "kernels/call.h"
#include "kernels/expect.h"

namespace frazil::kernels_test {
namespace {

double Min(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double Max(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

struct Binary {
  const char* name;
  double (*exact)(double a, double b);
  double ulps;
  float lo, hi;
};
const Binary Binaries[] = {
    {"vector_add", [](double a, double b) { return a + b; }, 0, -100, 100},
    {"vector_sub", [](double a, double b) { return a - b; }, 0, -100, 100},
    {"vector_mul", [](double a, double b) { return a * b; }, 0, -100, 100},
    {"vector_div", [](double a, double b) { return a / b; }, 0, -100, 100},
    {"vector_min", Min, 0, -100, 100},
    {"vector_max", Max, 0, -100, 100},
    {"vector_pow", [](double a, double b) { return std::pow(a, b); }, 1, -4, 4},
    {"bias_gelu",
     [](double a, double b) {
       const double x = static_cast<float>(a + b);
       if (std::isinf(x)) return x > 0 ? x : -0.0;
       return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
     },
     1.01, -6, 6},
};

struct Unary {
  const char* name;
  double (*exact)(double x);
  double ulps;
  float lo, hi;
};
double Sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
double Gelu(double x) {
  if (std::isinf(x)) return x > 0 ? x : -0.0;
  return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
}
const Unary Unaries[] = {
    {"vector_abs", [](double x) { return std::fabs(x); }, 0, -100, 100},
    {"vector_neg", [](double x) { return -x; }, 0, -100, 100},
    {"vector_exp", [](double x) { return std::exp(x); }, 1, -110, 95},
    {"vector_log", [](double x) { return std::log(x); }, 1, 0, 1000},
    {"vector_sin", [](double x) { return std::sin(x); }, 1, -1e6, 1e6},
    {"vector_cos", [](double x) { return std::cos(x); }, 1, -1e6, 1e6},
    {"vector_sqrt", [](double x) { return std::sqrt(x); }, 0, 0, 1e6},
    {"vector_rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1, 0, 1e6},
    {"vector_copy", [](double x) { return x; }, 0, -100, 100},
    {"relu", [](double x) { return x < 0 ? 0 : x; }, 0, -2, 2},
    {"sigmoid", Sigmoid, 1, -110, 30},
    {"tanh_activation", [](double x) { return std::tanh(x); }, 1, -12, 12},
    {"gelu", Gelu, 1.01, -15, 15},
};

class Elementwise : public testing::TestWithParam<size_t> {
 protected:
  size_t n() const { return GetParam(); }
  bool small() const { return n() <= SmallEnough; }
};

TEST_P(Elementwise, Binary) {
  for (const Binary& k : Binaries) {
    const std::vector<float> a = Wild(n(), k.lo, k.hi, 1), b = Wild(n(), k.lo, k.hi, 2);
    Call call(KernelNamed(k.name));
    call.In(a).In(b).Out<float>(n()).N(n());
    ASSERT_TRUE(call.RunEverywhere(small())) << k.name;
    ExpectAllClose(
        call.Get<float>(2), [&](size_t i) { return k.exact(a[i], b[i]); }, k.ulps, 0, k.name);
    // In place: the output is the first operand, then both.
    for (const bool both : {false, true}) {
      Call same(KernelNamed(k.name));
      same.InOut(a);
      both ? same.Same(0) : same.In(b);
      same.Same(0).N(n());
      ASSERT_TRUE(same.RunEverywhere(n() == 257)) << k.name;
      ExpectAllClose(
          same.Get<float>(2), [&](size_t i) { return k.exact(a[i], both ? a[i] : b[i]); }, k.ulps,
          0, k.name);
    }
  }
}

TEST_P(Elementwise, Unary) {
  for (const Unary& k : Unaries) {
    const std::vector<float> x = Wild(n(), k.lo, k.hi);
    Call call(KernelNamed(k.name));
    call.In(x).Out<float>(n()).N(n());
    ASSERT_TRUE(call.RunEverywhere(small())) << k.name;
    ExpectAllClose(call.Get<float>(1), [&](size_t i) { return k.exact(x[i]); }, k.ulps, 0, k.name);
    Call same(KernelNamed(k.name));
    ASSERT_TRUE(same.InOut(x).Same(0).N(n()).RunEverywhere(n() == 257)) << k.name;
    EXPECT_EQ(same.after()[1], call.after()[1]) << k.name << " in place";
  }
}

TEST_P(Elementwise, WithScalars) {
  const std::vector<float> x = Wild(n(), -3, 3);
  const auto check = [&](const char* name, std::vector<float> scalars,
                         const std::function<double(double)>& exact) {
    Call call(KernelNamed(name));
    call.In(x).Out<float>(n()).N(n());
    for (const float s : scalars) call.Scalar(s);
    ASSERT_TRUE(call.RunEverywhere(small())) << name;
    ExpectAllClose(call.Get<float>(1), [&](size_t i) { return exact(x[i]); }, 0, 0, name);
  };
  check("scalar_mul", {1.5f}, [](double v) { return 1.5 * v; });
  check("scalar_add", {0.1f}, [](double v) { return v + static_cast<double>(0.1f); });
  check("leakyrelu", {0.25f}, [](double v) { return v < 0 ? 0.25 * v : v; });
  check("clip", {-1, 2}, [](double v) { return v < -1 ? -1 : v > 2 ? 2 : v; });

  const std::vector<float> most = {2.5f};
  Call shifted(KernelNamed("softmax_exp"));
  ASSERT_TRUE(shifted.In(x).In(most).Out<float>(n()).N(n()).RunEverywhere(small()));
  ExpectAllClose(
      shifted.Get<float>(2), [&](size_t i) { return std::exp(static_cast<double>(x[i] - 2.5f)); },
      1, 0, "softmax_exp");
}

TEST_P(Elementwise, Making) {
  Call fill(KernelNamed("constant_fill"));
  ASSERT_TRUE(fill.Out<float>(n()).Scalar(-0.0f).N(n()).RunEverywhere(small()));
  ExpectAllClose(fill.Get<float>(0), [](size_t) { return -0.0; }, 0, 0, "constant_fill");
  Call range(KernelNamed("range_op"));
  ASSERT_TRUE(range.Out<float>(n()).Scalar(2.0f).Scalar(0.5f).N(n()).RunEverywhere(small()));
  ExpectAllClose(
      range.Get<float>(0), [](size_t i) { return 2 + 0.5 * static_cast<double>(i); }, 0, 0,
      "range_op");

  std::vector<uint32_t> indices(n());
  std::mt19937 random(3);
  for (uint32_t& index : indices) index = random() % 1000;
  const std::vector<float> table = Uniform(1000, -1, 1);
  Call gather(KernelNamed("gather"));
  ASSERT_TRUE(gather.In(table).In(indices).Out<float>(n()).N(n()).RunEverywhere(small()));
  ExpectAllClose(gather.Get<float>(2), [&](size_t i) { return table[indices[i]]; }, 0, 0, "gather");
  Call shape(KernelNamed("shape_to_tensor"));
  ASSERT_TRUE(shape.In(indices).Out<uint32_t>(n()).N(n()).RunEverywhere(small()));
  EXPECT_EQ(shape.Get<uint32_t>(1), indices);

  const std::vector<float> x = Wild(n() + 20, -1, 1);
  Call slice(KernelNamed("slice_1d"));
  ASSERT_TRUE(slice.In(x).Out<float>(n()).N(13).N(13 + n()).RunEverywhere(small()));
  ExpectAllClose(slice.Get<float>(1), [&](size_t i) { return x[13 + i]; }, 0, 0, "slice_1d");
}

// Beyond the guard nothing is touched, whatever the buffers could hold.
TEST_P(Elementwise, TheGuardIsKept) {
  const size_t length = n() + 3;
  const std::vector<float> a = Uniform(length, -1, 1), before(length, 7);
  Call call(KernelNamed("vector_add"));
  ASSERT_TRUE(call.In(a).In(a).InOut(before).N(n()).RunEverywhere(small()));
  const std::vector<float> c = call.Get<float>(2);
  for (size_t i = n(); i < length; ++i) EXPECT_EQ(c[i], 7);
  EXPECT_EQ(c[n() - 1], a[n() - 1] + a[n() - 1]);
}

TEST_P(Elementwise, Reductions) {
  const std::vector<float> a = Uniform(n(), -1, 1, 1), b = Uniform(n(), -1, 1, 2);
  double sum = 0, dot = 0, least = a[0], greatest = a[0], error = 0;
  for (size_t i = 0; i < n(); ++i) {
    sum += a[i];
    dot += static_cast<double>(a[i]) * b[i];
    error += std::pow(static_cast<double>(a[i]) - b[i], 2);
    least = std::min<double>(least, a[i]);
    greatest = std::max<double>(greatest, a[i]);
  }
  const double slack =
      1e-7 * std::sqrt(static_cast<double>(n())) * 4 + 1e-6 * std::sqrt(static_cast<double>(n()));
  const std::vector<float> start = {2.5f};
  Call total(KernelNamed("vector_sum"));
  ASSERT_TRUE(total.In(a).InOut(start).N(n()).RunEverywhere(small()));
  EXPECT_NEAR(total.Get<float>(1)[0], 2.5 + sum, slack);
  Call product(KernelNamed("vector_dot"));
  ASSERT_TRUE(product.In(a).In(b).InOut(start).N(n()).RunEverywhere(small()));
  EXPECT_NEAR(product.Get<float>(2)[0], 2.5 + dot, slack);
  Call squared(KernelNamed("squared_error"));
  ASSERT_TRUE(squared.In(a).In(b).InOut(start).N(n()).RunEverywhere(small()));
  EXPECT_NEAR(squared.Get<float>(2)[0], 2.5 + error, slack + 1e-6 * error);
  Call low(KernelNamed("vector_min_value"));
  ASSERT_TRUE(low.In(a).InOut(start).N(n()).RunEverywhere(small()));
  EXPECT_EQ(low.Get<float>(1)[0], static_cast<float>(least));
  Call high(KernelNamed("vector_max_value"));
  ASSERT_TRUE(high.In(a).InOut(std::vector<float>{-5}).N(n()).RunEverywhere(small()));
  EXPECT_EQ(high.Get<float>(1)[0], static_cast<float>(greatest));

  std::vector<float> x = Wild(n(), -1, 1, 5);
  uint32_t at = 0;
  float best = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < n(); ++i)
    if (x[i] > best) best = x[i], at = static_cast<uint32_t>(i);
  Call argmax(KernelNamed("argmax"));
  ASSERT_TRUE(argmax.In(x).Out<uint32_t>(1).N(n()).RunEverywhere(small()));
  EXPECT_EQ(argmax.Get<uint32_t>(1)[0], at);
}

TEST_P(Elementwise, Losses) {
  const std::vector<float> p = Uniform(n(), 0.001f, 0.999f, 1);
  std::vector<float> t = Uniform(n(), 0, 1, 2);
  for (size_t i = 0; i < n(); i += 3) t[i] = static_cast<float>(i % 2);
  double cross = 0, binary = 0;
  for (size_t i = 0; i < n(); ++i) {
    if (t[i] != 0) cross -= t[i] * std::log(static_cast<double>(p[i]));
    if (t[i] != 0) binary -= t[i] * std::log(static_cast<double>(p[i]));
    if (t[i] != 1)
      binary -= (1 - static_cast<double>(t[i])) * std::log1p(-static_cast<double>(p[i]));
  }
  const std::vector<float> zero = {0};
  Call first(KernelNamed("cross_entropy"));
  ASSERT_TRUE(first.In(p).In(t).InOut(zero).N(n()).RunEverywhere(small()));
  EXPECT_NEAR(first.Get<float>(2)[0], cross, 2e-6 * cross + 1e-6);
  Call second(KernelNamed("binary_cross_entropy"));
  ASSERT_TRUE(second.In(p).In(t).InOut(zero).N(n()).RunEverywhere(small()));
  EXPECT_NEAR(second.Get<float>(2)[0], binary, 2e-6 * binary + 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Lengths, Elementwise, testing::ValuesIn(Lengths));

float One(const char* kernel, float x) {
  Call call(KernelNamed(kernel));
  EXPECT_TRUE(call.In(std::vector<float>{x}).Out<float>(1).N(1).RunEverywhere());
  return call.Get<float>(1)[0];
}

TEST(Elementwise, KnownValues) {
  EXPECT_EQ(One("relu", -1), 0);
  EXPECT_EQ(One("relu", 3), 3);
  EXPECT_NEAR(One("tanh_activation", 1), 0.76159416, 1e-7);
  EXPECT_NEAR(One("sigmoid", -100), 3.7e-44, 1e-45);
  EXPECT_EQ(One("sigmoid", 0), 0.5f);
  EXPECT_NEAR(One("gelu", 1), 0.84134475, 1e-7);
  EXPECT_TRUE(std::isnan(One("relu", std::nanf(""))));
}

// NaNs are passed over wherever they stand; infinities are elements like others.
TEST(Elementwise, ReductionsPassOverNans) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  struct Case {
    std::vector<float> x;
    uint32_t argmax;
    float greatest, least;
  };
  std::vector<float> long_tail(300, nan);
  long_tail[299] = -inf;
  const Case cases[] = {
      {{nan, -inf}, 1, -inf, -inf},       {{nan, inf}, 1, inf, inf},
      {{-inf, nan}, 0, -inf, -inf},       {{nan, nan, -inf, -inf}, 2, -inf, -inf},
      {{-inf, -inf, 1, nan}, 2, 1, -inf}, {{nan, 3, nan, 5, nan, 5}, 3, 5, 3},
      {{inf, nan, inf}, 0, inf, inf},     {{nan}, 0, -inf, inf},
      {{nan, nan, nan}, 0, -inf, inf},    {{}, 0, -inf, inf},
      {long_tail, 299, -inf, -inf},
  };
  for (const Case& test : cases) {
    const std::string text = testing::PrintToString(test.x);
    Call at(KernelNamed("argmax"));
    ASSERT_TRUE(at.In(test.x).Out<uint32_t>(1).N(test.x.size()).RunEverywhere());
    EXPECT_EQ(at.Get<uint32_t>(1)[0], test.argmax) << text;
    Call high(KernelNamed("vector_max_value"));
    const std::vector<float> lowest = {-inf}, highest = {inf};
    ASSERT_TRUE(high.In(test.x).InOut(lowest).N(test.x.size()).RunEverywhere());
    EXPECT_EQ(high.Get<float>(1)[0], test.greatest) << text;
    Call low(KernelNamed("vector_min_value"));
    ASSERT_TRUE(low.In(test.x).InOut(highest).N(test.x.size()).RunEverywhere());
    EXPECT_EQ(low.Get<float>(1)[0], test.least) << text;
  }
  // A window of a pool is such a reduction too.
  for (const std::vector<float>& window :
       {std::vector<float>{nan, -inf, nan, -inf}, std::vector<float>{nan, 2, nan, -inf}}) {
    Call pool(KernelNamed("maxpool"));
    pool.In(window).Out<float>(1).N(1).N(1).N(2).N(2).N(2).N(1).N(0);
    ASSERT_TRUE(pool.RunEverywhere());
    EXPECT_EQ(pool.Get<float>(1)[0], window[1]);
  }
}

TEST(Elementwise, AMillionOnesAreAMillion) {
  Call call(KernelNamed("vector_sum"));
  ASSERT_TRUE(call.In(std::vector<float>(1'000'000, 1))
                  .InOut(std::vector<float>{0})
                  .N(1'000'000)
                  .RunEverywhere(false));
  EXPECT_EQ(call.Get<float>(1)[0], 1'000'000);
}

TEST(Elementwise, NothingIsDoneForNothing) {
  Call call(KernelNamed("vector_add"));
  EXPECT_TRUE(
      call.In(std::vector<float>{}).In(std::vector<float>{}).Out<float>(0).N(0).RunEverywhere());
  Call sum(KernelNamed("vector_sum"));
  ASSERT_TRUE(sum.In(std::vector<float>{}).InOut(std::vector<float>{3}).N(0).RunEverywhere());
  EXPECT_EQ(sum.Get<float>(1)[0], 3);
  Call slice(KernelNamed("slice_1d"));
  EXPECT_TRUE(slice.In(std::vector<float>{1, 2}).Out<float>(1).N(2).N(1).RunEverywhere());
}

TEST(Elementwise, OutsideOfABufferIsATrap) {
  for (const Engine engine : {Engine::Interpreter, Engine::Tile, Engine::Native}) {
    Call gather(KernelNamed("gather"));
    gather.In(std::vector<float>{1, 2}).In(std::vector<uint32_t>{0, 1, 2, 0}).Out<float>(4).N(4);
    EXPECT_NE(gather.Trap(engine).find("out of bounds"), std::string::npos) << EngineName(engine);
    Call add(KernelNamed("vector_add"));
    add.In(std::vector<float>(300)).In(std::vector<float>(299)).Out<float>(300).N(300);
    EXPECT_NE(add.Trap(engine).find("out of bounds"), std::string::npos) << EngineName(engine);
  }
}

}  // namespace
}  // namespace frazil::kernels_test
