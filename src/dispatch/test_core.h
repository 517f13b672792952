// Shared by the tests of the mechanism: a fluid path and a watcher that count, and forms without a verifier.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "dispatch/slot.h"
#include "dispatch/slot_core.h"
#include "ir/text/text.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FRAZIL_UNDER_TSAN 1
#endif
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define FRAZIL_UNDER_SANITIZER 1
#endif
#endif

namespace frazil::dispatch {

class SlotCoreTester {
 public:
  static bool Install(SlotCore& core, Link link) { return core.Install(std::move(link)); }
  static SlotCore& CoreOf(Slot& slot) { return slot.core_; }
};

class CountingFluid final : public Fluid {
 public:
  int32_t Call(const uint64_t*, uint64_t* results, exec::NativeRun*) override {
    calls.fetch_add(1, std::memory_order_relaxed);
    if (results != nullptr) results[0] = Mark;
    return 0;
  }
  static constexpr uint64_t Mark = 0xf1d;
  std::atomic<uint64_t> calls{0};
};

class CountingWatcher final : public Watcher {
 public:
  void Observe(const uint64_t*, const Observation& seen) override {
    told.fetch_add(1);
    calls.fetch_add(seen.calls);
    solid_calls.fetch_add(seen.solid_calls);
    misses.fetch_add(seen.misses);
    last = seen;
  }
  std::atomic<uint64_t> told{0}, calls{0}, solid_calls{0}, misses{0};
  thread_local static inline Observation last;
};

// The core of a slot for a program, with a fluid path and a watcher.
struct CoreBed {
  explicit CoreBed(std::string_view text) : program(*ir::ParseText(text)) {}

  ir::Program program;
  CountingFluid fluid;
  CountingWatcher watcher;
  SlotCore core{fluid, watcher};
};

}  // namespace frazil::dispatch
