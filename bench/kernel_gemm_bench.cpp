// Matrix products as native code beside oneDNN, one thread.
#include <functional>
#include <tuple>

#include "kernel_call.h"

#ifdef FRAZIL_HAS_DNNL
#include <dnnl.hpp>
#endif

namespace frazil::bench {
namespace {

// Two-dimensional kernels as they are written: bounds and leading dimensions are parameters.
constexpr std::string_view GemmHead = R"(frz 1
func @gemm(%a: in buffer<f32>, %b: in buffer<f32>, %c: buffer<f32>, %m: u32, %n: u32, %k: u32, %lda: u32, %ldb: u32, %ldc: u32) {
  %zero = const 0 : index
  %rows = cast %m : index
  %columns = cast %n : index
  parallel %row = %zero to %rows {
    parallel %column = %zero to %columns {
      %none = const 0 : f32
      %depth = cast %k : index
      %total = for %p = %zero to %depth step 1 carry (%t = %none) {
        %la = cast %lda : index
        %r = mul %row, %la : index
        %ai = add %r, %p : index
        %av = load %a, %ai : f32
        %lb = cast %ldb : index
        %q = mul %p, %lb : index
        %bi = add %q, %column : index
        %bv = load %b, %bi : f32
        %s = fma %av, %bv, %t : f32
        yield %s
      }
      %lc = cast %ldc : index
      %cr = mul %row, %lc : index
      %ci = add %cr, %column : index
      store %c, %ci, %total : f32
      yield
    }
    yield
  }
  return
}
)";

// Y = alpha A' B' + beta C with transposes decided at the launch.
constexpr std::string_view FullGemm = R"(frz 1
func @gemm(%a: in buffer<f32>, %b: in buffer<f32>, %c: in buffer<f32>, %y: buffer<f32>, %m: u32, %n: u32, %k: u32, %alpha: f32,
           %beta: f32, %transa: u32, %transb: u32) {
  %zero = const 0 : index
  %rows = cast %m : index
  %columns = cast %n : index
  parallel %row = %zero to %rows {
    parallel %column = %zero to %columns {
      %u0 = const 0 : u32
      %one = const 1 : index
      %ki = cast %k : index
      %mi = cast %m : index
      %ni = cast %n : index
      %ta = eq %transa, %u0 : u32
      %tb = eq %transb, %u0 : u32
      %arow = select %ta, %ki, %one : index
      %astep = select %ta, %one, %mi : index
      %bstep = select %tb, %ni, %one : index
      %bcol = select %tb, %one, %ki : index
      %none = const 0 : f32
      %depth = cast %k : index
      %total = for %p = %zero to %depth step 1 carry (%t = %none) {
        %r = mul %row, %arow : index
        %r2 = mul %p, %astep : index
        %ai = add %r, %r2 : index
        %av = load %a, %ai : f32
        %q = mul %p, %bstep : index
        %q2 = mul %column, %bcol : index
        %bi = add %q, %q2 : index
        %bv = load %b, %bi : f32
        %s = fma %av, %bv, %t : f32
        yield %s
      }
      %scaled = mul %alpha, %total : f32
      %some = ne %beta, %none : f32
      %result = if %some -> (f32) {
        %n1 = cast %n : index
        %cr = mul %row, %n1 : index
        %ci = add %cr, %column : index
        %cv = load %c, %ci : f32
        %f = fma %beta, %cv, %scaled : f32
        yield %f
      } else {
        yield %scaled
      }
      %n2 = cast %n : index
      %yr = mul %row, %n2 : index
      %yi = add %yr, %column : index
      store %y, %yi, %result : f32
      yield
    }
    yield
  }
  return
}
)";

}  // namespace

FRAZIL_FIGURE(kernel_gemm) {
  auto plain = CompileText(std::string(GemmHead));
  auto full = CompileText(std::string(FullGemm));
  for (int64_t n : {128, 256, 512, 1024}) {
    const uint64_t size = static_cast<uint64_t>(n);
    Floats a(size * size), b(size * size), c(size * size), y(size * size);
    for (Floats* f : {&a, &b, &c})
      for (size_t i = 0; i < f->size(); ++i)
        f->data()[i] = static_cast<float>(i * 7919 % 255) * 0.01f - 1.0f;
    Call ours{plain};
    ours.Add(a).Add(b).Add(y);
    for (int i = 0; i < 6; ++i) ours.Add(size);
    std::vector<std::function<void()>> functions = {[&] { ours(); }};
    std::vector<std::unique_ptr<Call>> forms;
    for (auto [transa, transb, beta] : {std::tuple{0, 0, 0.0f}, {1, 0, 0.5f}, {0, 1, 0.5f}}) {
      forms.push_back(std::make_unique<Call>(full));
      Call& call = *forms.back();
      call.Add(a).Add(b).Add(c).Add(y).Add(size).Add(size).Add(size).Add(0.75f).Add(beta);
      call.Add(static_cast<uint64_t>(transa)).Add(static_cast<uint64_t>(transb));
      functions.push_back([&call] { call(); });
    }
#ifdef FRAZIL_HAS_DNNL
    functions.push_back(
        [&] { dnnl_sgemm('N', 'N', n, n, n, 1, a.data(), n, b.data(), n, 0, y.data(), n); });
    functions.push_back(
        [&] { dnnl_sgemm('T', 'N', n, n, n, 0.75f, a.data(), n, b.data(), n, 0.5f, y.data(), n); });
    functions.push_back(
        [&] { dnnl_sgemm('N', 'T', n, n, n, 0.75f, a.data(), n, b.data(), n, 0.5f, y.data(), n); });
#endif
    auto times = InterleaveCpu(functions, 7, n > 256 ? 0.05 : 0.01);
    if (times.size() < 7) return;
    const double flops =
        2e-9 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    Judge(fmt::format("gemm, {0} x {0} x {0}", n), flops, "GFLOP/s", times[0].min_s, "oneDNN sgemm",
          times[4].min_s, 0.95);
    Judge(fmt::format("gemm with alpha, {0}", n), flops, "GFLOP/s", times[1].min_s, "oneDNN sgemm",
          times[4].min_s, 0.95);
    Judge(fmt::format("gemm, A transposed, beta, {0}", n), flops, "GFLOP/s", times[2].min_s,
          "oneDNN sgemm", times[5].min_s, 0.95);
    Judge(fmt::format("gemm, B transposed, beta, {0}", n), flops, "GFLOP/s", times[3].min_s,
          "oneDNN sgemm", times[6].min_s, 0.95);
  }
}

}  // namespace frazil::bench
