// Kernels as native code beside the same loops by the compiler, one thread: memory streams, math, rows, divergence.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "ir/text.h"
#include "kernel_peer.h"
#include "native_call.h"

namespace frazil::bench {
namespace {

constexpr const char* Area = "kernels, native";
constexpr const char* Clang = "clang -O3 -march=native";
constexpr const char* Mvec = "clang omp simd, libmvec";

std::shared_ptr<const exec::NativeCode> CompileText(const std::string& text) {
  Result<ir::Program> program = ir::ParseText(text);
  if (!program) fmt::print(stderr, "{}\n{}\n", program.error().ToString(), text);
  CHECK(program.has_value());
  return Compile(*program);
}

// A guarded map as kernels have it: `i < n` with a u32.
std::string MapText(std::string_view parameters, std::string_view body) {
  return fmt::format(
      "frz 1\nfunc @kernel({}, %n: u32) {{\n  %zero = const 0 : index\n  %end = cast %n : index\n"
      "  parallel %i = %zero to %end {{\n{}    yield\n  }}\n  return\n}}\n",
      parameters, body);
}

struct Call {
  std::shared_ptr<const exec::NativeCode> code;
  std::vector<uint64_t> arguments;
  exec::NativeRun run = {};

  Call& Add(Floats& floats) {
    arguments.push_back(floats.address());
    arguments.push_back(floats.size());
    return *this;
  }
  Call& Add(uint64_t word) {
    arguments.push_back(word);
    return *this;
  }
  Call& Add(float value) { return Add(uint64_t{std::bit_cast<uint32_t>(value)}); }
  void operator()() {
    uint64_t results[1];
    CHECK(code->entry()(arguments.data(), results, &run) == 0);
  }
};

void Judge(const std::string& figure, double amount, const char* unit, double ours_s, const char* peer, double peer_s,
           double goal, int rounds_note = 0) {
  (void)rounds_note;
  const double ours = amount / ours_s, theirs = amount / peer_s;
  Report({Area, figure, ours, unit, peer, theirs, fmt::format(">= {}x", goal), ours >= goal * theirs});
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
      {"add", MapText(TwoIn, "    %a = load %x, %i : f32\n    %b = load %y, %i : f32\n    %r = add %a, %b : f32\n"
                             "    store %z, %i, %r : f32\n"),
       3, [&] { peer::PlainAdd(n, x.data(), y.data(), z.data()); }, [&] { peer::StreamAdd(n, x.data(), y.data(), z.data()); },
       false},
      {"triad", MapText("%f: f32, %x: in buffer<f32>, %y: in buffer<f32>, %z: buffer<f32>",
                        "    %a = load %x, %i : f32\n    %b = load %y, %i : f32\n    %m = mul %f, %b : f32\n"
                        "    %r = add %a, %m : f32\n    store %z, %i, %r : f32\n"),
       3, [&] { peer::PlainTriad(n, 3.0f, x.data(), y.data(), z.data()); },
       [&] { peer::StreamTriad(n, 3.0f, x.data(), y.data(), z.data()); }, true},
      {"relu", MapText(OneIn, "    %a = load %x, %i : f32\n    %o = const 0 : f32\n    %c = lt %a, %o : f32\n"
                              "    %r = select %c, %o, %a : f32\n    store %y, %i, %r : f32\n"),
       2, [&] { peer::PlainRelu(n, x.data(), z.data()); }, [&] { peer::StreamRelu(n, x.data(), z.data()); }, false},
  };
  for (const Case& test : cases) {
    Call call{CompileText(test.text)};
    if (test.scalar) call.Add(3.0f);
    call.Add(x);
    if (test.buffers == 3) call.Add(y);
    call.Add(z).Add(uint64_t{n});
    auto times = InterleaveCpu({[&] { call(); }, test.plain, test.stream}, 9, 0.02);
    const double bytes = 4.0 * test.buffers * static_cast<double>(n) * 1e-9;
    Judge(fmt::format("{}, 2^25 elements", test.name), bytes, "GB/s", times[0].min_s, Clang, times[1].min_s, 1.2);
    Judge(fmt::format("{}, 2^25 elements", test.name), bytes, "GB/s", times[0].min_s, "STREAM, stores past the caches",
          times[2].min_s, 0.95);
  }
}

FRAZIL_FIGURE(kernel_math) {
  const size_t n = 16384;
  Floats x(n), y(n);
  for (size_t i = 0; i < n; ++i) x.data()[i] = static_cast<float>(i * 7919 % n) * (12.0f / n) - 6.0f;
  struct Case {
    const char* op;
    void (*peer)(size_t, const float*, float*);
    double goal;
  };
  for (const Case& test : {Case{"exp", peer::Exp, 0.6}, Case{"sigmoid", peer::Sigmoid, 0.6}, Case{"tanh", peer::Tanh, 0.6},
                           Case{"gelu", peer::Gelu, 0.6}, Case{"exp.fast", peer::Exp, 1.0},
                           Case{"sigmoid.fast", peer::Sigmoid, 1.0}, Case{"tanh.fast", peer::Tanh, 1.0},
                           Case{"log.fast", peer::Log, 1.0}}) {
    Call call{CompileText(MapText(OneIn, fmt::format("    %a = load %x, %i : f32\n    %r = {} %a : f32\n"
                                                     "    store %y, %i, %r : f32\n", test.op)))};
    if (test.peer == peer::Log)
      for (size_t i = 0; i < n; ++i) x.data()[i] = std::fabs(x.data()[i]) + 1e-3f;
    call.Add(x).Add(y).Add(uint64_t{n});
    auto times = InterleaveCpu({[&] { call(); }, [&] { test.peer(n, x.data(), y.data()); }}, 15, 0.004);
    Judge(fmt::format("{}, f32", test.op), static_cast<double>(n) * 1e-9, "G elements/s", times[0].min_s, Mvec,
          times[1].min_s, test.goal);
  }
}

}  // namespace frazil::bench
