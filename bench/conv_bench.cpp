// f32 convolutions, one thread, beside oneDNN: on plain arrays as ours are, and in the layouts that it likes best, without the
// time it takes to get there. Then pooling, transposition, argmax and scan beside the same loops in C++.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>

#include "ir/text/text.h"
#include "native_call.h"
#include "native_peer.h"

#ifdef FRAZIL_HAS_DNNL
#include <dnnl.hpp>
#endif

namespace frazil::bench {
namespace {

std::shared_ptr<const exec::NativeCode> CompileText(const std::string& text) {
  Result<ir::Program> program = ir::ParseText(text);
  CHECK(program.has_value());
  return Compile(*program);
}

// One image, stride 1, as many zeros around it as keep its size.
struct Convolution {
  int64_t channels, outputs, size, window;
  std::shared_ptr<const exec::NativeCode> code;
  Floats x, w, y;

  Convolution(int64_t c, int64_t o, int64_t s, int64_t k)
      : channels(c),
        outputs(o),
        size(s),
        window(k),
        x(static_cast<size_t>(c * s * s)),
        w(static_cast<size_t>(o * c * k * k)),
        y(static_cast<size_t>(o * s * s)) {
    code = CompileText(fmt::format(R"(frz 1
func @main(%x: tensor<f32, [1, {0}, {2}, {2}]>, %w: tensor<f32, [{1}, {0}, {3}, {3}]>) -> (tensor<f32, [1, {1}, {2}, {2}]>) {{
  %y = conv %x, %w {{groups = 1, stride = [1, 1], before = [{4}, {4}], after = [{4}, {4}], dilation = [1, 1]}} : tensor<f32, [1, {1}, {2}, {2}]>
  return %y
}}
)",
                                   c, o, s, k, k / 2));
  }

  void Run() {
    const uint64_t arguments[] = {x.address(), x.size(),    w.address(),
                                  w.size(),    y.address(), y.size()};
    uint64_t results[1];
    CHECK(code->entry()(arguments, results, &run_) == 0);
  }

  void CheckBits() {
    Run();
    const int64_t around = window / 2;
    for (int64_t o = 0; o < outputs; o += 7)
      for (int64_t p : {int64_t{0}, size / 2, size - 1})
        for (int64_t q = 0; q < size; q += 5) {
          float sum = 0;
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t i = 0; i < window; ++i)
              for (int64_t j = 0; j < window; ++j) {
                const int64_t row = p + i - around, column = q + j - around;
                const bool inside = row >= 0 && row < size && column >= 0 && column < size;
                sum = std::fma(w.data()[((o * channels + c) * window + i) * window + j],
                               inside ? x.data()[(c * size + row) * size + column] : 0.0f, sum);
              }
          CHECK(sum == y.data()[(o * size + p) * size + q]);
        }
  }

  double flops() const {
    return 2.0 * static_cast<double>(channels * outputs * window * window) *
           static_cast<double>(size * size);
  }

 private:
  exec::NativeRun run_;
};

