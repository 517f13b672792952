// The mechanism of a slot, without regard to who vouches for the code: one cache line with an atomic pointer to an
// immutable chain of {guard, entry}. Private to dispatch/: dispatch/slot.h is the door, and only verified forms pass it.
//
// A call, while the first form's guard holds: the thread's record; its counter for this slot, one less; the record's
// number odd; one acquire load; the guard; the code; the number even. Everything else is out of line.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "dispatch/flat_guard.h"
#include "dispatch/state.h"
#include "dispatch/threads.h"
#include "exec/native_code.h"

namespace frazil::dispatch {

class Fluid;
class Watcher;

// One form of a chain.
struct Link {
  exec::NativeEntry entry = nullptr;
  bool uses_run = true;
  FlatGuard guard;
  std::shared_ptr<const void> owner;  // keeps the code mapped; names the form
};

constexpr uint32_t MaxLinks = 4;

struct Chain final : Retirable {
  uint32_t count = 0;
  std::array<Link, MaxLinks> links;
};

class alignas(64) SlotCore {
 public:
  SlotCore(Fluid& fluid, Watcher& watcher);
  ~SlotCore();
  SlotCore(const SlotCore&) = delete;
  SlotCore& operator=(const SlotCore&) = delete;

  int32_t Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) {
    ThreadRecord& me = *hot_record;
    if (index_ >= me.capacity) [[unlikely]] return CallFirst(arguments, results, run);
    if (--me.counters[index_].left <= 0) [[unlikely]] return CallTimed(arguments, results, run);
    const uint64_t was = Enter(me);
    const Chain* chain = chain_.load(std::memory_order_acquire);
    if (chain != nullptr) [[likely]] {
      const Link& first = chain->links[0];
      const bool lacks_run = first.uses_run & (run == nullptr);
      if (!lacks_run & first.guard.Holds(arguments)) [[likely]] {
        const int32_t status = first.entry(arguments, results, run);
        Leave(me, was);
        return status;
      }
    }
    return CallOther(me, was, chain, arguments, results, run);
  }

  State state() const { return state_.load(std::memory_order_relaxed); }
  bool SetState(State to);
  bool Unfreeze();
  bool Unban();
  void SetCountdown(uint32_t calls);

  bool Retire(const void* owner);
  void Melt();
  std::vector<std::shared_ptr<const void>> owners() const;

 private:
  friend class Slot;            // which takes verified forms only
  friend class SlotCoreTester;  // of tests and benchmarks of the mechanism alone
  bool Install(Link link);

  struct Answer {
    int32_t status;
    bool was_solid;
    bool missed;
  };
  int32_t CallFirst(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run);
  int32_t CallTimed(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run);
  int32_t CallOther(ThreadRecord& me, uint64_t was, const Chain* chain, const uint64_t* arguments,
                    uint64_t* results, exec::NativeRun* run);
  int32_t Counted(ThreadRecord& me, const uint64_t* arguments, uint64_t* results, exec::NativeRun* run);
  Answer AnswerCall(ThreadRecord& me, uint64_t was, const Chain* chain, const uint64_t* arguments,
                    uint64_t* results, exec::NativeRun* run);
  Answer AnswerWhole(ThreadRecord& me, const uint64_t* arguments, uint64_t* results, exec::NativeRun* run);
  int32_t AnswerTimed(CallCounter& counter, ThreadRecord& me, const uint64_t* arguments, uint64_t* results,
                      exec::NativeRun* run);
  void Note(ThreadRecord& me, const Answer& answer);
  void PublishLocked(std::unique_ptr<Chain> chain);
  std::unique_ptr<Chain> CopyWithout(const void* owner) const;

  std::atomic<const Chain*> chain_{nullptr};
  uint32_t index_;
  std::atomic<uint32_t> countdown_;
  Fluid& fluid_;
  Watcher& watcher_;
  std::atomic<State> state_{State::Fluid};
};
static_assert(sizeof(SlotCore) == 64);

}  // namespace frazil::dispatch
