// Fused tensor programs as native code, one thread: row operations whose sums are in the defined tree.
#include <fmt/format.h>

#include "dnnl_rows.h"
#include "kernel_call.h"
#include "native_peer.h"

namespace frazil::bench {
namespace {

constexpr std::string_view SoftmaxRows = R"(frz 1
func @main(%m: index, %n: index, %a: tensor<f32, [%m, %n]>) -> (tensor<f32, [%m, %n]>) {
  %one = const 1 : f32
  %r = generate (%i) -> (tensor<f32, [%m, %n]>) {
    %most = fold max %j to %n chains 64 block 4096 -> f32 {
      %x = extract %a, %i, %j : f32
      yield %x
    }
    %e = generate (%j) -> (tensor<f32, [%n]>) {
      %x = extract %a, %i, %j : f32
      %d = sub %x, %most : f32
      %q = EXP %d : f32
      yield %q
    }
    %sum = fold sum %j to %n chains 64 block 4096 -> f32 {
      %x = extract %e, %j : f32
      yield %x
    }
    %scale = div %one, %sum : f32
    %o = generate (%j) -> (tensor<f32, [%n]>) {
      %x = extract %e, %j : f32
      %q = mul %x, %scale : f32
      yield %q
    }
    yield %o
  }
  return %r
}
)";

constexpr std::string_view LayerNormRows = R"(frz 1
func @main(%m: index, %n: index, %eps: f32, %a: tensor<f32, [%m, %n]>, %scale: tensor<f32, [%n]>, %bias: tensor<f32, [%n]>) -> (tensor<f32, [%m, %n]>) {
  %count = cast %n : f32
  %one = const 1 : f32
  %r = generate (%i) -> (tensor<f32, [%m, %n]>) {
    %sum = fold sum %j to %n chains 64 block 4096 -> f32 {
      %x = extract %a, %i, %j : f32
      yield %x
    }
    %mean = div %sum, %count : f32
    %squares = fold sum %j to %n chains 64 block 4096 -> f32 {
      %x = extract %a, %i, %j : f32
      %d = sub %x, %mean : f32
      %q = mul %d, %d : f32
      yield %q
    }
    %variance = div %squares, %count : f32
    %v = add %variance, %eps : f32
    %root = sqrt %v : f32
    %inverse = div %one, %root : f32
    %o = generate (%j) -> (tensor<f32, [%n]>) {
      %x = extract %a, %i, %j : f32
      %d = sub %x, %mean : f32
      %p = mul %d, %inverse : f32
      %g = extract %scale, %j : f32
      %q = mul %p, %g : f32
      %b = extract %bias, %j : f32
      %y = add %q, %b : f32
      yield %y
    }
    yield %o
  }
  return %r
}
)";

// What the gradient of a scale is: one pass over memory, two sums down its columns.
constexpr std::string_view ColumnSums = R"(frz 1
func @main(%m: index, %n: index, %g: tensor<f32, [%m, %n]>, %x: tensor<f32, [%m, %n]>) -> (tensor<f32, [%n]>, tensor<f32, [%n]>) {
  %r, %s = generate (%j) -> (tensor<f32, [%n]>, tensor<f32, [%n]>) {
    %scale = fold sum %i to %m chains 1 block 4096 -> f32 {
      %a = extract %g, %i, %j : f32
      %b = extract %x, %i, %j : f32
      %q = mul %a, %b : f32
      yield %q
    }
    %bias = fold sum %i to %m chains 1 block 4096 -> f32 {
      %a = extract %g, %i, %j : f32
      yield %a
    }
    yield %scale, %bias
  }
  return %r, %s
}
)";

void Compare(const std::string& figure, double amount, const std::vector<Times>& times, size_t ours,
             const char* first) {
  Judge(figure, amount, "G elements/s", times[ours].min_s, first, times[2].min_s, 0.85);
  if (times.size() > 3)
    Judge(figure, amount, "G elements/s", times[ours].min_s, "oneDNN", times[3].min_s, 1.0);
}

}  // namespace

