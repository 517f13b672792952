// Kernels as native code beside the same loops by the compiler, one thread: memory streams, math, rows, divergence.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "dnnl_rows.h"
#include "kernel_call.h"

namespace frazil::bench {
namespace {

constexpr const char* Clang = "clang -O3 -march=native";
constexpr const char* Mvec = "clang omp simd, libmvec";

// A guarded map as kernels have it: `i < n` with a u32.
std::string MapText(std::string_view parameters, std::string_view body) {
  return fmt::format(
      "frz 1\nfunc @kernel({}, %n: u32) {{\n  %zero = const 0 : index\n  %end = cast %n : index\n"
      "  parallel %i = %zero to %end {{\n{}    yield\n  }}\n  return\n}}\n",
      parameters, body);
}

constexpr std::string_view TwoIn = "%x: in buffer<f32>, %y: in buffer<f32>, %z: buffer<f32>";
constexpr std::string_view OneIn = "%x: in buffer<f32>, %y: buffer<f32>";

}  // namespace

FRAZIL_FIGURE(kernel_streams) {
  const size_t n = size_t{1} << 25;
  Floats x(n), y(n), z(n);
  struct Case {
    const char* name;
    std::string text;
    int buffers;
    std::function<void()> plain, stream;
    bool scalar;
  };
  const Case cases[] = {
      {"add",
       MapText(TwoIn,
               "    %a = load %x, %i : f32\n    %b = load %y, %i : f32\n    %r = add %a, %b : f32\n"
               "    store %z, %i, %r : f32\n"),
       3, [&] { peer::PlainAdd(n, x.data(), y.data(), z.data()); },
       [&] { peer::StreamAdd(n, x.data(), y.data(), z.data()); }, false},
      {"triad",
       MapText("%f: f32, %x: in buffer<f32>, %y: in buffer<f32>, %z: buffer<f32>",
               "    %a = load %x, %i : f32\n    %b = load %y, %i : f32\n    %m = mul %f, %b : f32\n"
               "    %r = add %a, %m : f32\n    store %z, %i, %r : f32\n"),
       3, [&] { peer::PlainTriad(n, 3.0f, x.data(), y.data(), z.data()); },
       [&] { peer::StreamTriad(n, 3.0f, x.data(), y.data(), z.data()); }, true},
      {"relu",
       MapText(OneIn,
               "    %a = load %x, %i : f32\n    %o = const 0 : f32\n    %c = lt %a, %o : f32\n"
               "    %r = select %c, %o, %a : f32\n    store %y, %i, %r : f32\n"),
       2, [&] { peer::PlainRelu(n, x.data(), z.data()); },
       [&] { peer::StreamRelu(n, x.data(), z.data()); }, false},
  };
  for (const Case& test : cases) {
    Call call{CompileText(test.text)};
    if (test.scalar) call.Add(3.0f);
    call.Add(x);
    if (test.buffers == 3) call.Add(y);
    call.Add(z).Add(uint64_t{n});
    auto times = InterleaveCpu({[&] { call(); }, test.plain, test.stream}, 9, 0.02);
    const double bytes = 4.0 * test.buffers * static_cast<double>(n) * 1e-9;
    Judge(fmt::format("{}, 2^25 elements", test.name), bytes, "GB/s", times[0].min_s, Clang,
          times[1].min_s, 1.2);
    Judge(fmt::format("{}, 2^25 elements", test.name), bytes, "GB/s", times[0].min_s,
          "STREAM, stores past the caches", times[2].min_s, 0.95);
  }
}

FRAZIL_FIGURE(kernel_math) {
  const size_t n = 16384;
  Floats x(n), y(n);
  for (size_t i = 0; i < n; ++i)
    x.data()[i] = static_cast<float>(i * 7919 % n) * (12.0f / n) - 6.0f;
  struct Case {
    const char* op;
    void (*peer)(size_t, const float*, float*);
    double goal;
  };
  for (const Case& test :
       {Case{"exp", peer::Exp, 0.6}, Case{"sigmoid", peer::Sigmoid, 0.6},
        Case{"tanh", peer::Tanh, 0.6}, Case{"gelu", peer::Gelu, 0.6},
        Case{"exp.fast", peer::Exp, 1.0}, Case{"sigmoid.fast", peer::Sigmoid, 1.0},
        Case{"tanh.fast", peer::Tanh, 1.0}, Case{"log.fast", peer::Log, 1.0}}) {
    Call call{
        CompileText(MapText(OneIn, fmt::format("    %a = load %x, %i : f32\n    %r = {} %a : f32\n"
                                               "    store %y, %i, %r : f32\n",
                                               test.op)))};
    if (test.peer == peer::Log)
      for (size_t i = 0; i < n; ++i) x.data()[i] = std::fabs(x.data()[i]) + 1e-3f;
    call.Add(x).Add(y).Add(uint64_t{n});
    auto times =
        InterleaveCpu({[&] { call(); }, [&] { test.peer(n, x.data(), y.data()); }}, 15, 0.004);
    Judge(fmt::format("{}, f32", test.op), static_cast<double>(n) * 1e-9, "G elements/s",
          times[0].min_s, Mvec, times[1].min_s, test.goal);
  }
}

namespace {

constexpr std::string_view SoftmaxText = R"(frz 1
func @softmax(%x: in buffer<f32>, %y: buffer<f32>, %rows: u32, %cols: u32) {
  %zero = const 0 : index
  %end = cast %rows : index
  parallel %row = %zero to %end {
    %n = cast %cols : index
    %first = mul %row, %n : index
    %low = const -inf : f32
    %greatest = for %j = %zero to %n step 1 carry (%g = %low) {
      %at = add %first, %j : index
      %v = load %x, %at : f32
      %m = max %g, %v : f32
      yield %m
    }
    %none = const 0 : f32
    %total = for %j = %zero to %n step 1 carry (%t = %none) {
      %at = add %first, %j : index
      %v = load %x, %at : f32
      %d = sub %v, %greatest : f32
      %w = EXP %d : f32
      store %y, %at, %w : f32
      %s = add %t, %w : f32
      yield %s
    }
    for %j = %zero to %n step 1 {
      %at = add %first, %j : index
      %w = load %y, %at : f32
      %q = div %w, %total : f32
      store %y, %at, %q : f32
      yield
    }
    yield
  }
  return
}
)";

constexpr std::string_view LayerNormText = R"(frz 1
func @layer_norm(%x: in buffer<f32>, %scale: in buffer<f32>, %bias: in buffer<f32>, %y: buffer<f32>, %rows: u32, %cols: u32,
                 %epsilon: f32) {
  %zero = const 0 : index
  %end = cast %rows : index
  parallel %row = %zero to %end {
    %n = cast %cols : index
    %first = mul %row, %n : index
    %none = const 0 : f32
    %one = const 1 : f32
    %count = cast %cols : f32
    %total = for %j = %zero to %n step 1 carry (%t = %none) {
      %at = add %first, %j : index
      %v = load %x, %at : f32
      %s = add %t, %v : f32
      yield %s
    }
    %mean = div %total, %count : f32
    %spread = for %j = %zero to %n step 1 carry (%t = %none) {
      %at = add %first, %j : index
      %v = load %x, %at : f32
      %d = sub %v, %mean : f32
      %q = mul %d, %d : f32
      %s = add %t, %q : f32
      yield %s
    }
    %variance = div %spread, %count : f32
    %v1 = add %variance, %epsilon : f32
    %v2 = sqrt %v1 : f32
    %scaling = div %one, %v2 : f32
    for %j = %zero to %n step 1 {
      %at = add %first, %j : index
      %v = load %x, %at : f32
      %d = sub %v, %mean : f32
      %p = mul %d, %scaling : f32
      %f = load %scale, %j : f32
      %q = mul %p, %f : f32
      %b = load %bias, %j : f32
      %r = add %q, %b : f32
      store %y, %at, %r : f32
      yield
    }
    yield
  }
  return
}
)";

}  // namespace

