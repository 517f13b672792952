// What a caller pays: the time T(N) of N calls of a fresh site, from an empty store, with the worker not even running,
// against the best that a caller who knew N could have done: N interpreted calls, or waiting for the compile and
// N compiled ones. Twelve programs, N = 1, 2, 5 ... 10^6.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "engine/engine.h"
#include "engine/fluid.h"
#include "harness.h"
#include "ir/text/text.h"

namespace frazil::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Subject {
  const char* name;
  std::string text;
  int64_t length;  // of buffers, and of `index` parameters
};

std::string Scalar(const char* type, const char* body) {
  return fmt::format("frz 1\nfunc @main(%a: {0}, %b: {0}) -> ({0}) {{\n{1}  return %r\n}}\n", type,
                     body);
}
std::string Loop(const char* type, const char* start, const char* body) {
  return fmt::format(
      "frz 1\nfunc @main(%a: {0}, %n: index) -> ({0}) {{\n  %zero = const 0 : index\n  %start = "
      "const {1} : {0}\n"
      "  %r = for %i = %zero to %n step 1 carry (%acc = %start) {{\n{2}    yield %next\n  }}\n  "
      "return %r\n}}\n",
      type, start, body);
}
std::string Elementwise(const char* type, const char* body) {
  return fmt::format(
      "frz 1\nfunc @main(%a: {0}, %n: index, %x: in buffer<{0}>, %y: out buffer<{0}>) {{\n"
      "  %zero = const 0 : index\n  parallel %i = %zero to %n {{\n    %v = load %x, %i : {0}\n{1}"
      "    store %y, %i, %r : {0}\n    yield\n  }}\n  return\n}}\n",
      type, body);
}

std::vector<Subject> Subjects() {
  return {
      {"muladd i32", Scalar("i32", "  %p = mul %a, %b : i32\n  %r = add %p, %a : i32\n"), 0},
      {"poly f64",
       Scalar("f64",
              "  %p = mul %a, %b : f64\n  %q = add %p, %a : f64\n  %s = mul %q, %b : f64\n"
              "  %r = sub %s, %a : f64\n"),
       0},
      {"field",
       Scalar("field",
              "  %p = mul %a, %b : field\n  %q = mul %p, %p : field\n  %r = add %q, %a : field\n"),
       0},
      {"exp f32", Scalar("f32", "  %p = mul %a, %b : f32\n  %r = exp %p : f32\n"), 0},
      {"mix loop 10",
       Loop("i64", "1",
            "    %p = mul %acc, %a : i64\n    %w = cast %i : i64\n    %next = xor %p, %w : i64\n"),
       10},
      {"mix loop 1000",
       Loop("i64", "1",
            "    %p = mul %acc, %a : i64\n    %w = cast %i : i64\n    %next = xor %p, %w : i64\n"),
       1000},
      {"logistic 200",
       Loop("f64", "0.5", "    %s = sub %a, %acc : f64\n    %next = mul %s, %acc : f64\n"), 200},
      {"field power 100",
       Loop("field", "1", "    %q = mul %acc, %a : field\n    %next = add %q, %a : field\n"), 100},
      {"scale f32 16", Elementwise("f32", "    %r = mul %v, %a : f32\n"), 16},
      {"scale f32 1000", Elementwise("f32", "    %r = mul %v, %a : f32\n"), 1000},
      {"chain f32 256",
       Elementwise(
           "f32",
           "    %p = mul %v, %a : f32\n    %q = add %p, %v : f32\n    %s = mul %q, %q : f32\n"
           "    %r = sub %s, %a : f32\n"),
       256},
      {"sigmoid f32 64",
       Elementwise("f32", "    %p = mul %v, %a : f32\n    %r = sigmoid %p : f32\n"), 64},
  };
}

// Arguments of a call, with the memory that they point to.
struct Call {
  std::vector<uint64_t> words, results;
  std::vector<std::vector<double>> memory;
};

Call MakeCall(const ir::Function& entry, int64_t length) {
  Call call;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_buffer()) {
      call.memory.emplace_back(static_cast<size_t>(length), 0.0);
      call.words.push_back(reinterpret_cast<uint64_t>(call.memory.back().data()));
      call.words.push_back(static_cast<uint64_t>(length));
    } else if (type.scalar == ir::Scalar::Index) {
      call.words.push_back(static_cast<uint64_t>(length));
    } else if (ir::IsFloat(type.scalar)) {
      call.words.push_back(type.scalar == ir::Scalar::F32 ? 0x3f400000
                                                          : 0x3fe8000000000000);  // 0.75
    } else {
      call.words.push_back(7 + i);
    }
  }
  call.results.resize(8);
  return call;
}

double CpuSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    }
  }
  return seconds;
}

engine::EngineOptions Options(bool compile) {
  engine::EngineOptions options;
  options.use_store = false;
  options.compile = compile;
  return options;
}

struct Measured {
  double seconds = 0, cpu = 0;
};

