// Who is inside a slot right now, told without a fence or a read-modify-write; and each thread's counters.
//
// A thread owns a record. Its `inside` is odd while the thread is inside a chain of forms. Whoever takes a chain out
// of a slot makes every thread pass a barrier (membarrier) and then looks at the records: a thread that was not
// inside then cannot see the old chain any more, and one that was has left it as soon as its number has changed. So
// a thread that rarely or never calls again holds nothing up; a call that is still running holds up only its freeing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/system/fork.h"

namespace frazil::dispatch {

// Of one thread on one slot.
struct CallCounter {
  int32_t left = 0;     // calls until the watcher is told
  uint32_t period = 0;  // what `left` began with; 0: not begun
  uint32_t fluid = 0;   // calls since that were not solid
  uint32_t missed = 0;  // calls since that the first form's guard let through
};

class DefaultRuns;

// Only its thread writes it, except under the mutex while the thread is known to be elsewhere. A record outlives its
// thread and is given to a later one with its counters, so that short-lived threads count as well.
struct alignas(64) ThreadRecord {
  std::atomic<uint64_t> inside{0};
  std::byte* counters = nullptr;  // CallCounters by slot, in bytes to spare the hot path a shift
  uint32_t counter_bytes = 0;
  bool fenced = false;  // without membarrier: every entry is a full barrier
  bool in_use = false;
  DefaultRuns* runs = nullptr;  // for calls that bring no run of their own
};

// For threads that have no record yet, and for those that must not take the hot path: it has no counters.
extern ThreadRecord NoRecord;
// initial-exec: eight bytes of static TLS spare every call a function call where Frazil is in a shared library.
extern thread_local constinit ThreadRecord* hot_record __attribute__((tls_model("initial-exec")));

// `inside` was even: the caller has looked. A call within a call needs neither, its thread being inside already.
inline void Enter(ThreadRecord& me, uint64_t was) {
  me.inside.store(was + 1, std::memory_order_relaxed);
  // The compiler must not move the load of the chain up; against the processor there is membarrier.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void Leave(ThreadRecord& me, uint64_t was) {
  me.inside.store(was + 2, std::memory_order_release);
}
// For threads without membarrier.
void EnterFenced(ThreadRecord& me, uint64_t was);

// This thread's record, with room for the slot's counter.
ThreadRecord& RecordWithCounter(uint32_t counter_at);

// A place among the counters of every thread, for each slot that lives. Releasing it clears it in every record.
uint32_t TakeCounter();
void ReleaseCounter(uint32_t counter_at);

// One mutex for all who change slots: changes are rare.
ForkMutex& WriterMutex();

// Something that threads may still be using.
class Retirable {
 public:
  virtual ~Retirable() = default;
};
// To be called with the writer mutex held, after the last pointer to it was replaced (sequentially consistent).
void RetireLocked(std::unique_ptr<const Retirable> object);

// Frees what no thread can be inside of any more. Any thread, also from within a call.
void CollectRetired();
// The same, unless somebody else is at it or there is nothing to free: never waits.
void CollectRetiredIfEasy();
// How many objects wait to be freed.
size_t RetiredCount();
// Waits until every call that is under way has left its slot (calls of this thread excepted) and frees what can be
// freed. False: it took longer.
bool Quiesce(std::chrono::milliseconds longest);

// Chosen once, when the first slot is made: false where the kernel has no membarrier.
bool HasMembarrier();
// For tests: threads that get their record from now on behave as without membarrier.
void PretendNoMembarrier(bool pretend);

}  // namespace frazil::dispatch