#ifdef FRAZIL_HAS_DNNL
class DnnlConvolution {
 public:
  DnnlConvolution(Convolution& c, bool is_plain)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using dnnl::memory;
    const memory::dims x = {1, c.channels, c.size, c.size};
    const memory::dims w = {c.outputs, c.channels, c.window, c.window};
    const memory::dims y = {1, c.outputs, c.size, c.size};
    const memory::dims ones = {1, 1}, around = {c.window / 2, c.window / 2};
    const auto tag = is_plain ? memory::format_tag::abcd : memory::format_tag::any;
    const auto desc = [&](const memory::dims& dims, memory::format_tag layout) {
      return memory::desc(dims, memory::data_type::f32, layout);
    };
    dnnl::convolution_forward::desc what(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, desc(x, tag),
        desc(w, memory::format_tag::any), desc(y, tag), ones, around, around);
    const dnnl::convolution_forward::primitive_desc how(what, engine_);
    primitive_ = dnnl::convolution_forward(how);
    x_ = Laid(desc(x, memory::format_tag::abcd), c.x.data(), how.src_desc());
    w_ = Laid(desc(w, memory::format_tag::abcd), c.w.data(), how.weights_desc());
    y_ = memory(how.dst_desc(), engine_);
  }
  void Run() {
    primitive_.execute(stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, w_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }

 private:
  dnnl::memory Laid(const dnnl::memory::desc& plain, float* data,
                    const dnnl::memory::desc& wanted) {
    dnnl::memory from(plain, engine_, data), to(wanted, engine_);
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
    return to;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::memory x_, w_, y_;
  dnnl::convolution_forward primitive_;
};
#endif

void CompareConvolution([[maybe_unused]] int64_t channels, [[maybe_unused]] int64_t outputs,
                        [[maybe_unused]] int64_t size, [[maybe_unused]] int64_t window) {
#ifdef FRAZIL_HAS_DNNL
  Convolution c(channels, outputs, size, window);
  c.CheckBits();
  DnnlConvolution plain(c, true), any(c, false);
  const auto times =
      InterleaveCpu({[&] { c.Run(); }, [&] { plain.Run(); }, [&] { any.Run(); }}, 9, 0.02);
  const double ours = c.flops() / times[0].min_s / 1e9;
  const std::string name =
      fmt::format("conv f32 {0}x{0}, {1}x{2}x{2} to {3}", window, channels, size, outputs);
  const double plainly = c.flops() / times[1].min_s / 1e9, best = c.flops() / times[2].min_s / 1e9;
  Report({"native", fmt::format("{} (median {:.2f}x)", name, times[1].median_s / times[0].median_s),
          ours, "GF/s", "oneDNN, plain arrays", plainly, ">= 0.8x", ours >= 0.8 * plainly});
  Report({"native", fmt::format("{} (median {:.2f}x)", name, times[2].median_s / times[0].median_s),
          ours, "GF/s", "oneDNN, its own layouts", best, ">= 0.8x", ours >= 0.8 * best});
#endif
}

// An entry of one tensor to another beside a loop in C++.
void CompareLoop(const std::string& name, const std::string& text, size_t in, size_t out,
                 const std::function<void(const float*, float*)>& peer) {
  const auto code = CompileText(text);
  Floats x(in), y(out), z(out);
  exec::NativeRun run;
  const auto ours = [&] {
    const uint64_t arguments[] = {x.address(), x.size(), y.address(), y.size()};
    uint64_t results[1];
    CHECK(code->entry()(arguments, results, &run) == 0);
  };
  ours();
  peer(x.data(), z.data());
  for (size_t i = 0; i < out; ++i) CHECK(y.data()[i] == z.data()[i]);
  const auto times = InterleaveCpu({ours, [&] { peer(x.data(), z.data()); }}, 11, 0.01);
  Report({"native", fmt::format("{} (median {:.2f}x)", name, times[1].median_s / times[0].median_s),
          times[0].min_s * 1e6, "us", "clang -O3 loop", times[1].min_s * 1e6, ">= 1.0x",
          times[0].min_s <= times[1].min_s});
}

// Windows of k x k, as far apart, over 64 planes of 112 x 112.
void ComparePooling(int64_t k, int64_t step, bool is_mean) {
  constexpr int64_t Planes = 64, Size = 112;
  const int64_t places = (Size - k) / step + 1;
  const std::string kind = is_mean ? "sum" : "max";
  const std::string scale = is_mean ? fmt::format(R"(
    %part = const {} : f32
    %r = mul %m, %part : f32)",
                                                  1.0 / static_cast<double>(k * k))
                                    : "";
  const std::string text =
      fmt::format(R"(frz 1
func @main(%x: tensor<f32, [{0}, {1}, {1}]>) -> (tensor<f32, [{0}, {2}, {2}]>) {{
  %y = generate (%c, %p, %q) -> (tensor<f32, [{0}, {2}, {2}]>) {{
    %step = const {3} : index
    %k = const {4} : index
    %top = mul %p, %step : index
    %left = mul %q, %step : index
    %m = fold {5} %i to %k chains 1 block 4096 -> f32 {{
      %row = add %top, %i : index
      %n = fold {5} %j to %k chains 1 block 4096 -> f32 {{
        %column = add %left, %j : index
        %e = extract %x, %c, %row, %column : f32
        yield %e
      }}
      yield %n
    }}{6}
    yield {7}
  }}
  return %y
}}
)",
                  Planes, Size, places, step, k, kind, scale, is_mean ? "%r" : "%m");
  const auto pool = [&](const float* x, float* y) {
    peer::Pool(Planes, Size, k, step, is_mean, x, y);
  };
  CompareLoop(fmt::format("{} pooling {}x{} by {}", is_mean ? "mean" : "max", k, k, step), text,
              Planes * Size * Size, static_cast<size_t>(Planes * places * places), pool);
}

