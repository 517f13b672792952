// Everything of a call that is not its hot path, and the changes of a slot. Changes copy the chain, put the copy in
// its place and retire the old one; the writer mutex orders them, callers never see it.
#include "dispatch/slot_core.h"

#include <algorithm>
#include <utility>

#include "dispatch/default_run.h"
#include "dispatch/slot.h"
#include "exec/native/native_callable.h"

namespace frazil::dispatch {
namespace {

using Clock = std::chrono::steady_clock;

double NsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// What a pair of clock readings costs: the least of many, measured once.
double ClockNs() {
  static const double least = [] {
    double ns = 1e9;
    for (int i = 0; i < 100; ++i) ns = std::min(ns, NsSince(Clock::now()));
    return ns;
  }();
  return least;
}

constexpr uint32_t DefaultCountdown = 16;
constexpr std::nullptr_t NoForms = nullptr;

uint64_t last_number = 0;  // of a link; under the writer mutex

}  // namespace

constinit const Chain NoChain;

SlotCore::SlotCore(Fluid& fluid, Watcher& watcher, const Limits& limits)
    : counter_at_(TakeCounter()),
      countdown_(DefaultCountdown),
      fluid_(fluid),
      watcher_(watcher),
      depth_(limits.depth),
      memory_bytes_(limits.memory_bytes) {}

SlotCore::~SlotCore() {
  {
    std::lock_guard lock(WriterMutex());
    PublishLocked(NoForms);
  }
  CollectRetired();
  ReleaseCounter(counter_at_);
}

// A thread that has no room yet for this slot's counter, or must not take the hot path.
int32_t SlotCore::CallFirst(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run,
                            Vouched* vouched) {
  ThreadRecord& me = RecordWithCounter(counter_at_);
  --CounterOf(me).left;
  return Counted(me, arguments, results, run, vouched);
}

int32_t SlotCore::CallTimed(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run,
                            Vouched* vouched) {
  return Counted(*hot_record, arguments, results, run, vouched);
}

// The counter is already one less.
int32_t SlotCore::Counted(ThreadRecord& me, const uint64_t* arguments, uint64_t* results,
                          exec::NativeRun* run, Vouched* vouched) {
  CallCounter& counter = CounterOf(me);
  if (counter.period == 0) {
    counter.period = countdown_.load(std::memory_order_relaxed);
    counter.left = static_cast<int32_t>(counter.period) - 1;
  }
  if (counter.left <= 0) return AnswerTimed(me, arguments, results, run, vouched);
  const Answer answer = AnswerCall(me, arguments, results, run, vouched);
  Note(me, answer);
  return answer.status;
}

int32_t SlotCore::AnswerTimed(ThreadRecord& me, const uint64_t* arguments, uint64_t* results,
                              exec::NativeRun* run, Vouched* vouched) {
  CallCounter& counter = CounterOf(me);
  Observation seen;
  seen.calls = static_cast<uint64_t>(static_cast<int64_t>(counter.period) - counter.left);
  seen.misses = counter.missed;
  uint64_t fluid_calls = counter.fluid;
  const CallCounter before = counter;
  // Begun anew before the call: calls of this slot within it count from here on.
  const uint32_t period = countdown_.load(std::memory_order_relaxed);
  counter = {static_cast<int32_t>(period), period, 0, 0};

  const double clock_ns = ClockNs();
  const Clock::time_point start = Clock::now();
  const Answer answer = AnswerCall(me, arguments, results, run, vouched);
  seen.ns = std::max(0.0, NsSince(start) - clock_ns);
  if (answer.status < 0) {
    // It could not be made, so nobody may look at what its arguments point to: the next call is told in its place.
    CounterOf(me) = before;
    CounterOf(me).left = 1;
    return answer.status;
  }

  fluid_calls += !answer.was_solid;
  seen.misses += answer.missed;
  seen.solid_calls = seen.calls - std::min(seen.calls, fluid_calls);
  seen.was_solid = answer.was_solid;
  watcher_.Observe(arguments, seen);
  CollectRetiredIfEasy();
  return answer.status;
}

// The hot path found no chain, its first form may not answer as it is, or this is a call within a solid call.
int32_t SlotCore::CallOther(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run,
                            Vouched* vouched) {
  ThreadRecord& me = *hot_record;
  const Answer answer = AnswerCall(me, arguments, results, run, vouched);
  if (!answer.was_solid || answer.missed) Note(me, answer);
  return answer.status;
}

// The fluid path runs outside: it needs no form, and may run for long or change the slot.
SlotCore::Answer SlotCore::AnswerCall(ThreadRecord& me, const uint64_t* arguments,
                                      uint64_t* results, exec::NativeRun* run, Vouched* vouched) {
  const uint64_t was = me.inside.load(std::memory_order_relaxed);
  const bool is_within = (was & 1) != 0;
  if (!is_within) me.fenced ? EnterFenced(me, was) : Enter(me, was);
  // Sequentially consistent for threads that are fenced.
  const Chain* chain = chain_.load(std::memory_order_seq_cst);
  for (uint32_t i = 0; i < chain->count; ++i) {
    const Link& link = chain->links[i];
    const bool lets_through = vouched == nullptr ? link.guard.LetsThrough(arguments)
                                                 : vouched->Holds(i, link, arguments) &&
                                                       link.parts.of_others.LetsThrough(arguments);
    if (!lets_through) continue;
    const std::optional<int32_t> status =
        link.function.uses_run && run == nullptr
            ? RunsOf(me).Call(link.function, depth_, memory_bytes_, arguments, results)
            : exec::CallNative(link.function, arguments, results, run);
    if (!status) continue;  // no stack can be had that is deep enough
    if (!is_within) Leave(me, was);
    return {*status, true, i > 0};
  }
  const bool has_forms = chain->count > 0;
  if (!is_within) Leave(me, was);
  return {fluid_.Call(arguments, results, run), false, has_forms};
}

// After the call, which may have moved the counters.
void SlotCore::Note(ThreadRecord& me, const Answer& answer) {
  CallCounter& counter = CounterOf(me);
  counter.fluid += !answer.was_solid;
  counter.missed += answer.missed;
  const uint32_t period = countdown_.load(std::memory_order_relaxed);
  if (counter.period <= period || answer.was_solid) return;
  // A slot that was solid has become fluid and wants to hear more often.
  const int32_t sooner = counter.left - static_cast<int32_t>(period);
  if (sooner <= 0) return;
  counter.left -= sooner;
  counter.period -= static_cast<uint32_t>(sooner);
}

void SlotCore::SetCountdown(uint32_t calls) {
  countdown_.store(std::clamp(calls, 1u, static_cast<uint32_t>(INT32_MAX)),
                   std::memory_order_relaxed);
}

// Sequentially consistent: for threads whose entry is a full barrier, this and the look at their records decide.
void SlotCore::PublishLocked(std::unique_ptr<Chain> chain) {
  const bool has_forms = chain != nullptr && chain->count > 0;
  const Chain* old =
      chain_.exchange(has_forms ? chain.release() : &NoChain, std::memory_order_seq_cst);
  if (old != &NoChain) RetireLocked(std::unique_ptr<const Retirable>(old));
}

std::unique_ptr<Chain> SlotCore::CopyWithout(const void* owner) const {
  auto copy = std::make_unique<Chain>();
  const Chain* chain = chain_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < chain->count; ++i) {
    if (chain->links[i].owner.get() != owner) copy->links[copy->count++] = chain->links[i];
  }
  return copy;
}