FRAZIL_FIGURE(fused_softmax) {
  for (auto [rows, columns] : RowSizes) {
    Floats x(rows * columns), y(rows * columns);
    for (size_t i = 0; i < x.size(); ++i)
      x.data()[i] = static_cast<float>(i * 7919 % 4096) * 0.003f - 6.0f;
    Call ours{CompileText(With(SoftmaxRows, "EXP", "exp"))},
        fast{CompileText(With(SoftmaxRows, "EXP", "exp.fast"))};
    for (Call* call : {&ours, &fast})
      call->Add(uint64_t{rows}).Add(uint64_t{columns}).Add(x).Add(y);
    std::vector<std::function<void()>> functions = {
        [&] { ours(); }, [&] { fast(); },
        [&] { peer::Softmax(rows, columns, x.data(), y.data()); }};
#ifdef FRAZIL_HAS_DNNL
    DnnlRows dnnl(static_cast<int64_t>(rows), static_cast<int64_t>(columns));
    dnnl.Softmax(x, y);
    functions.push_back([&] { dnnl.Run(); });
#endif
    const auto times = InterleaveCpu(functions, 15, 0.004);
    const double amount = static_cast<double>(rows * columns) * 1e-9;
    const std::string size = fmt::format("{} x {}", rows, columns);
    Compare("fused softmax, " + size, amount, times, 0, "clang omp simd, libmvec");
    Compare("fused softmax with exp.fast, " + size, amount, times, 1, "clang omp simd, libmvec");
  }
}

FRAZIL_FIGURE(fused_layer_norm) {
  for (auto [rows, columns] : RowSizes) {
    Floats x(rows * columns), y(rows * columns), scale(columns), bias(columns);
    for (size_t i = 0; i < x.size(); ++i)
      x.data()[i] = static_cast<float>(i * 7919 % 4096) * 0.003f - 6.0f;
    Call ours{CompileText(std::string(LayerNormRows))};
    ours.Add(uint64_t{rows}).Add(uint64_t{columns}).Add(1e-5f).Add(x).Add(scale).Add(bias).Add(y);
    std::vector<std::function<void()>> functions = {
        [&] { ours(); }, [] {},
        [&] { peer::LayerNorm(rows, columns, x.data(), scale.data(), bias.data(), y.data()); }};
#ifdef FRAZIL_HAS_DNNL
    DnnlRows dnnl(static_cast<int64_t>(rows), static_cast<int64_t>(columns));
    dnnl.LayerNorm(x, scale, bias, y);
    functions.push_back([&] { dnnl.Run(); });
#endif
    const auto times = InterleaveCpu(functions, 15, 0.004);
    Compare(fmt::format("fused layer_norm, {} x {}", rows, columns),
            static_cast<double>(rows * columns) * 1e-9, times, 0, "clang omp simd");
  }
}

// What a Python kernel with sum(a[i] for i in range(n)) is.
FRAZIL_FIGURE(kernel_sums) {
  constexpr std::string_view Text = R"(frz 1
func @sum(%a: in buffer<f32>, %result: buffer<f32>, %n: u32) {
  %count = cast %n : index
  %first = const 0 : index
  %sum = fold sum %i to %count chains 64 block 4096 -> f32 {
    %x = load %a, %i : f32
    yield %x
  }
  store %result, %first, %sum : f32
  return
}
)";
  for (size_t n : {100, 1000, 4096, 100'000}) {
    Floats x(n), y(16);
    Call ours{CompileText(std::string(Text))};
    ours.Add(x).Add(y).Add(uint64_t{n});
    const auto times =
        InterleaveCpu({[&] { ours(); }, [&] { y.data()[1] = peer::Sum(n, x.data()); }}, 15, 0.002);
    Judge(fmt::format("sum of a kernel, {} elements", n), static_cast<double>(n) * 1e-9,
          "G elements/s", times[0].min_s, "clang omp simd", times[1].min_s, 0.85);
  }
}

FRAZIL_FIGURE(fused_column_sums) {
  constexpr std::pair<size_t, size_t> Sizes[] = {{128, 64}, {128, 768}, {4096, 768}, {16384, 1024}};
  for (auto [rows, columns] : Sizes) {
    Floats g(rows * columns), x(rows * columns), scale(columns), bias(columns);
    for (size_t i = 0; i < x.size(); ++i)
      x.data()[i] = g.data()[i] = static_cast<float>(i * 7919 % 4096) * 0.003f - 6.0f;
    Call ours{CompileText(std::string(ColumnSums))};
    ours.Add(uint64_t{rows}).Add(uint64_t{columns}).Add(g).Add(x).Add(scale).Add(bias);
    const auto times = InterleaveCpu(
        {[&] { ours(); },
         [&] { peer::ColumnSums(rows, columns, g.data(), x.data(), scale.data(), bias.data()); }},
        15, 0.004);
    Judge(fmt::format("two fused sums down columns, {} x {}", rows, columns),
          static_cast<double>(rows * columns) * 1e-9, "G elements/s", times[0].min_s,
          "clang omp simd, rows outermost", times[1].min_s, 0.85);
  }
}

}  // namespace frazil::bench