FRAZIL_FIGURE(kernel_softmax) {
  for (auto [rows, columns] : RowSizes) {
    Floats x(rows * columns), y(rows * columns);
    for (size_t i = 0; i < x.size(); ++i)
      x.data()[i] = static_cast<float>(i * 7919 % 4096) * 0.003f - 6.0f;
    Call ours{CompileText(With(SoftmaxText, "EXP", "exp"))},
        fast{CompileText(With(SoftmaxText, "EXP", "exp.fast"))};
    for (Call* call : {&ours, &fast})
      call->Add(x).Add(y).Add(uint64_t{rows}).Add(uint64_t{columns});
    std::vector<std::function<void()>> functions = {
        [&] { ours(); }, [&] { fast(); },
        [&] { peer::Softmax(rows, columns, x.data(), y.data()); }};
#ifdef FRAZIL_HAS_DNNL
    DnnlRows dnnl(static_cast<int64_t>(rows), static_cast<int64_t>(columns));
    dnnl.Softmax(x, y);
    functions.push_back([&] { dnnl.Run(); });
#endif
    auto times = InterleaveCpu(functions, 15, 0.004);
    const double amount = static_cast<double>(rows * columns) * 1e-9;
    const std::string size = fmt::format("{} x {}", rows, columns);
    Judge("softmax, " + size, amount, "G elements/s", times[0].min_s, Mvec, times[2].min_s, 1.0);
    Judge("softmax with exp.fast, " + size, amount, "G elements/s", times[1].min_s, Mvec,
          times[2].min_s, 1.0);
    if (times.size() < 4) continue;
    Judge("softmax, " + size, amount, "G elements/s", times[0].min_s, "oneDNN", times[3].min_s,
          1.0);
    Judge("softmax with exp.fast, " + size, amount, "G elements/s", times[1].min_s, "oneDNN",
          times[3].min_s, 1.0);
  }
}