bool SlotCore::Install(Link link) {
  {
    std::lock_guard lock(WriterMutex());
    if (IsByHand(state())) return false;
    link.number = ++last_number;
    std::unique_ptr<Chain> others = CopyWithout(link.owner.get());
    auto chain = std::make_unique<Chain>();
    chain->links[chain->count++] = std::move(link);
    for (uint32_t i = 0; i < others->count && chain->count < MaxLinks; ++i) {
      chain->links[chain->count++] = std::move(others->links[i]);
    }
    PublishLocked(std::move(chain));
    state_.store(State::Solid, std::memory_order_relaxed);
  }
  CollectRetired();
  return true;
}

bool SlotCore::Retire(const void* owner) {
  {
    std::lock_guard lock(WriterMutex());
    std::unique_ptr<Chain> rest = CopyWithout(owner);
    if (rest->count == chain_.load(std::memory_order_relaxed)->count) return false;
    const bool is_last = rest->count == 0;
    PublishLocked(std::move(rest));
    if (is_last && HasForms(state())) state_.store(State::Fluid, std::memory_order_relaxed);
  }
  CollectRetired();
  return true;
}

void SlotCore::Melt() {
  {
    std::lock_guard lock(WriterMutex());
    PublishLocked(NoForms);
    if (HasForms(state())) state_.store(State::Fluid, std::memory_order_relaxed);
  }
  CollectRetired();
}

bool SlotCore::SetState(State to) {
  {
    std::lock_guard lock(WriterMutex());
    const State from = state();
    if (to == from) return true;
    const bool leaves_by_hand = IsByHand(from) && !(from == State::Frozen && to == State::Banned);
    if (leaves_by_hand || !MayGo(from, to)) return false;
    if (HasForms(to) && !has_forms()) return false;
    if (to == State::Fluid || to == State::Banned) PublishLocked(NoForms);
    state_.store(to, std::memory_order_relaxed);
  }
  CollectRetiredIfEasy();
  return true;
}

bool SlotCore::Unfreeze() {
  std::lock_guard lock(WriterMutex());
  if (state() != State::Frozen) return false;
  state_.store(has_forms() ? State::Solid : State::Fluid, std::memory_order_relaxed);
  return true;
}

bool SlotCore::Unban() {
  std::lock_guard lock(WriterMutex());
  if (state() != State::Banned) return false;
  state_.store(State::Fluid, std::memory_order_relaxed);
  return true;
}

std::vector<std::shared_ptr<const void>> SlotCore::owners() const {
  std::lock_guard lock(WriterMutex());
  std::vector<std::shared_ptr<const void>> owners;
  const Chain* chain = chain_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < chain->count; ++i) owners.push_back(chain->links[i].owner);
  return owners;
}

}  // namespace frazil::dispatch
