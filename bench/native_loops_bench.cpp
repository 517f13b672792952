// Native loops beside the same loops in C++: an addition, a chain of ten ops, a sum in the defined tree. Each in the
// first-level cache, in the second-level cache and in memory.
#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/text/text.h"
#include "native_call.h"
#include "native_peer.h"

namespace frazil::bench {
namespace {

constexpr std::string_view AddText = R"(frz 1
func @main(%n: index, %x: in buffer<f32>, %y: in buffer<f32>, %z: out buffer<f32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %a = load %x, %i : f32
    %b = load %y, %i : f32
    %r = add %a, %b : f32
    store %z, %i, %r : f32
    yield
  }
  return
}
)";

constexpr std::string_view ChainText = R"(frz 1
func @main(%n: index, %x: in buffer<f32>, %y: in buffer<f32>, %z: out buffer<f32>) {
  %zero = const 0 : index
  %p = const 0.75 : f32
  %q = const 0.3 : f32
  parallel %i = %zero to %n {
    %u = load %x, %i : f32
    %v = load %y, %i : f32
    %a = mul %u, %v : f32
    %b = add %a, %u : f32
    %c = mul %b, %p : f32
    %d = sub %c, %v : f32
    %e = mul %d, %d : f32
    %f = add %e, %a : f32
    %g = mul %f, %q : f32
    %h = sub %g, %b : f32
    %k = mul %h, %c : f32
    %r = add %k, %d : f32
    store %z, %i, %r : f32
    yield
  }
  return
}
)";

constexpr std::string_view SumText = R"(frz 1
func @main(%n: index, %x: tensor<f32, [%n]>) -> (tensor<f32, []>) {
  %s = reduce %x {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  return %s
}
)";

struct Place {
  const char* name;
  size_t count;  // f32 in one buffer
};
constexpr Place ThreeBuffers[] = {{"L1", 2048}, {"L2", 40960}, {"DRAM", size_t{1} << 24}};
constexpr Place OneBuffer[] = {{"L2", 131072}, {"DRAM", size_t{1} << 26}};

ir::Program Read(std::string_view text) {
  Result<ir::Program> program = ir::ParseText(text);
  CHECK(program.has_value());
  return std::move(*program);
}

void Compare(const char* name, std::string_view text,
             void (*peer)(size_t, const float*, const float*, float*), double goal) {
  const auto code = Compile(Read(text));
  for (const Place& place : ThreeBuffers) {
    Floats x(place.count), y(place.count), z(place.count);
    exec::NativeRun run;
    const uint64_t n = place.count;
    const uint64_t arguments[] = {n, x.address(), n, y.address(), n, z.address(), n};
    uint64_t results[1];
    peer(n, x.data(), y.data(), z.data());
    const std::vector<float> expected(z.data(), z.data() + n);
    CHECK(code->entry()(arguments, results, &run) == 0);
    CHECK(std::equal(expected.begin(), expected.end(), z.data()));
    // The same output for both: where it lies decides more than a percent.
    auto times = InterleaveCpu({[&] { CHECK(code->entry()(arguments, results, &run) == 0); },
                                [&] { peer(n, x.data(), y.data(), z.data()), Keep(z.data()); }},
                               15, 0.004);
    const double ours = static_cast<double>(n) / times[0].min_s / 1e9;
    const double theirs = static_cast<double>(n) / times[1].min_s / 1e9;
    Report({"native",
            fmt::format("{}, {} (median {:.2f}x)", name, place.name,
                        times[1].median_s / times[0].median_s),
            ours, "G elements/s", "clang -O3 -march=native", theirs, fmt::format(">= {}x", goal),
            ours >= goal * theirs});
  }
}

}  // namespace

FRAZIL_FIGURE(native_loops) {
  Compare("parallel f32 add", AddText, peer::Add, 0.95);
  Compare("parallel f32 chain of 10 ops", ChainText, peer::Chain, 0.9);
}

FRAZIL_FIGURE(native_sum) {
  const auto code = Compile(Read(SumText));
  for (const Place& place : OneBuffer) {
    Floats x(place.count);
    float sum = 0;
    exec::NativeRun run;
    const uint64_t n = place.count;
    const uint64_t arguments[] = {n, x.address(), n, reinterpret_cast<uint64_t>(&sum), 1};
    uint64_t results[1];
    auto times = InterleaveCpu({[&] { CHECK(code->entry()(arguments, results, &run) == 0); },
                                [&] { Keep(peer::Sum(n, x.data())); }},
                               15, 0.004);
    const double ours = static_cast<double>(n) * 4 / times[0].min_s / 1e9;
    const double theirs = static_cast<double>(n) * 4 / times[1].min_s / 1e9;
    Report({"native",
            fmt::format("f32 sum in the defined tree, {} (median {:.2f}x)", place.name,
                        times[1].median_s / times[0].median_s),
            ours, "GB/s", "vectorized sum in any order", theirs, ">= 0.9x", ours >= 0.9 * theirs});
  }
}

}  // namespace frazil::bench
