#include "runtime/ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "runtime/executor.h"
#include "runtime/standard.h"

namespace frazil::runtime {
namespace {

using Floats = std::vector<float>;

std::string Refusal(const Result<void>& result) {
  return result ? "accepted" : result.error().message;
}

// Plain memory, and buffers of each backend, through the same calls.
class Ops : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "plain") return;
    ExecutorOptions options;
    options.backend = GetParam();
    options.compile = false;
    executor_ = std::move(*Executor::Create(options));
  }
  // The op on memory of this backend; gives what it wrote.
  template <typename Op>
  Floats Unary(const Op& op, const Floats& x) {
    if (executor_ == nullptr) {
      Floats y(x.size());
      EXPECT_EQ(Refusal(op(x, y)), "accepted");
      return y;
    }
    auto in = *executor_->Allocate<float>(static_cast<int64_t>(x.size()));
    auto out = *executor_->Allocate<float>(static_cast<int64_t>(x.size()));
    EXPECT_TRUE(in.CopyFrom(x));
    EXPECT_EQ(Refusal(op(in, out)), "accepted");
    return out.ToVector();
  }
  template <typename Op>
  Floats Binary(const Op& op, const Floats& a, const Floats& b) {
    return Unary(
        [&](ops::In x, ops::Out y) -> Result<void> {
          if (executor_ == nullptr) return op(x, ops::In(b), y);
          auto other = *executor_->Allocate<float>(static_cast<int64_t>(b.size()));
          TRY_VOID(other.CopyFrom(b));
          return op(x, ops::In(other), y);
        },
        a);
  }
  std::unique_ptr<Executor> executor_;
};

TEST_P(Ops, Elementwise) {
  using namespace ops;
  const Floats a = {1, -2, 3, 0.5f}, b = {4, 5, -6, 2};
  EXPECT_EQ(Binary(math::vector_add, a, b), (Floats{5, 3, -3, 2.5f}));
  EXPECT_EQ(Binary(math::vector_sub, a, b), (Floats{-3, -7, 9, -1.5f}));
  EXPECT_EQ(Binary(math::vector_mul, a, b), (Floats{4, -10, -18, 1}));
  EXPECT_EQ(Binary(math::vector_div, a, b), (Floats{0.25f, -0.4f, -0.5f, 0.25f}));
  EXPECT_EQ(Binary([](In x, In y, Out z) { return math::min(x, y, z); }, a, b),
            (Floats{1, -2, -6, 0.5f}));
  EXPECT_EQ(Binary([](In x, In y, Out z) { return math::max(x, y, z); }, a, b),
            (Floats{4, 5, 3, 2}));
  EXPECT_EQ(Unary(math::abs, a), (Floats{1, 2, 3, 0.5f}));
  EXPECT_EQ(Unary(math::neg, a), (Floats{-1, 2, -3, -0.5f}));
  EXPECT_EQ(Unary(math::relu, a), (Floats{1, 0, 3, 0.5f}));
  EXPECT_EQ(Unary([](In x, Out y) { return math::clip(x, y, -1, 1); }, a),
            (Floats{1, -1, 1, 0.5f}));
  EXPECT_EQ(Unary([](In x, Out y) { return math::scalar_add(x, y, 2); }, a),
            (Floats{3, 0, 5, 2.5f}));
  EXPECT_EQ(Unary([](In x, Out y) { return math::scalar_mul(x, y, 2); }, a), (Floats{2, -4, 6, 1}));
  EXPECT_EQ(Unary(memory::copy, a), a);
  EXPECT_EQ(Unary([](In, Out y) { return memory::fill(y, 7); }, a), Floats(4, 7));
}

TEST_P(Ops, Activations) {
  using namespace ops;
  const Floats x = {-2, -1, 0, 1, 2, 3};
  const Floats s = Unary(activation::sigmoid, x), t = Unary(activation::tanh, x),
               g = Unary(activation::gelu, x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(s[i], 1 / (1 + std::exp(-x[i])), 1e-6);
    EXPECT_NEAR(t[i], std::tanh(x[i]), 1e-6);
    EXPECT_NEAR(g[i], 0.5 * x[i] * (1 + std::erf(x[i] / std::sqrt(2.0))), 1e-6);
  }
  const Floats rows = Unary([](In a, Out b) { return activation::softmax(a, b, 3); }, x);
  EXPECT_NEAR(rows[0] + rows[1] + rows[2], 1, 1e-6);
  EXPECT_NEAR(rows[5], std::exp(3.0) / (std::exp(1.0) + std::exp(2.0) + std::exp(3.0)), 1e-6);
  const Floats one = Unary([](In a, Out b) { return activation::softmax(a, b); }, x);
  EXPECT_NEAR(std::accumulate(one.begin(), one.end(), 0.0f), 1, 1e-6);
}