Measured RunCalls(const ir::Program& program, int64_t length, uint64_t n) {
  Measured measured;
  const double cpu = CpuSeconds();
  {
    // The engine is there before; loading a site and calling it is what a caller sees.
    engine::Engine engine(Options(true));
    Call call = MakeCall(program.entry_function(), length);
    const auto begin = Clock::now();
    auto site = engine.Load(program).value();
    for (uint64_t i = 0; i < n; ++i) site->Call(call.words.data(), call.results.data());
    measured.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  measured.cpu = CpuSeconds() - cpu;
  return measured;
}

struct Prices {
  double t0 = 0, t2 = 0, compile = 0;  // seconds
};

// What the bound is made of: an interpreted call, a compiled call, and the time from asking to solid, worker's start
// included.
std::optional<Prices> PricesOf(const ir::Program& program, int64_t length) {
  Prices prices;
  Call call = MakeCall(program.entry_function(), length);
  {
    engine::Engine engine(Options(false));
    auto site = engine.Load(program).value();
    double best = 1e9;
    for (int round = 0; round < 7; ++round) {
      const int calls = 20;
      best = std::min(best, Seconds([&] {
                              for (int i = 0; i < calls; ++i)
                                site->Call(call.words.data(), call.results.data());
                            }) / calls);
    }
    prices.t0 = best;
  }
  prices.compile = 1e9;
  for (int round = 0; round < 3; ++round) {
    engine::EngineOptions options = Options(true);
    options.hot_calls = 1;
    engine::Engine engine(options);
    auto site = engine.Load(program).value();
    const auto begin = Clock::now();
    site->Call(call.words.data(), call.results.data());
    engine.Settle(20s);
    if (site->state() != dispatch::State::Solid) return std::nullopt;
    prices.compile =
        std::min(prices.compile, std::chrono::duration<double>(Clock::now() - begin).count());
    double best = 1e9;
    for (int k = 0; k < 5; ++k) {
      const int calls = 2000;
      best = std::min(best, Seconds([&] {
                              for (int i = 0; i < calls; ++i)
                                site->Call(call.words.data(), call.results.data());
                            }) / calls);
    }
    prices.t2 = best;
  }
  return prices;
}

}  // namespace

FRAZIL_FIGURE(tierup) {
  double worst = 0, worst_cpu = 0;
  std::string where, where_cpu;
  int bounds = 0, missed = 0;
  for (const Subject& subject : Subjects()) {
    const auto program = ir::ParseText(subject.text);
    if (!program) {
      Report({.area = "engine",
              .figure = "T(N)",
              .unit = "x",
              .goal = "",
              .met = false,
              .reason = program.error().ToString()});
      return;
    }
    const std::optional<Prices> prices = PricesOf(*program, subject.length);
    if (!prices) {
      Report({.area = "engine",
              .figure = fmt::format("T(N) of {}", subject.name),
              .unit = "x",
              .goal = "sets",
              .met = false,
              .reason = "did not set"});
      continue;
    }
    for (uint64_t decade = 1; decade <= 1'000'000; decade *= 10) {
      for (const uint64_t factor : {1, 2, 5}) {
        const uint64_t n = decade * factor;
        if (n > 1'000'000) break;
        Measured best{1e9, 1e9};
        for (int round = 0; round < 3; ++round) {
          const Measured one = RunCalls(*program, subject.length, n);
          best.seconds = std::min(best.seconds, one.seconds);
          best.cpu = std::min(best.cpu, one.cpu);
        }
        const double ideal = std::min(static_cast<double>(n) * prices->t0,
                                      prices->compile + static_cast<double>(n) * prices->t2);
        const double ratio = best.seconds / (1.10 * ideal + 0.0002);
        ++bounds;
        missed += ratio > 1;
        if (ratio > 1) {
          fmt::print(stderr, "tierup: {} N = {}: {:.3f} ms, ideal {:.3f} ms, {:.2f} of the bound\n",
                     subject.name, n, best.seconds * 1e3, ideal * 1e3, ratio);
        }
        if (ratio > worst) {
          worst = ratio;
          where = fmt::format("{}, N = {}: {:.3f} ms, ideal {:.3f} ms", subject.name, n,
                              best.seconds * 1e3, ideal * 1e3);
        }
        // Below a millisecond the counters of the kernel say nothing.
        const double cpu_ratio = best.cpu / std::max(ideal, 0.001);
        if (cpu_ratio > worst_cpu) {
          worst_cpu = cpu_ratio;
          where_cpu = fmt::format("{}, N = {}: {:.2f} ms of CPU, ideal {:.2f} ms", subject.name, n,
                                  best.cpu * 1e3, ideal * 1e3);
        }
      }
    }
    fmt::print(stderr, "tierup: {:16} t0 {:9.2f} us  t2 {:9.4f} us  compile {:6.2f} ms\n",
               subject.name, prices->t0 * 1e6, prices->t2 * 1e6, prices->compile * 1e3);
  }
  Report({.area = "engine",
          .figure = fmt::format("T(N) over its bound, worst of {} ({} above)", bounds, missed),
          .ours = worst,
          .unit = "x",
          .goal = "<= 1",
          .met = worst <= 1,
          .reason = where});
  Report({.area = "engine",
          .figure = "CPU of both processes over the ideal, worst",
          .ours = worst_cpu,
          .unit = "x",
          .goal = "<= 2",
          .met = worst_cpu <= 2,
          .reason = where_cpu});
}

}  // namespace frazil::bench