FRAZIL_FIGURE(kernel_layer_norm) {
  for (auto [rows, columns] : RowSizes) {
    Floats x(rows * columns), y(rows * columns), scale(columns), bias(columns);
    for (size_t i = 0; i < x.size(); ++i)
      x.data()[i] = static_cast<float>(i * 7919 % 4096) * 0.003f - 6.0f;
    Call ours{CompileText(std::string(LayerNormText))};
    ours.Add(x).Add(scale).Add(bias).Add(y).Add(uint64_t{rows}).Add(uint64_t{columns}).Add(1e-5f);
    std::vector<std::function<void()>> functions = {
        [&] { ours(); },
        [&] { peer::LayerNorm(rows, columns, x.data(), scale.data(), bias.data(), y.data()); }};
#ifdef FRAZIL_HAS_DNNL
    DnnlRows dnnl(static_cast<int64_t>(rows), static_cast<int64_t>(columns));
    dnnl.LayerNorm(x, scale, bias, y);
    functions.push_back([&] { dnnl.Run(); });
#endif
    auto times = InterleaveCpu(functions, 15, 0.004);
    const double amount = static_cast<double>(rows * columns) * 1e-9;
    const std::string size = fmt::format("{} x {}", rows, columns);
    Judge("layer_norm, " + size, amount, "G elements/s", times[0].min_s, "clang omp simd",
          times[1].min_s, 1.0);
    if (times.size() == 3)
      Judge("layer_norm, " + size, amount, "G elements/s", times[0].min_s, "oneDNN", times[2].min_s,
            1.0);
  }
}