constexpr std::string_view TransposeText = R"(frz 1
func @main(%x: tensor<f32, [1024, 1024]>) -> (tensor<f32, [1024, 1024]>) {
  %y = transpose %x {perm = [1, 0]} : tensor<f32, [1024, 1024]>
  return %y
}
)";

constexpr std::string_view ArgmaxText = R"(frz 1
func @main(%x: tensor<f32, [256, 1000]>) -> (tensor<f32, [256]>) {
  %y = generate (%r) -> (tensor<f32, [256]>) {
    %n = const 1000 : index
    %most = fold maximum %j to %n chains 64 block 4096 -> f32 {
      %e = extract %x, %r, %j : f32
      yield %e
    }
    %at = fold min %j to %n chains 64 block 4096 -> i32 {
      %e = extract %x, %r, %j : f32
      %is = eq %e, %most : f32
      %far = const 2147483647 : i32
      %here = cast %j : i32
      %s = select %is, %here, %far : i32
      yield %s
    }
    %f = cast %at : f32
    yield %f
  }
  return %y
}
)";

constexpr std::string_view ScanRowsText = R"(frz 1
func @main(%x: tensor<f32, [256, 1024]>) -> (tensor<f32, [256, 1024]>) {
  %y = scan %x {kind = sum, axis = 1} : tensor<f32, [256, 1024]>
  return %y
}
)";

constexpr std::string_view ScanColumnsText = R"(frz 1
func @main(%x: tensor<f32, [256, 1024]>) -> (tensor<f32, [256, 1024]>) {
  %y = scan %x {kind = sum, axis = 0} : tensor<f32, [256, 1024]>
  return %y
}
)";

}  // namespace

FRAZIL_FIGURE(native_conv) {
  if (auto* set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(1);
  CompareConvolution(64, 64, 56, 3);
  CompareConvolution(128, 128, 28, 3);
  CompareConvolution(256, 256, 14, 3);
  CompareConvolution(3, 64, 224, 3);
  CompareConvolution(64, 64, 224, 3);
  CompareConvolution(256, 64, 56, 1);
  CompareConvolution(512, 512, 14, 1);
}

FRAZIL_FIGURE(native_planes) {
  for (const bool is_mean : {false, true}) {
    ComparePooling(2, 2, is_mean);
    ComparePooling(3, 2, is_mean);
    ComparePooling(3, 1, is_mean);
  }
  CompareLoop("transpose f32 1024", std::string(TransposeText), 1 << 20, 1 << 20,
              [](const float* x, float* y) { peer::Transpose(1024, x, y); });
  CompareLoop("argmax f32 256 rows of 1000", std::string(ArgmaxText), 256000, 256,
              [](const float* x, float* y) { peer::Argmax(256, 1000, x, y); });
  CompareLoop("scan f32 256 rows of 1024", std::string(ScanRowsText), 1 << 18, 1 << 18,
              [](const float* x, float* y) { peer::ScanRows(256, 1024, x, y); });
  CompareLoop("scan f32 1024 columns of 256", std::string(ScanColumnsText), 1 << 18, 1 << 18,
              [](const float* x, float* y) { peer::ScanColumns(256, 1024, x, y); });
}

}  // namespace frazil::bench
