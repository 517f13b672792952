// The mechanism of a slot, without regard to who vouches for the code: one cache line with an atomic pointer to an
// immutable chain of {guard, entry}. Private to dispatch/: the door is dispatch/slot.h, and only verified forms pass.
//
// A call, while the first form's guard holds: the thread's record; its counter for this slot, one less; the record's
// number odd; one acquire load; the guard; the code; the number even. Everything else is out of line.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "dispatch/flat_guard.h"
#include "dispatch/state.h"
#include "dispatch/threads.h"
#include "exec/native_code.h"

namespace frazil::dispatch {

class Fluid;
class Watcher;

// One form of a chain.
struct Link {
  Link() = default;
  Link(const exec::NativeFunction& its_function, FlatGuard its_guard,
       std::shared_ptr<const void> its_owner)
      : function(its_function),
        waits(its_guard.has_more() || function.uses_run || !function.stack.is_small()),
        guard(std::move(its_guard)),
        owner(std::move(its_owner)) {}

  exec::NativeFunction function;
  // Not for the hot path: the guard has more tests, the code uses a run, or its stack must be looked at.
  bool waits = true;
  FlatGuard guard;
  std::shared_ptr<const void> owner;  // keeps the code mapped; names the form
};

constexpr uint32_t MaxLinks = 4;

struct Chain final : Retirable {
  std::array<Link, MaxLinks> links;
  uint32_t count = 0;
};
// Of every slot without forms; never freed. Its first link waits, so that the hot path need not ask for null.
extern const Chain NoChain;

class alignas(64) SlotCore {
 public:
  SlotCore(Fluid& fluid, Watcher& watcher, const Limits& limits = {});
  ~SlotCore();
  SlotCore(const SlotCore&) = delete;
  SlotCore& operator=(const SlotCore&) = delete;

  int32_t Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) {
    ThreadRecord& me = *hot_record;
    if (counter_at_ >= me.counter_bytes) [[unlikely]]
      return CallFirst(arguments, results, run);
    if (--CounterOf(me).left <= 0) [[unlikely]]
      return CallTimed(arguments, results, run);
    const uint64_t was = me.inside.load(std::memory_order_relaxed);
    if (was & 1) [[unlikely]]
      return CallOther(arguments, results, run);
    Enter(me, was);
    const Link& first = chain_.load(std::memory_order_acquire)->links[0];
    if (!first.waits && first.guard.QuickHolds(arguments)) [[likely]] {
      const int32_t status = first.function.entry(arguments, results, run);
      Leave(me, was);
      return status;
    }
    Leave(me, was);
    return CallOther(arguments, results, run);
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
  int32_t CallOther(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run);
  int32_t Counted(ThreadRecord& me, const uint64_t* arguments, uint64_t* results,
                  exec::NativeRun* run);
  int32_t AnswerTimed(ThreadRecord& me, const uint64_t* arguments, uint64_t* results,
                      exec::NativeRun* run);
  Answer AnswerCall(ThreadRecord& me, const uint64_t* arguments, uint64_t* results,
                    exec::NativeRun* run);
  CallCounter& CounterOf(ThreadRecord& me) const {
    return *reinterpret_cast<CallCounter*>(me.counters + counter_at_);
  }
  void Note(ThreadRecord& me, const Answer& answer);
  void PublishLocked(std::unique_ptr<Chain> chain);
  bool has_forms() const { return chain_.load(std::memory_order_relaxed) != &NoChain; }
  std::unique_ptr<Chain> CopyWithout(const void* owner) const;

  std::atomic<const Chain*> chain_{&NoChain};
  uint32_t counter_at_;  // in bytes from the beginning of a thread's counters
  std::atomic<uint32_t> countdown_;
  Fluid& fluid_;
  Watcher& watcher_;
  uint64_t depth_, memory_bytes_;  // of calls that bring no run
  std::atomic<State> state_{State::Fluid};
};
static_assert(sizeof(SlotCore) == 64);

}  // namespace frazil::dispatch
