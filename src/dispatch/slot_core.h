// The mechanism of a slot, without regard to who vouches for the code: one cache line with an atomic pointer to an
// immutable chain of {guard, entry}. Private to dispatch/: the door is dispatch/slot.h, and only verified forms pass.
//
// A call, while the first form's guard holds: the thread's record; its counter for this slot, one less; the record's
// number odd; one acquire load; the guard; the code; the number even. Everything else is out of line. A call whose buffers
// were looked at before (dispatch/launch_record.h) tests of the guard what is not about buffers.
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
#include "exec/native/native_code.h"

namespace frazil::dispatch {

class Fluid;
class Watcher;

// One form of a chain.
struct Link {
  Link() = default;
  // `its_parts`: of the guard; without them calls that bring a record test all of it.
  Link(const exec::NativeFunction& its_function, FlatGuard its_guard,
       std::shared_ptr<const void> its_owner, FlatGuard::Parts its_parts)
      : function(its_function),
        waits(its_guard.has_more() || function.uses_run || !function.stack.is_small()),
        guard(std::move(its_guard)),
        owner(std::move(its_owner)),
        waits_recorded(its_parts.of_others.has_more() || function.uses_run ||
                       !function.stack.is_small()),
        parts(std::move(its_parts)) {}
  Link(const exec::NativeFunction& its_function, FlatGuard its_guard,
       std::shared_ptr<const void> its_owner)
      : Link(its_function, its_guard, std::move(its_owner), {its_guard, its_guard}) {}

  exec::NativeFunction function;
  // Not for the hot path: the guard has more tests, the code uses a run, or its stack must be looked at.
  bool waits = true;
  FlatGuard guard;
  std::shared_ptr<const void> owner;  // keeps the code mapped; names the form
  // For calls that bring a record.
  bool waits_recorded = true;
  uint64_t number = 0;  // given by Install; no other link of this process ever has it
  FlatGuard::Parts parts;
};

constexpr uint32_t MaxLinks = 4;

// What was found out about the buffers of a call's words, by place in a chain: for which link, by its number, and
// whether its tests of buffers hold. Numbers are never used again, so nothing said of a form that is gone is ever taken for
// one about another. Of words that do not change: whoever changes a buffer forgets all of it. Any thread.
class Vouched {
 public:
  bool Holds(uint32_t place, uint64_t number) const {
    return said_[place].load(std::memory_order_relaxed) == 2 * number + 1;
  }
  bool Holds(uint32_t place, const Link& link, const uint64_t* words) {
    const uint64_t said = said_[place].load(std::memory_order_relaxed);
    if (link.number != 0 && said / 2 == link.number) return (said & 1) != 0;
    const bool holds = link.parts.of_buffers.Holds(words);
    said_[place].store(2 * link.number + holds, std::memory_order_relaxed);
    return holds;
  }
  void Forget() {
    for (std::atomic<uint64_t>& said : said_) said.store(0, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<uint64_t>, MaxLinks> said_ = {};  // 2 * number + holds
};

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
    return CallIf(arguments, results, run, nullptr, [&](const Link& first) {
      return !first.waits && first.guard.QuickHolds(arguments);
    });
  }
  // `vouched` is of these arguments.
  int32_t CallVouched(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run,
                      Vouched& vouched) {
    return CallIf(arguments, results, run, &vouched, [&](const Link& first) {
      return !first.waits_recorded && vouched.Holds(0, first.number) &&
             first.parts.of_others.QuickHolds(arguments);
    });
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

  // The hot path; `may` is asked of the first link.
  template <typename May>
  [[gnu::always_inline]] int32_t CallIf(const uint64_t* arguments, uint64_t* results,
                                        exec::NativeRun* run, Vouched* vouched, const May& may) {
    ThreadRecord& me = *hot_record;
    if (counter_at_ >= me.counter_bytes) [[unlikely]]
      return CallFirst(arguments, results, run, vouched);
    if (--CounterOf(me).left <= 0) [[unlikely]]
      return CallTimed(arguments, results, run, vouched);
    const uint64_t was = me.inside.load(std::memory_order_relaxed);
    if (was & 1) [[unlikely]]
      return CallOther(arguments, results, run, vouched);
    Enter(me, was);
    const Link& first = chain_.load(std::memory_order_acquire)->links[0];
    if (may(first)) [[likely]] {
      const int32_t status = first.function.entry(arguments, results, run);
      Leave(me, was);
      return status;
    }
    Leave(me, was);
    return CallOther(arguments, results, run, vouched);
  }

  struct Answer {
    int32_t status;
    bool was_solid;
    bool missed;
  };
  // `vouched` is null for a call without a record.
  int32_t CallFirst(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run,
                    Vouched* vouched);
  int32_t CallTimed(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run,
                    Vouched* vouched);
  int32_t CallOther(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run,
                    Vouched* vouched);
  int32_t Counted(ThreadRecord& me, const uint64_t* arguments, uint64_t* results,
                  exec::NativeRun* run, Vouched* vouched);
  int32_t AnswerTimed(ThreadRecord& me, const uint64_t* arguments, uint64_t* results,
                      exec::NativeRun* run, Vouched* vouched);
  Answer AnswerCall(ThreadRecord& me, const uint64_t* arguments, uint64_t* results,
                    exec::NativeRun* run, Vouched* vouched);
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
