// Native code for benchmarks: a program compiled for this machine and called by its entry, and times of the thread's
// processor, which a busy machine disturbs less than the clock on the wall.
#pragma once

#include <time.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "base/check.h"
#include "exec/native/native_code.h"
#include "exec/native/native_run.h"
#include "harness.h"
#include "targets/native/native.h"

namespace frazil::bench {

inline std::shared_ptr<const exec::NativeCode> Compile(const ir::Program& program) {
  Result<exec::NativeImage> image = targets::native::EmitImage(program);
  CHECK(image.has_value());
  Result<std::shared_ptr<const exec::NativeCode>> code = exec::NativeCode::Map(*image);
  CHECK(code.has_value());
  return *code;
}

inline double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Round by round, each function as often as takes about `span` seconds; seconds of one call.
inline std::vector<Times> InterleaveCpu(const std::vector<std::function<void()>>& functions,
                                        int rounds, double span) {
  std::vector<size_t> calls;
  for (const auto& function : functions) {
    function();
    size_t count = 1;
    for (;;) {
      const double start = ThreadSeconds();
      for (size_t i = 0; i < count; ++i) function();
      const double took = ThreadSeconds() - start;
      if (took >= span / 4 || count >= (size_t{1} << 24)) {
        count = std::max<size_t>(
            1, static_cast<size_t>(static_cast<double>(count) * span / std::max(took, 1e-9)));
        break;
      }
      count *= 4;
    }
    calls.push_back(count);
  }
  std::vector<std::vector<double>> samples(functions.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t f = 0; f < functions.size(); ++f) {
      const double start = ThreadSeconds();
      for (size_t i = 0; i < calls[f]; ++i) functions[f]();
      samples[f].push_back((ThreadSeconds() - start) / static_cast<double>(calls[f]));
    }
  std::vector<Times> times;
  for (auto& list : samples) {
    std::sort(list.begin(), list.end());
    times.push_back({list.front(), list[list.size() / 2]});
  }
  return times;
}

// Memory at an address that suits every vector.
class Floats {
 public:
  explicit Floats(size_t count)
      : count_(count),
        data_(static_cast<float*>(std::aligned_alloc(64, (count * 4 + 4159) / 64 * 64))) {
    CHECK(data_ != nullptr);
    for (size_t i = 0; i < count; ++i)
      data_[i] = static_cast<float>(static_cast<int>(i * 2654435761u >> 20) - 2048) / 2048.0f;
  }
  ~Floats() { std::free(data_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* data() { return data_; }
  size_t size() const { return count_; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data_); }

 private:
  size_t count_;
  float* data_;
};

}  // namespace frazil::bench
