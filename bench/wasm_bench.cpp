// The WASM target: loops of 10^9 iterations against the same loops compiled natively, and what a
// small program costs from text to answer. The native loops are in this file, which is compiled
// with optimization; each is one that the compiler cannot replace by a formula.
#include <fmt/format.h>

#include <algorithm>

#include <bit>
#include <string>

#include "harness.h"
#include "ir/text/text.h"
#include "targets/wasm/wasm.h"

namespace frazil::bench {
namespace {

constexpr int64_t Iterations = 1'000'000'000;

__attribute__((noinline)) uint64_t NativeMix(int64_t n) {
  uint64_t acc = 0;
  for (int64_t i = 0; i < n; ++i) acc += static_cast<uint64_t>(i) ^ acc;
  return acc;
}

__attribute__((noinline)) uint64_t NativeShift(int64_t n) {
  uint64_t acc = 1;
  for (int64_t i = 0; i < n; ++i) {
    acc ^= acc << 13;
    acc ^= acc >> 7;
    acc ^= acc << 17;
  }
  return acc;
}

__attribute__((noinline)) uint64_t NativeFloatSum(int64_t n) {
  double acc = 0;
  for (int64_t i = 0; i < n; ++i) acc += static_cast<double>(i);
  return std::bit_cast<uint64_t>(acc);
}

struct Loop {
  const char* name;
  const char* type;
  const char* initial;
  const char* body;
  uint64_t (*native)(int64_t);
};

constexpr Loop Loops[] = {
    {"integers", "i64", "0", "    %x = xor %i, %acc : i64\n    %next = add %acc, %x : i64\n",
     NativeMix},
    {"shifts", "u64", "1",
     "    %a = shl %acc, %k13 : u64\n    %b = xor %acc, %a : u64\n    %c = shr %b, %k7 : u64\n"
     "    %d = xor %b, %c : u64\n    %e = shl %d, %k17 : u64\n    %next = xor %d, %e : u64\n",
     NativeShift},
    {"f64 sum", "f64", "0", "    %x = cast %i : f64\n    %next = add %acc, %x : f64\n",
     NativeFloatSum},
};

std::string TextOf(const Loop& loop) {
  return fmt::format(
      "frz 1\nfunc @main(%n: i64) -> ({0}) {{\n  %zero = const 0 : i64\n  %start = const {1} : "
      "{0}\n"
      "  %k13 = const 13 : u64\n  %k7 = const 7 : u64\n  %k17 = const 17 : u64\n"
      "  %r = for %i = %zero to %n step 1 carry (%acc = %start) {{\n{2}    yield %next\n  }}\n  "
      "return %r\n}}\n",
      loop.type, loop.initial, loop.body);
}

Record Failed(std::string figure, std::string goal, std::string reason) {
  Record record;
  record.area = "wasm";
  record.figure = std::move(figure);
  record.goal = std::move(goal);
  record.reason = std::move(reason);
  return record;
}

Result<std::unique_ptr<exec::Callable>> LoadText(const std::string& text) {
  ir::Program program = TRY(ir::ParseText(text));
  auto target = targets::wasm::MakeWasmTarget();
  return target->Load(TRY(target->Emit(program)));
}

void ReportLoop(const Loop& loop) {
  std::string figure = fmt::format("loop of 10^9 iterations, {}", loop.name);
  std::string goal = "<= 1.5 x native";
  auto callable = LoadText(TextOf(loop));
  if (!callable) return Report(Failed(figure, goal, callable.error().ToString()));
  exec::Value n = exec::Value::Int(ir::types::I64, Iterations);
  uint64_t ours = 0, native = 0;
  std::vector<Times> times =
      Interleave({[&] {
                    auto outcome = (*callable)->Run(std::span(&n, 1), {});
                    ours = outcome && !outcome->trap ? outcome->results[0].word : 0;
                  },
                  [&] { native = loop.native(Iterations); }},
                 3);
  if (ours != native) return Report(Failed(figure, goal, "the answers differ"));
  double ratio = times[0].min_s / times[1].min_s;
  Report({.area = "wasm",
          .figure = figure,
          .ours = times[0].min_s,
          .unit = "s",
          .peer = "native",
          .peer_value = times[1].min_s,
          .goal = goal,
          .met = ratio <= 1.5});
}

constexpr const char* Small =
    "frz 1\nfunc @main() -> (i32) {\n  %a = const 50 : i32\n  %b = const 15 : i32\n"
    "  %c = sub %a, %b : i32\n  return %c\n}\n";

}  // namespace

// In a process of its own: the library and the engine are opened there. Less than nothing: it did not run.
FRAZIL_PROBE(cold_wasm) {
  bool fine = false;
  const double seconds = Seconds([&] {
    auto callable = LoadText(Small);
    auto outcome = callable ? (*callable)->Run({}, {})
                            : Result<exec::Outcome>(std::unexpected(callable.error()));
    fine = outcome && outcome->results[0].word == 35;
  });
  return fine ? seconds : -1;
}

FRAZIL_FIGURE(wasm_cold) {
  std::vector<double> cold;
  for (int i = 0; i < 21; ++i) cold.push_back(FreshProcess("cold_wasm"));
  std::ranges::sort(cold);
  std::string goal = "<= 2 ms";
  if (cold.front() < 0)
    return Report(Failed("small program, text to answer, cold", goal, "it did not run"));
  const double seconds = cold[cold.size() / 2];
  Report({.area = "wasm",
          .figure = "small program, text to answer, cold",
          .ours = seconds * 1e3,
          .unit = "ms",
          .goal = goal,
          .met = seconds <= 2e-3});
}

FRAZIL_FIGURE(wasm_repeated) {
  std::string goal = "<= 100 us";
  auto callable = LoadText(Small);
  if (!callable) return Report(Failed("the same program again", goal, callable.error().ToString()));
  constexpr int Runs = 10'000;
  std::vector<Times> times = Interleave({[&] {
                                          for (int i = 0; i < Runs; ++i)
                                            Keep((*callable)->Run({}, {}));
                                        }},
                                        5);
  double each = times[0].median_s / Runs;
  Report({.area = "wasm",
          .figure = "the same program again",
          .ours = each * 1e6,
          .unit = "us",
          .goal = goal,
          .met = each <= 100e-6});
}

FRAZIL_FIGURE(wasm_loops) {
  for (const Loop& loop : Loops) ReportLoop(loop);
}

}  // namespace frazil::bench
