// f32 matrix products, one thread, beside oneDNN (the better of its two ways) and OpenBLAS. Shapes are constants, as in
// a program that has set; operands are plain row-major arrays, so packing is part of our time.
#include <fmt/format.h>

#include <cmath>

#include "dnnl_matmul.h"
#include "ir/text/text.h"

#ifdef FRAZIL_HAS_OPENBLAS
extern "C" {
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
void openblas_set_num_threads(int threads);
}
#endif

namespace frazil::bench {
namespace {

struct Product {
  int64_t m, k, n;
  std::shared_ptr<const exec::NativeCode> code;
  Floats a, b, c;

  Product(int64_t rows, int64_t depth, int64_t columns)
      : m(rows),
        k(depth),
        n(columns),
        a(static_cast<size_t>(m * k)),
        b(static_cast<size_t>(k * n)),
        c(static_cast<size_t>(m * n)) {
    const std::string text = fmt::format(R"(frz 1
func @main(%a: tensor<f32, [{0}, {1}]>, %b: tensor<f32, [{1}, {2}]>) -> (tensor<f32, [{0}, {2}]>) {{
  %c = matmul %a, %b : tensor<f32, [{0}, {2}]>
  return %c
}}
)",
                                         m, k, n);
    Result<ir::Program> program = ir::ParseText(text);
    CHECK(program.has_value());
    code = Compile(*program);
  }

  void Run() {
    const uint64_t arguments[] = {a.address(), a.size(),    b.address(),
                                  b.size(),    c.address(), c.size()};
    uint64_t results[1];
    CHECK(code->entry()(arguments, results, &run_) == 0);
  }

  // Every output is one chain of fma.
  void CheckBits() {
    Run();
    for (int64_t i = 0; i < m; i += std::max<int64_t>(1, m / 5))
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t e = 0; e < k; ++e)
          sum = std::fma(a.data()[i * k + e], b.data()[e * n + j], sum);
        CHECK(sum == c.data()[i * n + j]);
      }
  }

  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }

 private:
  exec::NativeRun run_;
};

// Also that of OpenBLAS.
void OneThreadEach() {
  OneThread();
#ifdef FRAZIL_HAS_OPENBLAS
  openblas_set_num_threads(1);
#endif
}

void CompareWithDnnl([[maybe_unused]] int64_t n) {
#ifdef FRAZIL_HAS_DNNL
  Product p(n, n, n);
  p.CheckBits();
  DnnlMatmul dnnl({n, n, n}, p.a.data(), p.b.data(), p.c.data());
  auto times = InterleaveCpu({[&] { p.Run(); }, [&] { dnnl.Run(); },
                              [&] {
                                dnnl_sgemm('N', 'N', p.m, p.n, p.k, 1, p.a.data(), p.k, p.b.data(),
                                           p.n, 0, p.c.data(), p.n);
                              }},
                             11, 0.01);
  const double ours = p.flops() / times[0].min_s / 1e9;
  const double theirs = p.flops() / std::min(times[1].min_s, times[2].min_s) / 1e9;
  const double median = std::min(times[1].median_s, times[2].median_s) / times[0].median_s;
  Report({"native", fmt::format("matmul f32 {} (median {:.2f}x)", n, median), ours, "GF/s",
          "oneDNN, better of two", theirs, ">= 0.97x", ours >= 0.97 * theirs});
#endif
}

void CompareWithOpenBlas([[maybe_unused]] int64_t n) {
#ifdef FRAZIL_HAS_OPENBLAS
  Product p(n, n, n);
  p.CheckBits();
  const int size = static_cast<int>(n);
  auto times = InterleaveCpu({[&] { p.Run(); },
                              [&] {
                                cblas_sgemm(101, 111, 111, size, size, size, 1, p.a.data(), size,
                                            p.b.data(), size, 0, p.c.data(), size);
                              }},
                             21, 0.002);
  const double ours = p.flops() / times[0].min_s / 1e9;
  const double theirs = p.flops() / times[1].min_s / 1e9;
  Report({"native",
          fmt::format("matmul f32 {} (median {:.2f}x)", n, times[1].median_s / times[0].median_s),
          ours, "GF/s", "OpenBLAS", theirs, ">= 1.0x", ours >= theirs});
#endif
}

}  // namespace

FRAZIL_FIGURE(native_matmul) {
  OneThreadEach();
  for (int64_t n : {4, 8, 12, 16, 17, 24, 31, 32, 33, 48, 63, 64}) CompareWithOpenBlas(n);
  for (int64_t n : {128, 192, 256, 384, 512, 768, 1000, 1024, 2048}) CompareWithDnnl(n);
}

}  // namespace frazil::bench
