// From a sentence to its answer: parse, emit, run under wasmtime, without process start; and with it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/system/process.h"
#include "exec/target.h"
#include "frontends/words/words.h"
#include "harness.h"
#include "shape_runner.h"
#include "targets/wasm/wasm.h"

namespace frazil::bench {
namespace {

std::string Answer(const exec::Target& target, const std::string& text) {
  auto reading = frontends::words::Parse(text);
  CHECK(reading.has_value());
  auto artifact = target.Emit(reading->program);
  CHECK(artifact.has_value());
  auto callable = target.Load(*artifact);
  CHECK(callable.has_value());
  auto outcome = (*callable)->Run({}, {});
  CHECK(outcome.has_value());
  return *frontends::words::PrintAnswer(*reading, *outcome);
}

std::string AnswerByShape(ShapeRunner& runner, const std::string& text) {
  auto reading = frontends::words::Parse(text);
  CHECK(reading.has_value());
  auto outcome = runner.Run(reading->program, {}, {});
  CHECK(outcome.has_value());
  return *frontends::words::PrintAnswer(*reading, *outcome);
}

double Median(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

double ProcessSeconds(const std::string& program) {
  return Seconds([&] {
    const auto result = RunCommand({program, {program, "ask", "2+2"}}, {});
    CHECK(result && result->ending.is_success());
  });
}

}  // namespace

// Everything is opened here for the first time: wasmtime's library, its engine, the compiler.
FRAZIL_PROBE(cold_ask) {
  return Seconds([] {
    auto target = targets::wasm::MakeWasmTarget();
    CHECK(Answer(*target, "Sum 1 to 10") == "55");
  });
}

FRAZIL_FIGURE(words) {
  std::vector<double> cold;
  for (int i = 0; i < 21; ++i) cold.push_back(FreshProcess("cold_ask"));
  double cold_ms = Median(cold) * 1e3;
  Report({"words", "ask, cold: parse + emit + run", cold_ms, "ms", "", 0, "<= 2 ms", cold_ms <= 2});

  auto target = targets::wasm::MakeWasmTarget();
  ShapeRunner runner(*target);
  CHECK(AnswerByShape(runner, "Sum 1 to 10") == "55" && AnswerByShape(runner, "Sum 2 to 3") == "5");
  std::vector<double> warm;
  std::vector<double> loops;
  for (int i = 0; i < 501; ++i) {
    // Other numbers every time: the shape repeats, the program does not.
    std::string sentence = fmt::format("{} + {}", 1000 + i, 77 * i + 3);
    std::string loop = fmt::format("Sum {} to {}", i, 100 + 2 * i);
    warm.push_back(Seconds([&] { Keep(AnswerByShape(runner, sentence).size()); }));
    loops.push_back(Seconds([&] { Keep(AnswerByShape(runner, loop).size()); }));
  }
  double warm_us = Median(warm) * 1e6;
  double loop_us = Median(loops) * 1e6;
  Report({"words", "ask, repeated shape: an addition", warm_us, "us", "", 0, "<= 100 us",
          warm_us <= 100});
  Report({"words", "ask, repeated shape: a sum loop", loop_us, "us", "", 0, "<= 100 us",
          loop_us <= 100});
}

FRAZIL_FIGURE(cli_start) {
  std::string program = std::filesystem::canonical("/proc/self/exe").parent_path() / "frazil";
  std::vector<double> times;
  for (int i = 0; i < 31; ++i) times.push_back(ProcessSeconds(program));
  double ms = Median(times) * 1e3;
  Report({"cli", "frazil ask \"2+2\", start to answer", ms, "ms", "", 0, "<= 30 ms", ms <= 30});
}

}  // namespace frazil::bench
