// Blocks of 4096 arguments go through the evaluator and then past the judge; threads take turns by
// block.
#include "sweep.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <random>
#include <thread>

#include "evaluator.h"

namespace frazil::bench {
namespace {

constexpr uint64_t Block = 4096;
constexpr uint64_t Samples = 1 << 21;

Result<Score> SweepF32(const Job& job, uint64_t stride, uint64_t thread, uint64_t threads) {
  const std::unique_ptr<Evaluator> evaluator = TRY(MakeEvaluator(job.name, job.target));
  Judge judge(*FindReference(job.op), 300);
  Score score;
  std::vector<float> x(Block);
  std::vector<float> y(Block);
  for (uint64_t block = thread * stride; block < (1ull << 32) / Block; block += threads * stride) {
    for (uint64_t i = 0; i < Block; ++i)
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(block * Block + i));
    const void* inputs[] = {x.data()};
    TRY_VOID(evaluator->Run(inputs, y.data(), Block));
    for (uint64_t i = 0; i < Block; ++i) judge.F32(x[i], y[i], score);
  }
  return score;
}

// Arguments worth trying: random patterns, the function's own range, small magnitudes, edges.
double Sample(std::mt19937_64& random, double lo, double hi) {
  const uint64_t bits = random();
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  switch (random() % 8) {
    case 0:
    case 1: return std::bit_cast<double>(bits);
    case 2: {  // near 0 and near 1
      const double small = std::ldexp(unit + 0.5, -static_cast<int>(bits % 60));
      return bits >> 63 ? small : 1 - small * ((bits >> 62 & 1) ? 1 : -1);
    }
    case 3: {  // near a multiple of pi/4
      const double k = static_cast<double>(bits % 4096) * 0.78539816339744830962;
      return k * (1 + std::ldexp(unit - 0.5, -static_cast<int>(random() % 52)));
    }
    case 4: {
      static constexpr double Edges[] = {
          0.0, 1.0,  2.0,    HUGE_VAL, 0x1p-1074,     0x1p-1022, 0x1.fffffffffffffp1023,
          0.5, 10.0, 1000.0, 0x1p-149, 0x1.fffffep127};
      const double edge = Edges[bits % std::size(Edges)];
      return bits >> 63 ? -edge : edge;
    }
    default: return lo + (hi - lo) * unit;
  }
}

Result<Score> SweepF64(const Job& job, uint64_t stride, uint64_t thread, uint64_t threads) {
  const std::unique_ptr<Evaluator> evaluator = TRY(MakeEvaluator(job.name, job.target));
  const Reference& reference = *FindReference(job.op);
  Judge judge(reference, 160);
  Score score;
  std::vector<double> x(Block);
  std::vector<double> y(Block);
  std::mt19937_64 random(2024 + thread);
  for (uint64_t n = Samples / stride / threads / Block + 1; n > 0; --n) {
    for (double& value : x) value = Sample(random, reference.lo, reference.hi);
    const void* inputs[] = {x.data()};
    TRY_VOID(evaluator->Run(inputs, y.data(), Block));
    for (uint64_t i = 0; i < Block; ++i) judge.F64(x[i], y[i], score);
  }
  return score;
}

// x^y for pairs whose result is mostly finite; one in four pairs is made of edges, small integers
// and halves.
std::pair<double, double> SamplePow(std::mt19937_64& random, double limit) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  if (random() % 4 == 0) {
    static constexpr double Edges[] = {0.0,
                                       1.0,
                                       2.0,
                                       3.0,
                                       0.5,
                                       HUGE_VAL,
                                       0x1p-149,
                                       0x1p-1074,
                                       1.5,
                                       2.5,
                                       10.0,
                                       1e30,
                                       NAN,
                                       7.0,
                                       0x1p52,
                                       0x1.fffffep127,
                                       0x1p24,
                                       0x1p53,
                                       0x1.0000000000001p53,
                                       0x1.fffffep23,
                                       1 + 0x1p-23};
    const uint64_t pick = random();
    const double x = Edges[pick % std::size(Edges)];
    const double y = Edges[(pick >> 16) % std::size(Edges)];
    return {pick >> 62 & 1 ? -x : x, pick >> 63 ? -y : y};
  }
  const double near = std::ldexp(unit - 0.5, -static_cast<int>(random() % 50));
  const double exponent = static_cast<double>(static_cast<int64_t>(random())) * 0x1p-63 * limit;
  const double x = random() % 2 ? 1 + near : std::exp2(exponent * unit);
  const double target =
      static_cast<double>(static_cast<int64_t>(random())) * 0x1p-63 * limit * 1.05;
  double y = target / std::log2(x);
  if (random() % 4 == 0) y = std::nearbyint(y);
  return {random() % 8 == 0 ? -x : x, y};
}