namespace {

constexpr std::string_view MandelbrotText = R"(frz 1
func @mandelbrot(%out: buffer<i32>, %width: u32, %height: u32, %most: i32, %sx: f32, %sy: f32) {
  %zero = const 0 : index
  %w = cast %width : index
  %h = cast %height : index
  %count = mul %w, %h : index
  %none = const 0 : f32
  %two = const 2 : f32
  %one = const 1 : f32
  %four = const 4 : f32
  %start = const 0 : i32
  %unit = const 1 : i32
  parallel %i = %zero to %count {
    %px = rem.floor %i, %w : index
    %py = div.floor %i, %w : index
    %fx = cast %px : f32
    %fy = cast %py : f32
    %ax = mul %fx, %sx : f32
    %ay = mul %fy, %sy : f32
    %cx = sub %ax, %two : f32
    %cy = sub %ay, %one : f32
    %zx, %zy, %turns = while (%x = %none, %y = %none, %n = %start) {
      %xx = mul %x, %x : f32
      %yy = mul %y, %y : f32
      %r = add %xx, %yy : f32
      %in = le %r, %four : f32
      %more = lt %n, %most : i32
      %both = and %in, %more : bool
      condition %both
    } do {
      %d = sub %xx, %yy : f32
      %nx = add %d, %cx : f32
      %t = mul %two, %x : f32
      %u = mul %t, %y : f32
      %ny = add %u, %cy : f32
      %m = add %n, %unit : i32
      yield %nx, %ny, %m
    }
    store %out, %i, %turns : i32
    yield
  }
  return
}
)";

// The normal distribution by its polynomial, twice.
std::string BlackScholesText() {
  auto distribution = [](std::string_view d, std::string_view n) {
    return fmt::format(
        "    %{1}a = abs {0} : f32\n    %{1}b = mul %{1}a, %q : f32\n    %{1}c = add %{1}b, %one : "
        "f32\n"
        "    %{1}k = div %one, %{1}c : f32\n    %{1}p4 = mul %{1}k, %k5 : f32\n    %{1}p5 = add "
        "%{1}p4, %k4 : f32\n"
        "    %{1}p6 = mul %{1}k, %{1}p5 : f32\n    %{1}p7 = add %{1}p6, %k3 : f32\n    %{1}p8 = "
        "mul %{1}k, %{1}p7 : f32\n"
        "    %{1}p9 = add %{1}p8, %k2 : f32\n    %{1}pa = mul %{1}k, %{1}p9 : f32\n    %{1}pb = "
        "add %{1}pa, %k1 : f32\n"
        "    %{1}pc = mul %{1}k, %{1}pb : f32\n    %{1}s = mul {0}, {0} : f32\n    %{1}t = mul "
        "%{1}s, %half.n : f32\n"
        "    %{1}e = exp.fast %{1}t : f32\n    %{1}f = mul %{1}e, %norm : f32\n    %{1}tail = mul "
        "%{1}f, %{1}pc : f32\n"
        "    %{1}up = gt {0}, %none : f32\n    %{1}less = sub %one, %{1}tail : f32\n"
        "    %{1} = select %{1}up, %{1}less, %{1}tail : f32\n",
        d, n);
  };
  std::string body =
      "    %s = load %spot, %i : f32\n    %k = load %strike, %i : f32\n    %t = load %years, %i : "
      "f32\n"
      "    %root = sqrt %t : f32\n    %vr = mul %volatility, %root : f32\n    %sk = div %s, %k : "
      "f32\n"
      "    %l = log.fast %sk : f32\n    %dt = mul %drift, %t : f32\n    %ln = add %l, %dt : f32\n"
      "    %d1 = div %ln, %vr : f32\n    %d2 = sub %d1, %vr : f32\n";
  body += distribution("%d1", "u") + distribution("%d2", "v");
  body +=
      "    %rt = mul %rate.n, %t : f32\n    %er = exp.fast %rt : f32\n    %disc = mul %k, %er : "
      "f32\n"
      "    %c1 = mul %s, %u : f32\n    %c2 = mul %disc, %v : f32\n    %c = sub %c1, %c2 : f32\n"
      "    store %call, %i, %c : f32\n    %mv = sub %one, %v : f32\n    %mu = sub %one, %u : f32\n"
      "    %p1 = mul %disc, %mv : f32\n    %p2 = mul %s, %mu : f32\n    %p = sub %p1, %p2 : f32\n"
      "    store %put, %i, %p : f32\n";
  return fmt::format(
      "frz 1\nfunc @black_scholes(%spot: in buffer<f32>, %strike: in buffer<f32>, %years: in "
      "buffer<f32>, %rate: f32, "
      "%volatility: f32, %call: buffer<f32>, %put: buffer<f32>, %n: u32) {{\n  %zero = const 0 : "
      "index\n"
      "  %end = cast %n : index\n  %none = const 0 : f32\n  %one = const 1 : f32\n  %half = const "
      "0.5 : f32\n"
      "  %half.n = const -0.5 : f32\n  %q = const 0.2316419 : f32\n  %norm = const 0.39894228 : "
      "f32\n"
      "  %k1 = const 0.31938153 : f32\n  %k2 = const -0.356563782 : f32\n  %k3 = const 1.781477937 "
      ": f32\n"
      "  %k4 = const -1.821255978 : f32\n  %k5 = const 1.330274429 : f32\n  %v0 = mul %half, "
      "%volatility : f32\n"
      "  %v1 = mul %v0, %volatility : f32\n  %drift = add %rate, %v1 : f32\n  %rate.n = neg %rate "
      ": f32\n"
      "  parallel %i = %zero to %end {{\n{}    yield\n  }}\n  return\n}}\n",
      body);
}

}  // namespace

