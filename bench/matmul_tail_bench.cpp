// Matrix products with a bias and an activation behind them, one thread, beside oneDNN's primitive with the same as
// post-ops. Shapes are constants, as in a program that has set.
#include <fmt/format.h>

#include <cmath>

#include "dnnl_matmul.h"
#include "kernel_call.h"

namespace frazil::bench {
namespace {

// f(sum + bias), the activation as ops on %t that give %r.
std::string Linear(int64_t n, std::string_view activation) {
  return fmt::format(R"(frz 1
func @main(%a: tensor<f32, [{0}, {0}]>, %b: tensor<f32, [{0}, {0}]>, %bias: tensor<f32, [{0}]>) -> (tensor<f32, [{0}, {0}]>) {{
  %none = const 0 : f32
  %c = matmul %a, %b : tensor<f32, [{0}, {0}]>
  %o = generate (%i, %j) -> (tensor<f32, [{0}, {0}]>) {{
    %s = extract %c, %i, %j : f32
    %v = extract %bias, %j : f32
    %t = add %s, %v : f32
    {1}
    yield %r
  }}
  return %o
}}
)",
                     n, activation);
}

// x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 x^3))
constexpr std::string_view GeluFast = R"(
    %k1 = const 1.5957691216 : f32
    %k3 = const 0.0713548162726 : f32
    %t2 = mul %t, %t : f32
    %u = fma %t2, %k3, %k1 : f32
    %z = mul %t, %u : f32
    %g = sigmoid.fast %z : f32
    %r = mul %t, %g : f32
)";

struct Square {
  explicit Square(int64_t size)
      : n(static_cast<size_t>(size)), a(n * n), b(n * n), bias(n), c(n * n) {
    for (size_t i = 0; i < n * n; ++i) {
      a.data()[i] = static_cast<float>(i * 7919 % 4096) * 0.0005f - 1.0f;
      b.data()[i] = static_cast<float>(i * 104729 % 4096) * 0.0005f - 1.0f;
    }
    for (size_t i = 0; i < n; ++i) bias.data()[i] = static_cast<float>(i % 7) - 3.0f;
  }
  double flops() const { return 2e-9 * static_cast<double>(n * n * n); }
  size_t n;
  Floats a, b, bias, c;
};

#ifdef FRAZIL_HAS_DNNL
// Without a goal: what is defined costs more than what they compute.
void Compare(const std::string& name, Square& s, std::string_view activation,
             dnnl::algorithm theirs, bool has_goal = true) {
  Call ours{CompileText(Linear(static_cast<int64_t>(s.n), activation)), {}};
  for (Floats* floats : {&s.a, &s.b, &s.bias, &s.c}) ours.Add(*floats);
  const int64_t n = static_cast<int64_t>(s.n);
  DnnlMatmul dnnl({n, n, n}, s.a.data(), s.b.data(), s.c.data(), s.bias.data(), theirs);
  const auto times = InterleaveCpu({[&] { ours(); }, [&] { dnnl.Run(); }}, 11, 0.01);
  const std::string figure =
      fmt::format("{} {} (median {:.2f}x)", name, n, times[1].median_s / times[0].median_s);
  const double amount = s.flops();
  if (has_goal)
    Judge(figure, amount, "GF/s", times[0].min_s, "oneDNN with post-ops", times[1].min_s, 1.0);
  else
    Report({"native", figure, amount / times[0].min_s, "GF/s", "oneDNN with post-ops",
            amount / times[1].min_s, "-", std::nullopt, "no goal"});
}
#endif

}  // namespace

FRAZIL_FIGURE(native_matmul_tail) {
  OneThread();
#ifdef FRAZIL_HAS_DNNL
  for (int64_t n : {64, 128, 256, 512, 1024, 2048}) {
    Square s(n);
    Compare("matmul, bias, relu", s, "%r = max %t, %none : f32", dnnl::algorithm::eltwise_relu,
            1.0);
    Compare("matmul, bias, gelu (defined)", s, "%r = gelu %t : f32",
            dnnl::algorithm::eltwise_gelu_erf, /*has_goal=*/false);
    Compare("matmul, bias, gelu by tanh (sigmoid.fast)", s, GeluFast,
            dnnl::algorithm::eltwise_gelu_tanh);
  }
#endif
}

// bf16 and f16 have chains of f32: those of f32 are their bound.
FRAZIL_FIGURE(native_matmul_halves) {
  for (int64_t n : {128, 512, 1024}) {
    Square s(n);
    const auto product = [&](std::string_view type) {
      return CompileText(fmt::format(R"(frz 1
func @main(%a: tensor<{0}, [{1}, {1}]>, %b: tensor<{0}, [{1}, {1}]>) -> (tensor<{0}, [{1}, {1}]>) {{
  %c = matmul %a, %b : tensor<{0}, [{1}, {1}]>
  return %c
}}
)",
                                     type, n));
    };
    Call f32{product("f32"), {}}, bf16{product("bf16"), {}}, f16{product("f16"), {}};
    // Elements of two bytes fill a half of each.
    for (Call* call : {&f32, &bf16, &f16})
      for (Floats* floats : {&s.a, &s.b, &s.c}) call->Add(floats->address()).Add(s.n * s.n);
    const auto times = InterleaveCpu({[&] { f32(); }, [&] { bf16(); }, [&] { f16(); }}, 11, 0.01);
    for (size_t i : {1u, 2u})
      Report({"native", fmt::format("matmul {} {}", i == 1 ? "bf16" : "f16", n),
              s.flops() / times[i].min_s, "GF/s", "ours of f32, its bound",
              s.flops() / times[0].min_s, "-", std::nullopt, "no goal"});
  }
}

}  // namespace frazil::bench
