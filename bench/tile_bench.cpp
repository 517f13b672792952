// The tile interpreter beside native code of the same program: single maps of all sizes, a chain of ops from memory;
// the time from a program to its first result; what threads cost and bring.
#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "base/system/thread_pool.h"
#include "ir/text/text.h"
#include "native_call.h"
#include "targets/isa/isa.h"
#include "targets/tiles/tile_maker.h"

namespace frazil::bench {
namespace {

using targets::tiles::RunWords;
using targets::tiles::TileRun;

struct Map {
  const char* name;
  const char* body;  // from %a, %b and %s to %r
};
constexpr Map Maps[] = {
    {"add", "%r = add %a, %b : f32"},
    {"sub", "%r = sub %a, %b : f32"},
    {"mul", "%r = mul %a, %b : f32"},
    {"relu", "%z = const 0 : f32\n%c = gt %a, %z : f32\n%r = select %c, %a, %z : f32"},
    {"copy", "%z = const 0 : f32\n%r = select %t, %a, %z : f32"},
    {"scalar mul", "%r = mul %a, %s : f32"},
};
constexpr const char* Chain =
    "%c = mul %a, %b : f32\n%d = add %c, %s : f32\n%e = mul %d, %a : f32\n%f = sub %e, %b : f32\n"
    "%r = mul %f, %d : f32";

std::string TextOf(const Map& map) {
  const std::string_view body = map.body;
  const bool two = body.find("%b") != std::string_view::npos;
  if (std::string_view(map.name) == "copy")
    return "frz 1\nfunc @main(%n: u32, %s: f32, %x: in buffer<f32>, %y: in buffer<f32>, %z: "
           "buffer<f32>) {\n"
           "%l = const 0 : index\n%h = cast %n : index\nparallel %i = %l to %h {\n%a = load %x, %i "
           ": f32\n"
           "store %z, %i, %a : f32\nyield\n}\nreturn\n}\n";
  return fmt::format(
      "frz 1\nfunc @main(%n: u32, %s: f32, %x: in buffer<f32>, %y: in buffer<f32>, %out: "
      "buffer<f32>) {{\n"
      "%l = const 0 : index\n%h = cast %n : index\nparallel %i = %l to %h {{\n%a = load %x, %i : "
      "f32\n"
      "{}{}\nstore %out, %i, %r : f32\nyield\n}}\nreturn\n}}\n",
      two ? "%b = load %y, %i : f32\n" : "", body);
}

ir::Program Read(const std::string& text) {
  Result<ir::Program> program = ir::ParseText(text);
  CHECK(program.has_value());
  return std::move(*program);
}

std::shared_ptr<const targets::tiles::TilePlan> PlanOf(const ir::Program& program) {
  auto module = targets::isa::ProvedModule::OfProgram(program);
  CHECK(module.has_value());
  auto plan = targets::tiles::Prepare(*module);
  CHECK(plan.has_value() && targets::tiles::LaneByLane(**plan).empty());
  return *plan;
}

// native time / tile time: 1 is as fast.
double Ratio(const ir::Program& program, size_t n) {
  const auto code = Compile(program);
  const auto plan = PlanOf(program);
  Floats x(n), y(n), z(n);
  const uint64_t arguments[] = {n, 0x3f400000, x.address(), n, y.address(), n, z.address(), n};
  exec::NativeRun native_run;
  TileRun run;
  run.threads = 1;
  uint64_t results[1];
  CHECK(code->entry()(arguments, results, &native_run) == 0);
  const std::vector<float> expected(z.data(), z.data() + n);
  std::fill(z.data(), z.data() + n, 0.f);
  CHECK(RunWords(*plan, arguments, results, run) == 0);
  CHECK(std::equal(expected.begin(), expected.end(), z.data()));
  const auto times =
      InterleaveCpu({[&] { CHECK(RunWords(*plan, arguments, results, run) == 0); },
                     [&] { CHECK(code->entry()(arguments, results, &native_run) == 0); }},
                    n > 1'000'000 ? 9 : 15, 0.002);
  if (std::getenv("FRAZIL_TILE_NS") != nullptr)
    fmt::print("{} elements: tile {:.1f} ns, native {:.1f} ns\n", n, times[0].min_s * 1e9,
               times[1].min_s * 1e9);
  return times[1].min_s / times[0].min_s;
}

}  // namespace

FRAZIL_FIGURE(tile_maps) {
  double log_sum = 0, least = 1e9;
  int count = 0;
  std::string least_at;
  for (const Map& map : Maps) {
    const ir::Program program = Read(TextOf(map));
    std::string list;
    double map_log = 0;
    int map_count = 0;
    for (size_t n : {1000, 10'000, 100'000, 1'000'000, 30'000'000}) {
      const double ratio = Ratio(program, n);
      list += fmt::format(" {:.2f}", ratio);
      log_sum += std::log(ratio), map_log += std::log(ratio);
      count += 1, map_count += 1;
      if (ratio < least) least = ratio, least_at = fmt::format("{} at {}", map.name, n);
    }
    Report({"tile", fmt::format("{} at 10^3, 10^4, 10^5, 10^6, 3*10^7:{}", map.name, list),
            std::exp(map_log / map_count), "of native", "native, one thread", 1, ">= 0.90 over all",
            std::nullopt});
  }
  Report({"tile", "single maps, geometric mean", std::exp(log_sum / count), "of native",
          "native, one thread", 1, ">= 0.90", std::exp(log_sum / count) >= 0.9});
  Report({"tile", "single maps, least: " + least_at, least, "of native", "native, one thread", 1,
          ">= 0.80", least >= 0.8});
}

FRAZIL_FIGURE(tile_chain) {
  const ir::Program program = Read(TextOf({"chain", Chain}));
  for (size_t n : {10'000, 30'000'000}) {
    const double ratio = Ratio(program, n);
    Report({"tile", fmt::format("chain of 5 ops, {} elements", n), ratio, "of native",
            "native, one thread", 1, n > 1'000'000 ? ">= 0.60" : "",
            n > 1'000'000 ? std::optional(ratio >= 0.6) : std::nullopt});
  }
}

FRAZIL_FIGURE(tile_math) {
  const ir::Program program = Read(TextOf({"exp", "%r = exp %a : f32"}));
  for (size_t n : {1000, 100'000})
    Report({"tile", fmt::format("exp by the prelude on tiles, {} elements", n), Ratio(program, n),
            "of native", "native, one thread", 1, "no goal without an installed function",
            std::nullopt});
}

FRAZIL_FIGURE(tile_first_result) {
  const ir::Program program = Read(TextOf({"chain", Chain}));
  constexpr size_t n = 1000;
  Floats x(n), y(n), z(n);
  const uint64_t arguments[] = {n, 0x3f400000, x.address(), n, y.address(), n, z.address(), n};
  uint64_t results[1];
  TileRun run;
  run.threads = 1;
  const auto times = Interleave({[&] {
                                   auto module = targets::isa::ProvedModule::OfProgram(program);
                                   CHECK(module.has_value());
                                   auto plan = targets::tiles::Prepare(*module);
                                   CHECK(plan.has_value());
                                   CHECK(RunWords(**plan, arguments, results, run) == 0);
                                 },
                                 [&] {
                                   auto plan = targets::tiles::Prepare(program);
                                   CHECK(plan.has_value());
                                   CHECK(RunWords(**plan, arguments, results, run) == 0);
                                 }},
                                200);
  Report({"tile", "program to first result by the module (lower, verify, lift, prepare, run)",
          times[0].min_s * 1e6, "us", "median", times[0].median_s * 1e6, "<= 100",
          times[0].min_s <= 100e-6});
  Report({"tile", "program to first result without the module", times[1].min_s * 1e6, "us",
          "median", times[1].median_s * 1e6, "<= 100", times[1].min_s <= 100e-6});
}

FRAZIL_FIGURE(tile_fork_join) {
  ThreadPool pool(2);
  struct Meeting {
    std::atomic<int> here{0};
  };
  const auto meet = [](void* context, int64_t, int64_t) {
    auto& meeting = *static_cast<Meeting*>(context);
    meeting.here.fetch_add(1, std::memory_order_acq_rel);
    while (meeting.here.load(std::memory_order_acquire) < 2) {
    }
  };
  std::vector<double> samples;
  for (int round = 0; round < 200; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) {
      Meeting meeting;
      pool.For(2, 1, meet, &meeting);
    }
    samples.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 100);
  }
  std::sort(samples.begin(), samples.end());
  Report({"tile", "fork and join, both threads at work", samples.front() * 1e9, "ns", "median",
          samples[samples.size() / 2] * 1e9, "<= 300", samples.front() <= 300e-9});
}

FRAZIL_FIGURE(tile_threads) {
  const ir::Program program = Read(TextOf(Maps[0]));
  const auto plan = PlanOf(program);
  std::string list;
  std::vector<double> ratios;
  for (size_t n : {100, 1000, 10'000, 100'000, 1'000'000, 10'000'000}) {
    Floats x(n), y(n), z(n);
    const uint64_t arguments[] = {n, 0, x.address(), n, y.address(), n, z.address(), n};
    uint64_t results[1];
    TileRun one, two;
    one.threads = 1;
    two.threads = 2;
    const size_t calls = std::max<size_t>(1, 2'000'000 / n);
    const auto times = Interleave({[&] {
                                     for (size_t i = 0; i < calls; ++i)
                                       CHECK(RunWords(*plan, arguments, results, two) == 0);
                                   },
                                   [&] {
                                     for (size_t i = 0; i < calls; ++i)
                                       CHECK(RunWords(*plan, arguments, results, one) == 0);
                                   }},
                                  21);
    ratios.push_back(times[0].median_s / times[1].median_s);
    list += fmt::format(" {:.2f}", ratios.back());
  }
  Report({"tile", "add on 2 threads over 1, 10^2 .. 10^7:" + list,
          *std::max_element(ratios.begin(), ratios.end()), "x of 1 thread", "1 thread", 1,
          "<= 1.02", *std::max_element(ratios.begin(), ratios.end()) <= 1.02});
}

}  // namespace frazil::bench
