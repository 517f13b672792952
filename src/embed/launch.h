// Checked launches of embedded kernels. The functions that generated headers declare do the usual checks in line, in a
// form that may be too strict and is never too lax; whatever is not plainly right, and every launch that is large enough
// for several threads, comes here, where the tables of the descriptor are read and the last word is spoken.
#pragma once

#include <cstdint>
#include <span>

#include "base/launch_config.h"
#include "base/system/thread_pool.h"
#include "embed/kernel.h"
#include "embed/status.h"

namespace frazil::embed {

// For kernels that ask for lanes, or that know blocks.
using frazil::Dim3;
using frazil::LaunchConfig;

// A launch of fewer picoseconds than this stays on its thread. Waking another and waiting for it costs about 0.3 us while
// it is awake (bench: launch); ten times that keeps two threads from ever being slower than one.
constexpr uint64_t ForkPicoseconds = 5'000'000;

// A run for launches on this thread: made once, and as good as new after every launch. Null: no memory.
extern constinit thread_local NativeRun* thread_run;
NativeRun* MakeThreadRun() noexcept;
inline NativeRun* ThreadRun() noexcept {
  NativeRun* run = thread_run;
  return run != nullptr ? run : MakeThreadRun();
}

enum class Extents : uint8_t { Given, Derived };

// Every rule of a launch; `words` are complete.
Status Check(const KernelData& kernel, const uint64_t* words, Extents extents) noexcept;
// Check, then Run.
Status Launch(const KernelData& kernel, const uint64_t* words, uint64_t* results,
              Extents extents) noexcept;
// Without checks: on the threads that pay. Right for all arguments unless the kernel itself has a guard.
Status Run(const KernelData& kernel, const uint64_t* words, uint64_t* results) noexcept;
// What a status other than 0 means, and the run made ready again.
Status Trapped(const KernelData& kernel, int32_t status, NativeRun* run) noexcept;
// The form for these words, whose launch was checked: the kernel, or what it has for launches under a guard.
const KernelData& FormFor(const KernelData& kernel, const uint64_t* words) noexcept;
// What a generated function calls until it knows its entry, which is what it gets back here: that of the form under a guard
// where there is one, because the function's own tests include the guard.
NativeEntry FindEntry(const KernelData& kernel) noexcept;
// A launch that was refused for its configuration.
Status Refused(const KernelData& kernel, LaunchError error) noexcept;

// Estimated picoseconds of a launch.
double WorkOf(const KernelData& kernel, const uint64_t* words) noexcept;

// The ranged form in pieces, on a pool. What the judge of generated code runs too, hence without a descriptor.
struct RangedCall {
  NativeEntry entry = nullptr;
  bool uses_run = true;
  const uint64_t* words = nullptr;
  uint32_t word_count = 0;
  int64_t trips = 0;
  int64_t grain = 1;
};
struct TrapRecord {
  int32_t status = 0;
  uint32_t op = 0;
  int64_t index = -1;
};
// Status 0, or the trap of the lowest iteration.
TrapRecord RunPieces(const RangedCall& call, ThreadPool& pool) noexcept;

// --- what generated functions use -------------------------------------------------------------------------

using frazil::FromWord;
using frazil::WordOf;

template <typename T>
inline uint64_t AddressOf(std::span<T> buffer) {
  return reinterpret_cast<uint64_t>(buffer.data());
}

// The tests of a generated function are numbers, 0 where all is plainly well, combined by `or`: no branch lies between
// them. They may be too strict, as with an empty buffer at address 0; Launch knows better.
inline uint64_t Is(bool test) { return static_cast<uint64_t>(test); }
// Memory of two buffers, one of them written, that is neither apart nor, where types agree, the same.
inline uint64_t IsNear(uint64_t a, uint64_t bytes_a, uint64_t b, uint64_t bytes_b, bool same_type) {
  const uint64_t distance = a - b;
  const uint64_t both = bytes_a + bytes_b;
  const uint64_t other = same_type ? distance | (bytes_a ^ bytes_b) : 1;
  // Apart: distance <= -bytes_a or distance >= bytes_b, as one comparison.
  return Is(distance + bytes_a - 1 < both - Is(both != 0)) & Is(other != 0);
}

}  // namespace frazil::embed