FRAZIL_FIGURE(kernel_mandelbrot) {
  const uint64_t width = 384, height = 256;
  const int32_t most = 256;
  Floats ours(width * height), theirs(width * height);
  Call call{CompileText(std::string(MandelbrotText))};
  call.Add(ours).Add(width).Add(height).Add(uint64_t{most}).Add(3.0f / width).Add(2.0f / height);
  auto plain = [&] {
    peer::Mandelbrot(width, height, most, reinterpret_cast<int32_t*>(theirs.data()));
  };
  call();
  plain();
  CHECK(std::memcmp(ours.data(), theirs.data(), width * height * 4) == 0);
  auto times = InterleaveCpu({[&] { call(); }, plain}, 9, 0.02);
  Judge("Mandelbrot, 384 x 256, at most 256 turns", static_cast<double>(width * height) * 1e-6,
        "M pixels/s", times[0].min_s, "clang omp simd (stays scalar)", times[1].min_s, 1.0);
}

FRAZIL_FIGURE(kernel_finance) {
  const size_t n = 16384;
  Floats spot(n), strike(n), years(n), call_price(n), put_price(n), x(n), y(n);
  for (size_t i = 0; i < n; ++i) {
    spot.data()[i] = 10.0f + static_cast<float>(i * 7919 % 1000) * 0.1f;
    strike.data()[i] = 20.0f + static_cast<float>(i * 104729 % 1000) * 0.08f;
    years.data()[i] = 0.25f + static_cast<float>(i % 100) * 0.02f;
    y.data()[i] = 0;
  }
  Call call{CompileText(BlackScholesText())};
  call.Add(spot)
      .Add(strike)
      .Add(years)
      .Add(0.02f)
      .Add(0.3f)
      .Add(call_price)
      .Add(put_price)
      .Add(uint64_t{n});
  auto times =
      InterleaveCpu({[&] { call(); },
                     [&] {
                       peer::BlackScholes(n, spot.data(), strike.data(), years.data(), 0.02f, 0.3f,
                                          call_price.data(), put_price.data());
                     }},
                    15, 0.004);
  Judge("Black-Scholes with fast ops", static_cast<double>(n) * 1e-6, "M options/s", times[0].min_s,
        Mvec, times[1].min_s, 1.0);
  Call saxpy{CompileText(
      MapText("%a: f32, %x: in buffer<f32>, %y: buffer<f32>",
              "    %u = load %x, %i : f32\n    %v = load %y, %i : f32\n    %p = mul %a, %u : f32\n"
              "    %r = add %p, %v : f32\n    store %y, %i, %r : f32\n"))};
  for (size_t count : {size_t{2048}, n}) {
    saxpy.arguments.clear();
    saxpy.Add(0.0f).Add(x).Add(y).Add(uint64_t{count});
    times = InterleaveCpu({[&] { saxpy(); }, [&] { peer::Saxpy(count, 0.0f, x.data(), y.data()); }},
                          15, 0.004);
    Judge(fmt::format("saxpy, {} elements", count), static_cast<double>(count) * 1e-9,
          "G elements/s", times[0].min_s, "clang omp simd", times[1].min_s, 1.0);
  }
}

}  // namespace frazil::bench
