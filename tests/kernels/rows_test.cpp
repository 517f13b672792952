// Rows, planes, matrices and images against loops in double precision.
#include "kernels/call.h"
#include "kernels/expect.h"

namespace frazil::kernels_test {
namespace {

struct Extent {
  size_t rows, columns;
};
const Extent RowShapes[] = {{1, 1},  {3, 7},    {5, 255}, {2, 257},
                            {7, 64}, {1, 3073}, {64, 17}, {1003, 33}};
constexpr size_t Interpreted = 4000;  // elements

class Rows : public testing::TestWithParam<Extent> {
 protected:
  size_t rows() const { return GetParam().rows; }
  size_t columns() const { return GetParam().columns; }
  size_t size() const { return rows() * columns(); }
  bool small() const { return size() <= Interpreted; }
};

TEST_P(Rows, Softmax) {
  const std::vector<float> x = Uniform(size(), -20, 20);
  Call call(KernelNamed("softmax"));
  ASSERT_TRUE(call.In(x).Out<float>(size()).N(rows()).N(columns()).RunEverywhere(small()));
  const std::vector<float> y = call.Get<float>(1);
  for (size_t r = 0; r < rows(); ++r) {
    double most = -1e300, total = 0, sum = 0;
    for (size_t j = 0; j < columns(); ++j) most = std::max<double>(most, x[r * columns() + j]);
    for (size_t j = 0; j < columns(); ++j) total += std::exp(x[r * columns() + j] - most);
    for (size_t j = 0; j < columns(); ++j) {
      const double want = std::exp(x[r * columns() + j] - most) / total;
      ASSERT_NEAR(y[r * columns() + j], want, 3e-6 * want + 1e-12) << r << ", " << j;
      sum += y[r * columns() + j];
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  Call same(KernelNamed("softmax"));
  ASSERT_TRUE(same.InOut(x).Same(0).N(rows()).N(columns()).RunEverywhere(false));
  EXPECT_EQ(same.after()[1], call.after()[1]) << "in place";
}

TEST_P(Rows, LayerNorm) {
  const std::vector<float> x = Uniform(size(), 90, 110), skip = Uniform(size(), -1, 1, 2);
  const std::vector<float> scale = Uniform(columns(), -2, 2, 3),
                           bias = Uniform(columns(), -2, 2, 4);
  Call plain(KernelNamed("layer_norm"));
  plain.In(x).In(scale).In(bias).Out<float>(size()).N(rows()).N(columns()).Scalar(1e-3f);
  ASSERT_TRUE(plain.RunEverywhere(small()));
  Call skipped(KernelNamed("skip_layer_norm"));
  skipped.In(x).In(skip).In(scale).In(bias).Out<float>(size()).N(size()).N(columns()).Scalar(1e-3f);
  ASSERT_TRUE(skipped.RunEverywhere(small()));
  for (const bool with_skip : {false, true}) {
    const std::vector<float> y = with_skip ? skipped.Get<float>(4) : plain.Get<float>(3);
    for (size_t r = 0; r < rows(); ++r) {
      const auto at = [&](size_t j) -> double {
        const size_t i = r * columns() + j;
        return with_skip ? x[i] + skip[i] : x[i];
      };
      double mean = 0, variance = 0;
      for (size_t j = 0; j < columns(); ++j) mean += at(j) / static_cast<double>(columns());
      for (size_t j = 0; j < columns(); ++j)
        variance += std::pow(at(j) - mean, 2) / static_cast<double>(columns());
      for (size_t j = 0; j < columns(); ++j)
        ASSERT_NEAR(y[r * columns() + j],
                    (at(j) - mean) / std::sqrt(variance + 1e-3f) * scale[j] + bias[j], 2e-3)
            << r << ", " << j;
    }
  }
}

TEST_P(Rows, Reductions) {
  const std::vector<float> x = Uniform(size(), -1, 1);
  Call sum(KernelNamed("reduce_sum")), mean(KernelNamed("reduce_mean"));
  ASSERT_TRUE(sum.In(x).Out<float>(rows()).N(rows()).N(columns()).RunEverywhere(small()));
  ASSERT_TRUE(mean.In(x).Out<float>(rows()).N(rows()).N(columns()).RunEverywhere(small()));
  for (size_t r = 0; r < rows(); ++r) {
    double total = 0;
    for (size_t j = 0; j < columns(); ++j) total += x[r * columns() + j];
    EXPECT_NEAR(sum.Get<float>(1)[r], total, 1e-4);
    EXPECT_NEAR(mean.Get<float>(1)[r], total / static_cast<double>(columns()), 1e-6);
  }
}

TEST_P(Rows, Moves) {
  const std::vector<float> x = Wild(size(), -1, 1), b = Wild(rows() * 5, -1, 1);
  Call transpose(KernelNamed("transpose"));
  ASSERT_TRUE(transpose.In(x).Out<float>(size()).N(rows()).N(columns()).RunEverywhere(small()));
  ExpectAllClose(
      transpose.Get<float>(1), [&](size_t i) { return x[i % rows() * columns() + i / rows()]; }, 0,
      0, "transpose");
  Call concat(KernelNamed("concat"));
  const size_t width = columns() + 5;
  ASSERT_TRUE(concat.In(x)
                  .In(b)
                  .Out<float>(rows() * width)
                  .N(rows())
                  .N(columns())
                  .N(5)
                  .RunEverywhere(small()));
  ExpectAllClose(
      concat.Get<float>(2),
      [&](size_t i) {
        const size_t r = i / width, j = i % width;
        return j < columns() ? x[r * columns() + j] : b[r * 5 + j - columns()];
      },
      0, 0, "concat");
}

TEST_P(Rows, Gemv) {
  const size_t lda = columns() + 3;
  const std::vector<float> a = Uniform(rows() * lda, -1, 1), x = Uniform(columns(), -1, 1, 2);
  Call call(KernelNamed("gemv_f32"));
  ASSERT_TRUE(
      call.In(a).In(x).Out<float>(rows()).N(rows()).N(columns()).N(lda).RunEverywhere(small()));
  ExpectAllClose(
      call.Get<float>(2),
      [&](size_t r) {
        double total = 0;
        for (size_t j = 0; j < columns(); ++j) total += static_cast<double>(a[r * lda + j]) * x[j];
        return total;
      },
      0, 1e-4, "gemv_f32");
}

INSTANTIATE_TEST_SUITE_P(Shapes, Rows, testing::ValuesIn(RowShapes));

struct Product {
  size_t m, n, k;
};
const Product Products[] = {{1, 1, 1},    {3, 5, 7},    {8, 16, 9},
                            {17, 33, 65}, {64, 64, 64}, {129, 70, 257}};

class Matrices : public testing::TestWithParam<Product> {};

TEST_P(Matrices, Products) {
  const auto [m, n, k] = GetParam();
  const bool small = m * n * k <= 20'000;
  const std::vector<float> a = Uniform(m * k, -1, 1), b = Uniform(k * n, -1, 1, 2);
  const auto exact = [&, n = n, k = k](size_t i) {
    double total = 0;
    for (size_t p = 0; p < k; ++p)
      total += static_cast<double>(a[i / n * k + p]) * b[p * n + i % n];
    return total;
  };
  Call matmul(KernelNamed("matmul"));
  ASSERT_TRUE(matmul.In(a).In(b).Out<float>(m * n).N(m).N(n).N(k).RunEverywhere(small));
  ExpectAllClose(matmul.Get<float>(2), exact, 0, 1e-6 * static_cast<double>(k), "matmul");

  // With rows further apart than they are long; what lies between is kept.
  const size_t lda = k + 1, ldb = n + 2, ldc = n + 3;
  std::vector<float> wide_a(m * lda, 1e30f), wide_b(k * ldb, 1e30f);
  for (size_t i = 0; i < m * k; ++i) wide_a[i / k * lda + i % k] = a[i];
  for (size_t i = 0; i < k * n; ++i) wide_b[i / n * ldb + i % n] = b[i];
  Call gemm(KernelNamed("gemm_f32"));
  gemm.In(wide_a)
      .In(wide_b)
      .InOut(std::vector<float>(m * ldc, 5))
      .N(m)
      .N(n)
      .N(k)
      .N(lda)
      .N(ldb)
      .N(ldc);
  ASSERT_TRUE(gemm.RunEverywhere(small));
  const std::vector<float> c = gemm.Get<float>(2);
  for (size_t i = 0; i < m * ldc; ++i) {
    const size_t r = i / ldc, j = i % ldc;
    ASSERT_EQ(c[i], j < n ? matmul.Get<float>(2)[r * n + j] : 5)
        << "the same chain, whatever the strides";
  }
}

TEST_P(Matrices, Gemm) {
  const auto [m, n, k] = GetParam();
  const bool small = m * n * k <= 5'000;
  const std::vector<float> a = Uniform(m * k, -1, 1), b = Uniform(k * n, -1, 1, 2);
  std::vector<float> c = Uniform(m * n, -1, 1, 3);
  for (const uint32_t trans_a : {0u, 1u}) {
    for (const uint32_t trans_b : {0u, 1u}) {
      for (const float beta : {0.0f, -0.5f}) {
        if (beta == 0)
          c[0] = std::nanf("");
        else
          c[0] = 2;
        Call call(KernelNamed("gemm"));
        call.In(a)
            .In(b)
            .In(c)
            .Out<float>(m * n)
            .N(m)
            .N(n)
            .N(k)
            .Scalar(1.5f)
            .Scalar(beta)
            .Scalar(trans_a)
            .Scalar(trans_b);
        ASSERT_TRUE(call.RunEverywhere(small));
        ExpectAllClose(
            call.Get<float>(3),
            [&, m = m, n = n, k = k](size_t i) {
              const size_t row = i / n, column = i % n;
              double total = 0;
              for (size_t p = 0; p < k; ++p)
                total += static_cast<double>(trans_a ? a[p * m + row] : a[row * k + p]) *
                         (trans_b ? b[column * k + p] : b[p * n + column]);
              return 1.5 * total + (beta == 0 ? 0 : static_cast<double>(beta) * c[i]);
            },
            0, 2e-5, "gemm");
        Call chosen(KernelNamed(trans_b ? "gemm_bt" : "gemm_b"));
        chosen.In(a).In(b).In(c).Out<float>(m * n).N(m).N(n).N(k).Scalar(1.5f).Scalar(beta).Scalar(
            trans_a);
        ASSERT_TRUE(chosen.RunEverywhere(small));
        EXPECT_EQ(chosen.after()[3], call.after()[3]) << "the same bits";
      }
    }
  }
}

TEST_P(Matrices, Attention) {
  const auto [queries, keys, d] = GetParam();
  const size_t d_value = 6;
  const bool small = queries * keys * d <= 5'000;
  const std::vector<float> q = Uniform(queries * d, -1, 1), k = Uniform(keys * d, -1, 1, 2);
  const std::vector<float> v = Uniform(keys * d_value, -1, 1, 3);
  Call call(KernelNamed("attention"));
  call.In(q).In(k).In(v).Out<float>(queries * keys).Out<float>(queries * d_value);
  ASSERT_TRUE(call.N(queries).N(keys).N(d).N(d_value).RunEverywhere(small));
  for (size_t i = 0; i < queries; ++i) {
    std::vector<double> weights(keys);
    double total = 0;
    for (size_t j = 0; j < keys; ++j) {
      double score = 0;
      for (size_t p = 0; p < d; ++p) score += static_cast<double>(q[i * d + p]) * k[j * d + p];
      total += weights[j] = std::exp(score / std::sqrt(static_cast<double>(d)));
    }
    for (size_t p = 0; p < d_value; ++p) {
      double mixed = 0;
      for (size_t j = 0; j < keys; ++j) mixed += weights[j] / total * v[j * d_value + p];
      ASSERT_NEAR(call.Get<float>(4)[i * d_value + p], mixed, 1e-5);
    }
  }
  Call scores(KernelNamed("attention_scores"));
  ASSERT_TRUE(scores.In(q)
                  .In(q)
                  .Out<float>(queries * queries)
                  .N(queries)
                  .N(d)
                  .RunEverywhere(queries * queries * d <= 5'000));
  ExpectAllClose(
      scores.Get<float>(2),
      [&, queries = queries, d = d](size_t i) {
        double score = 0;
        for (size_t p = 0; p < d; ++p)
          score += static_cast<double>(q[i / queries * d + p]) * q[i % queries * d + p];
        return score / std::sqrt(static_cast<double>(d));
      },
      0, 1e-5, "attention_scores");
}

INSTANTIATE_TEST_SUITE_P(Sizes, Matrices, testing::ValuesIn(Products));

struct Planes {
  size_t n, c, h, w;
  size_t size() const { return n * c * h * w; }
};
const Planes PlaneShapes[] = {{1, 1, 1, 1}, {2, 3, 4, 5}, {1, 2, 17, 19}, {3, 4, 33, 40}};

class PlanesTest : public testing::TestWithParam<Planes> {};

TEST_P(PlanesTest, Normalizations) {
  const Planes s = GetParam();
  const size_t plane = s.h * s.w;
  const std::vector<float> x = Uniform(s.size(), -3, 5), scale = Uniform(s.c, -2, 2, 2),
                           bias = Uniform(s.c, -2, 2, 3);
  const std::vector<float> mean = Uniform(s.c, -1, 1, 4), var = Uniform(s.c, 0.1f, 2, 5);
  const bool small = s.size() <= Interpreted;
  Call batch(KernelNamed("batch_normalization"));
  batch.In(x)
      .In(scale)
      .In(bias)
      .In(mean)
      .In(var)
      .Out<float>(s.size())
      .N(s.n)
      .N(s.c)
      .N(s.h)
      .N(s.w)
      .Scalar(1e-5f);
  ASSERT_TRUE(batch.RunEverywhere(small));
  ExpectAllClose(
      batch.Get<float>(5),
      [&](size_t i) {
        const size_t c = i / plane % s.c;
        return (x[i] - static_cast<double>(mean[c])) / std::sqrt(var[c] + 1e-5) * scale[c] +
               bias[c];
      },
      0, 2e-5, "batch_normalization");
  Call instance(KernelNamed("instance_normalization"));
  instance.In(x).In(scale).In(bias).Out<float>(s.size()).N(s.n).N(s.c).N(s.h).N(s.w).Scalar(1e-5f);
  ASSERT_TRUE(instance.RunEverywhere(small));
  Call global(KernelNamed("global_average_pool"));
  ASSERT_TRUE(global.In(x).Out<float>(s.n * s.c).N(s.n).N(s.c).N(s.h).N(s.w).RunEverywhere(small));
  for (size_t p = 0; p < s.n * s.c; ++p) {
    double middle = 0, variance = 0;
    for (size_t i = 0; i < plane; ++i) middle += x[p * plane + i] / static_cast<double>(plane);
    for (size_t i = 0; i < plane; ++i)
      variance += std::pow(x[p * plane + i] - middle, 2) / static_cast<double>(plane);
    EXPECT_NEAR(global.Get<float>(1)[p], middle, 1e-5);
    for (size_t i = 0; i < plane; ++i)
      ASSERT_NEAR(
          instance.Get<float>(3)[p * plane + i],
          (x[p * plane + i] - middle) / std::sqrt(variance + 1e-5) * scale[p % s.c] + bias[p % s.c],
          1e-4);
  }
}

TEST_P(PlanesTest, Pools) {
  const Planes s = GetParam();
  const std::vector<float> x = Uniform(s.size(), -3, 5);
  struct Window {
    size_t kernel, stride, pad;
  };
  for (const Window w : {Window{1, 1, 0}, Window{2, 2, 0}, Window{3, 2, 1}, Window{3, 1, 1}}) {
    if (s.h + 2 * w.pad < w.kernel || s.w + 2 * w.pad < w.kernel) continue;
    const size_t h = (s.h + 2 * w.pad - w.kernel) / w.stride + 1,
                 v = (s.w + 2 * w.pad - w.kernel) / w.stride + 1;
    for (const bool is_max : {false, true}) {
      Call call(KernelNamed(is_max ? "maxpool" : "averagepool"));
      call.In(x)
          .Out<float>(s.n * s.c * h * v)
          .N(s.n)
          .N(s.c)
          .N(s.h)
          .N(s.w)
          .N(w.kernel)
          .N(w.stride)
          .N(w.pad);
      ASSERT_TRUE(call.RunEverywhere(s.size() <= 1000));
      ExpectAllClose(
          call.Get<float>(1),
          [&](size_t i) {
            const size_t plane = i / (h * v), y = i / v % h, at = i % v;
            double total = 0, most = -1e300, count = 0;
            for (size_t dy = 0; dy < w.kernel; ++dy)
              for (size_t dx = 0; dx < w.kernel; ++dx) {
                const size_t yy = y * w.stride + dy, xx = at * w.stride + dx;
                if (yy < w.pad || xx < w.pad || yy - w.pad >= s.h || xx - w.pad >= s.w) continue;
                const double value = x[(plane * s.h + yy - w.pad) * s.w + xx - w.pad];
                total += value, most = std::max(most, value), ++count;
              }
            return is_max ? most : total / count;
          },
          0, 1e-5, is_max ? "maxpool" : "averagepool");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, PlanesTest, testing::ValuesIn(PlaneShapes));

struct Convolution {
  size_t batch, c_in, h, w, c_out, kh, kw, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
      groups;
};
const Convolution Convolutions[] = {
    {1, 1, 5, 5, 1, 3, 3, 1, 1, 0, 0, 1, 1, 1},   {2, 3, 8, 9, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1},
    {1, 4, 11, 13, 6, 3, 5, 2, 3, 2, 1, 1, 1, 2}, {1, 2, 12, 40, 2, 3, 3, 1, 1, 2, 2, 2, 2, 1},
    {1, 6, 7, 7, 6, 3, 3, 1, 1, 1, 1, 1, 1, 6},   {2, 3, 4, 33, 5, 1, 1, 1, 1, 0, 0, 1, 1, 1},
    {1, 8, 20, 36, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1},
};

TEST(Convolutions, AgreeWithLoops) {
  for (const Convolution& s : Convolutions) {
    const size_t h_out = (s.h + 2 * s.pad_h - s.dilation_h * (s.kh - 1) - 1) / s.stride_h + 1;
    const size_t w_out = (s.w + 2 * s.pad_w - s.dilation_w * (s.kw - 1) - 1) / s.stride_w + 1;
    const size_t depth = s.c_in / s.groups;
    const std::vector<float> x = Uniform(s.batch * s.c_in * s.h * s.w, -1, 1);
    const std::vector<float> w = Uniform(s.c_out * depth * s.kh * s.kw, -1, 1, 2);
    Call call(KernelNamed("conv2d"));
    call.In(x)
        .In(w)
        .Out<float>(s.batch * s.c_out * h_out * w_out)
        .N(s.h)
        .N(s.w)
        .N(s.kh)
        .N(s.kw)
        .N(s.batch)
        .N(s.c_in);
    call.N(s.c_out)
        .N(s.stride_h)
        .N(s.stride_w)
        .N(s.pad_h)
        .N(s.pad_w)
        .N(s.dilation_h)
        .N(s.dilation_w)
        .N(s.groups);
    ASSERT_TRUE(call.RunEverywhere(x.size() <= 1000));
    ExpectAllClose(
        call.Get<float>(2),
        [&](size_t i) {
          const size_t image = i / (s.c_out * h_out * w_out), out = i / (h_out * w_out) % s.c_out;
          const size_t y = i / w_out % h_out, at = i % w_out, group = out / (s.c_out / s.groups);
          double total = 0;
          for (size_t c = 0; c < depth; ++c)
            for (size_t u = 0; u < s.kh; ++u)
              for (size_t v = 0; v < s.kw; ++v) {
                const size_t yy = y * s.stride_h + u * s.dilation_h,
                             xx = at * s.stride_w + v * s.dilation_w;
                if (yy < s.pad_h || xx < s.pad_w || yy - s.pad_h >= s.h || xx - s.pad_w >= s.w)
                  continue;
                total += static_cast<double>(
                             x[((image * s.c_in + group * depth + c) * s.h + yy - s.pad_h) * s.w +
                               xx - s.pad_w]) *
                         w[((out * depth + c) * s.kh + u) * s.kw + v];
              }
          return total;
        },
        0, 1e-5, "conv2d");
  }
}

}  // namespace
}  // namespace frazil::kernels_test