TEST_P(Ops, Reductions) {
  using namespace ops;
  Floats x(1'000'000, 1);
  const auto fold = [&](auto op) {
    float answer = 0;
    Unary(
        [&](In a, Out) -> Result<void> {
          answer = TRY(op(a));
          return {};
        },
        x);
    return answer;
  };
  EXPECT_EQ(fold([](In a) { return reduce::sum(a); }), 1'000'000);
  x[5] = -3, x[999'999] = 4;
  EXPECT_EQ(fold([](In a) { return reduce::min(a); }), -3);
  EXPECT_EQ(fold([](In a) { return reduce::max(a); }), 4);
  EXPECT_EQ(Unary([](In a, Out y) { return reduce::sum(a, y); }, x)[0], 999'999);
}

TEST_P(Ops, Losses) {
  using namespace ops;
  const Floats p = {0.9f, 0.1f, 0.2f, 0.8f}, t = {1, 0, 0, 1};
  const auto loss = [&](auto op) {
    float answer = 0;
    Binary(
        [&](In a, In b, Out) -> Result<void> {
          answer = TRY(op(a, b));
          return {};
        },
        p, t);
    return answer;
  };
  EXPECT_NEAR(loss(loss::mse), (0.01 + 0.01 + 0.04 + 0.04) / 4, 1e-6);
  EXPECT_NEAR(loss([](In a, In b) { return loss::cross_entropy(a, b, 2); }),
              -(std::log(0.9) + std::log(0.8)) / 2, 1e-6);
  EXPECT_NEAR(loss(loss::binary_cross_entropy), -(2 * std::log(0.9) + 2 * std::log(0.8)) / 4, 1e-6);
}

TEST_P(Ops, Matrices) {
  using namespace ops;
  const Floats a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  EXPECT_EQ(Binary([](In x, In y, Out z) { return linalg::gemm(x, y, z, 2, 2, 2); }, a, b),
            (Floats{19, 22, 43, 50}));
  linalg::GemmOptions options;
  options.transpose_a = true;
  options.alpha = 2;
  EXPECT_EQ(
      Binary([&](In x, In y, Out z) { return linalg::gemm(x, y, z, 2, 2, 2, options); }, a, b),
      (Floats{52, 60, 76, 88}));
  options = {};
  options.transpose_b = true;
  options.beta = 3;
  EXPECT_EQ(Binary(
                [&](In x, In y, Out z) -> Result<void> {
                  TRY_VOID(memory::fill(z, 10));
                  return linalg::gemm(x, y, z, 2, 2, 2, options);
                },
                a, b),
            (Floats{47, 53, 69, 83}));
  EXPECT_EQ(Binary([](In x, In y, Out z) { return linalg::matvec(x, y, z, 2, 2); }, a, b),
            (Floats{17, 39, 0, 0}));
}

// Every op with every type that it has, on memory of this backend, against plain C++.
template <typename T>
class Typed {
 public:
  Typed(Executor* executor, std::vector<T> contents) : plain_(std::move(contents)) {
    if (executor == nullptr) return;
    buffer_ = *executor->Allocate<T>(static_cast<int64_t>(plain_.size()));
    EXPECT_TRUE(buffer_.CopyFrom(plain_));
  }
  View<T> view() { return buffer_.storage() ? View<T>(buffer_) : View<T>(plain_); }
  View<const T> read() { return view(); }
  std::vector<T> contents() { return {view().data(), view().data() + view().size()}; }

 private:
  std::vector<T> plain_;
  Buffer<T> buffer_;
};

template <typename T>
std::vector<T> Samples() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> samples = {
      T(0), T(1), T(2), T(3), T(5), T(7), T(11), Limits::max(), Limits::lowest()};
  for (int i = 1; i < 90; ++i)
    samples.push_back(static_cast<T>(static_cast<T>(i * 37) - static_cast<T>(1000)));
  return samples;
}

// As the ops compute: integers wrap.
template <typename T, typename Op>
T Wrapped(T a, T b, Op op) {
  if constexpr (std::is_floating_point_v<T>)
    return op(a, b);
  else
    return static_cast<T>(op(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

template <typename T>
void CheckArithmetic(Executor* executor) {
  using namespace ops;
  const std::vector<T> a = Samples<T>();
  std::vector<T> b(a.rbegin(), a.rend());
  Typed<T> x(executor, a), y(executor, b), z(executor, std::vector<T>(a.size()));
  const auto expect = [&](const Result<void>& done, auto of) {
    ASSERT_EQ(Refusal(done), "accepted");
    for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(z.contents()[i], of(a[i], b[i])) << i;
  };
  const auto add = [](auto p, auto q) { return p + q; };
  const auto sub = [](auto p, auto q) { return p - q; };
  const auto mul = [](auto p, auto q) { return p * q; };
  expect(math::vector_add(x.read(), y.read(), z.view()),
         [&](T p, T q) { return Wrapped(p, q, add); });
  expect(math::vector_sub(x.read(), y.read(), z.view()),
         [&](T p, T q) { return Wrapped(p, q, sub); });
  expect(math::vector_mul(x.read(), y.read(), z.view()),
         [&](T p, T q) { return Wrapped(p, q, mul); });
  expect(math::min(x.read(), y.read(), z.view()), [](T p, T q) { return std::min(p, q); });
  expect(math::max(x.read(), y.read(), z.view()), [](T p, T q) { return std::max(p, q); });
  expect(math::neg(x.read(), z.view()), [&](T p, T) { return Wrapped(T(0), p, sub); });
  expect(math::scalar_add(x.read(), z.view(), T(7)), [&](T p, T) { return Wrapped(p, T(7), add); });
  expect(math::scalar_mul(x.read(), z.view(), static_cast<T>(-3)),
         [&](T p, T) { return Wrapped(p, static_cast<T>(-3), mul); });
  if constexpr (!std::is_floating_point_v<T>) {
    T sum = 0;
    for (const T value : a) sum = Wrapped(sum, value, add);
    EXPECT_EQ(*reduce::sum(x.read()), sum);
  } else {
    EXPECT_EQ(*reduce::sum(View<const T>(std::span(b).first(0))), T(0));
  }
}

template <typename T>
void CheckSigned(Executor* executor) {
  using namespace ops;
  const std::vector<T> a = Samples<T>();
  Typed<T> x(executor, a), z(executor, std::vector<T>(a.size()));
  const auto expect = [&](const Result<void>& done, auto of) {
    ASSERT_EQ(Refusal(done), "accepted");
    for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(z.contents()[i], of(a[i])) << i;
  };
  expect(math::abs(x.read(), z.view()),
         [](T p) { return p < 0 ? Wrapped(T(0), p, [](auto q, auto r) { return q - r; }) : p; });
  expect(math::relu(x.read(), z.view()), [](T p) { return p < 0 ? T(0) : p; });
  expect(activation::relu(x.read(), z.view()), [](T p) { return p < 0 ? T(0) : p; });
  expect(math::clip(x.read(), z.view(), T(-5), T(9)),
         [](T p) { return std::clamp(p, T(-5), T(9)); });
  EXPECT_FALSE(math::clip(x.read(), z.view(), T(9), T(-5)));
  EXPECT_EQ(*reduce::min(x.read()), std::ranges::min(a));
  EXPECT_EQ(*reduce::max(x.read()), std::ranges::max(a));
  ASSERT_TRUE(reduce::max(x.read(), z.view()));
  EXPECT_EQ(z.contents()[0], std::ranges::max(a));
}

template <typename T>
void CheckMemory(Executor* executor, std::vector<T> a, T value) {
  Typed<T> x(executor, a), z(executor, std::vector<T>(a.size()));
  ASSERT_EQ(Refusal(ops::memory::copy(x.read(), z.view())), "accepted");
  EXPECT_EQ(std::memcmp(z.contents().data(), a.data(), a.size() * sizeof(T)), 0);
  ASSERT_EQ(Refusal(ops::memory::fill(z.view(), value)), "accepted");
  for (const T& each : z.contents()) EXPECT_EQ(std::memcmp(&each, &value, sizeof(T)), 0);
}

TEST_P(Ops, EveryType) {
  Executor* const on = executor_.get();
  CheckArithmetic<float>(on), CheckArithmetic<double>(on);
  CheckArithmetic<int32_t>(on), CheckArithmetic<int64_t>(on);
  CheckArithmetic<uint32_t>(on), CheckArithmetic<uint64_t>(on);
  CheckSigned<float>(on), CheckSigned<double>(on), CheckSigned<int32_t>(on),
      CheckSigned<int64_t>(on);
  CheckMemory<int8_t>(on, {-1, 2, 3}, -7), CheckMemory<uint8_t>(on, {255, 2}, 200);
  CheckMemory<int16_t>(on, {-1, 2}, -300), CheckMemory<uint16_t>(on, {65535, 2}, 60000);
  CheckMemory<int32_t>(on, {-1, 2}, -7), CheckMemory<uint32_t>(on, {~0u, 2}, ~0u);
  CheckMemory<int64_t>(on, {-1, 2}, -7), CheckMemory<uint64_t>(on, {~uint64_t{0}, 2}, 7);
  CheckMemory<double>(on, {-1.5, 2}, std::nan("1")), CheckMemory<F16>(on, {{1}, {2}}, {0x7fff});
  CheckMemory<BF16>(on, {{1}, {2}}, {3});
  Typed<double> x(on, {-2, 0, 1, 3}), d(on, {4, 4, 4, 4}), y(on, {0, 0, 0, 0});
  ASSERT_TRUE(ops::math::vector_div(x.read(), d.read(), y.view()));
  EXPECT_EQ(y.contents(), (std::vector<double>{-0.5, 0, 0.25, 0.75}));
  ASSERT_TRUE(ops::activation::tanh(x.read(), y.view()));
  EXPECT_NEAR(y.contents()[3], std::tanh(3.0), 1e-14);
  ASSERT_TRUE(ops::activation::sigmoid(x.read(), y.view()));
  EXPECT_NEAR(y.contents()[0], 1 / (1 + std::exp(2.0)), 1e-14);
}

// A call with a type that an op does not have says so when it is compiled; here the list that it asks.
TEST(OpsChecks, WhatAnOpHas) {
  using internal::HasKernel;
  using internal::OpId;
  EXPECT_TRUE(HasKernel(OpId::math_vector_add, KindOf<double>()));
  EXPECT_TRUE(HasKernel(OpId::math_vector_add, KindOf<unsigned long long>()));
  EXPECT_FALSE(HasKernel(OpId::math_vector_add, KindOf<int8_t>()));
  EXPECT_FALSE(HasKernel(OpId::math_vector_div, KindOf<int32_t>()));
  EXPECT_FALSE(HasKernel(OpId::math_abs, KindOf<uint32_t>()));
  EXPECT_FALSE(HasKernel(OpId::activation_tanh, KindOf<int64_t>()));
  EXPECT_FALSE(HasKernel(OpId::activation_gelu, KindOf<double>()));
  EXPECT_TRUE(HasKernel(OpId::memory_copy, KindOf<bool>()));
}

INSTANTIATE_TEST_SUITE_P(Backends, Ops, testing::Values("plain", "cpu", "isa", "interp"));

TEST(OpsChecks, WrongLaunchesAreRefusedBeforeAnythingIsWritten) {
  using namespace ops;
  Floats a(10, 1), b(9, 1), c(10, 5);
  EXPECT_EQ(Refusal(math::vector_add(a, b, c)), "10 elements are given beside 9");
  EXPECT_EQ(c, Floats(10, 5));
  Floats d(20, 1);
  const std::span<float> all(d);
  EXPECT_NE(Refusal(math::neg(all.first(10), all.subspan(5, 10))), "accepted") << "partial overlap";
  EXPECT_EQ(d, Floats(20, 1));
  EXPECT_EQ(Refusal(math::neg(all, all)), "accepted") << "in place";
  EXPECT_NE(Refusal(math::neg(std::span<const float>(static_cast<float*>(nullptr), 10), c)),
            "accepted");
  EXPECT_EQ(Refusal(math::vector_add(Floats(), Floats(), all.first(0))), "accepted");
  EXPECT_FALSE(math::clip(a, c, 2, 1));
  EXPECT_FALSE(math::clip(a, c, std::nanf(""), 1));
  EXPECT_FALSE(activation::softmax(a, c, 3));
  EXPECT_FALSE(reduce::min(Floats()));
  EXPECT_EQ(*reduce::sum(Floats()), 0);
  EXPECT_FALSE(loss::mse(a, b));
  EXPECT_FALSE(loss::mse(Floats(), Floats()));
  EXPECT_FALSE(linalg::gemm(a, b, c, 4, 4, 4));
  EXPECT_FALSE(linalg::gemm(a, b, c, size_t{1} << 40, size_t{1} << 40, 0))
      << "sizes whose product wraps";
  EXPECT_FALSE(reduce::sum(a, all.first(0)));
}

TEST(OpsChecks, BackendsDoNotMix) {
  ExecutorOptions options;
  options.backend = "isa";
  auto executor = *Executor::Create(options);
  auto x = *executor->Allocate<float>(4);
  Floats y(4);
  EXPECT_EQ(Refusal(ops::math::neg(x, y)), "vector_neg: its buffers belong to several backends");
}

TEST(OpsChecks, EveryStandardKernelHasItsProgram) {
  const embed::ModuleData& all = internal::StandardKernels();
  EXPECT_GE(all.size, 120u);
  for (size_t i = 0; i < all.size; ++i) {
    const auto program = internal::StandardSource(all[i]);
    EXPECT_TRUE(program) << all[i].name.get() << ": "
                         << (program ? "" : program.error().ToString());
    EXPECT_NE(all[i].plain_entry(embed::CpuLevel::Baseline), nullptr) << all[i].name.get();
  }
}

}  // namespace
}  // namespace frazil::runtime