template <typename T>
Result<Score> SweepPow(const Job& job, uint64_t stride, uint64_t thread, uint64_t threads) {
  const std::unique_ptr<Evaluator> evaluator = TRY(MakeEvaluator(job.name, job.target));
  PowJudge judge;
  Score score;
  std::vector<T> x(Block);
  std::vector<T> y(Block);
  std::vector<T> z(Block);
  std::mt19937_64 random(2024 + thread);
  for (uint64_t n = Samples / stride / threads / Block + 1; n > 0; --n) {
    for (uint64_t i = 0; i < Block; ++i) {
      const auto [a, b] = SamplePow(random, sizeof(T) == 4 ? 149 : 1074);
      x[i] = static_cast<T>(a);
      y[i] = static_cast<T>(b);
    }
    const void* inputs[] = {x.data(), y.data()};
    TRY_VOID(evaluator->Run(inputs, z.data(), Block));
    for (uint64_t i = 0; i < Block; ++i) {
      if constexpr (sizeof(T) == 4) {
        judge.F32(x[i], y[i], z[i], score);
      } else {
        judge.F64(x[i], y[i], z[i], score);
      }
    }
  }
  return score;
}

Result<Score> Sweep(const Job& job, uint64_t stride, uint64_t thread, uint64_t threads) {
  if (job.op == "pow") {
    return job.narrow ? SweepPow<float>(job, stride, thread, threads)
                      : SweepPow<double>(job, stride, thread, threads);
  }
  return job.narrow ? SweepF32(job, stride, thread, threads)
                    : SweepF64(job, stride, thread, threads);
}

// What docs/prelude.md promises. f32 functions of one argument are correctly rounded; the fast forms
// have bounds of their own.
double BoundOf(const std::string& name) {
  if (name == "exp.fast.f32" || name == "log.fast.f32") return 1.5;
  if (name == "tanh.fast.f32" || name == "sigmoid.fast.f32") return 3;
  if (name == "pow.f64") return 2;
  return name.ends_with(".f32") && name != "pow.f32" ? 0.5 : 1;
}

}  // namespace

Job MakeJob(const std::string& name, const std::string& target) {
  std::string op = name.substr(0, name.rfind('.'));
  if (op.ends_with(".fast")) op.resize(op.size() - 5);
  return Job{name, op, target, name.ends_with(".f32"), BoundOf(name)};
}

std::vector<std::string> AllFunctions() {
  std::vector<std::string> names;
  for (const char* type : {".f32", ".f64"}) {
    for (const Reference& row : References()) names.push_back(std::string(row.op) + type);
    names.push_back(std::string("pow") + type);
  }
  for (const char* op : {"exp", "log", "tanh", "sigmoid"})
    names.push_back(std::string(op) + ".fast.f32");
  return names;
}

Result<Score> Measure(const Job& job, uint64_t stride, uint64_t threads) {
  if (job.op != "pow" && FindReference(job.op) == nullptr) {
    return Fail(Diag::UnknownSymbol, "there is no reference for " + job.name);
  }
  Score total;
  Result<void> failure;
  std::mutex mutex;
  std::vector<std::thread> workers;
  for (uint64_t thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      Result<Score> score = Sweep(job, stride, thread, threads);
      const std::lock_guard lock(mutex);
      if (score) {
        total.Add(*score);
      } else {
        failure = std::unexpected(score.error());
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  TRY_VOID(failure);
  return total;
}

}  // namespace frazil::bench
