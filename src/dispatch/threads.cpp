// Records of threads and what they hold up. One object, made with the first slot and never destroyed: threads may
// end after the static destructors have run.
//
// fork: the child has one thread. All other records are free again there, since nobody is inside any more. What was
// retired is freed there as anywhere.
#include "dispatch/threads.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/deadline.h"
#include "dispatch/default_run.h"

namespace frazil::dispatch {

constinit ThreadRecord NoRecord;
thread_local constinit ThreadRecord* hot_record = &NoRecord;

namespace {

// The record of a thread, whether or not it may take the hot path.
thread_local constinit ThreadRecord* own_record = nullptr;

// Objects retired together, and the threads that were inside then, with their numbers.
struct Batch {
  std::vector<std::unique_ptr<const Retirable>> objects;
  std::vector<std::pair<const ThreadRecord*, uint64_t>> waits_for;
};

struct Domain {
  ForkMutex mutex;
  std::vector<ThreadRecord*> records;
  std::vector<std::unique_ptr<const Retirable>> fresh;  // retired, and no barrier since
  std::vector<Batch> batches;
  std::atomic<size_t> retired{0};
  std::vector<uint32_t> free_counters;
  uint32_t next_counter = 0;
  pthread_key_t key{};
  bool membarrier = false;
  std::atomic<bool> pretend_none{false};
  AfterFork after_fork;

  Domain();
};

Domain& TheDomain() {
  static Domain* domain = new Domain;
  return *domain;
}

bool Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

void ForgetThread(void* record) {
  Domain& domain = TheDomain();
  hot_record = &NoRecord;
  own_record = nullptr;
  std::lock_guard lock(domain.mutex);
  auto& ended = *static_cast<ThreadRecord*>(record);
  // Even for a thread that ended within a call: it runs no code any more.
  const uint64_t inside = ended.inside.load();
  ended.inside.store(inside + (inside & 1));
  ended.in_use = false;
}

void BeginAgain(Domain& domain) {
  for (ThreadRecord* record : domain.records) {
    if (record == own_record) continue;
    record->inside.store(record->inside.load() & ~uint64_t{1});
    record->in_use = false;
  }
  for (Batch& batch : domain.batches) {
    std::erase_if(batch.waits_for, [](const auto& wait) { return wait.first != own_record; });
  }
  if (domain.membarrier) domain.membarrier = Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

Domain::Domain() : after_fork([this] { BeginAgain(*this); }) {
  membarrier = Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  // A key and no thread_local object: its destructor runs after those of all thread_local objects, which may call.
  CHECK(pthread_key_create(&key, ForgetThread) == 0);
}

ThreadRecord& OwnRecord() {
  if (own_record != nullptr) return *own_record;
  Domain& domain = TheDomain();
  std::lock_guard lock(domain.mutex);
  auto free = std::ranges::find_if(domain.records,
                                   [](const ThreadRecord* record) { return !record->in_use; });
  if (free == domain.records.end()) {
    domain.records.push_back(new ThreadRecord);
    free = std::prev(domain.records.end());
  }
  ThreadRecord& record = **free;
  record.in_use = true;
  record.fenced = !domain.membarrier || domain.pretend_none.load();
  own_record = &record;
  if (!record.fenced) hot_record = &record;
  pthread_setspecific(domain.key, &record);
  return record;
}

// With the mutex held: what was retired since the last barrier gets its list of threads to wait for.
void StampFresh(Domain& domain) {
  if (domain.fresh.empty()) return;
  if (domain.membarrier) CHECK(Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
  Batch batch;
  batch.objects = std::exchange(domain.fresh, {});
  for (const ThreadRecord* record : domain.records) {
    // Sequentially consistent: against threads whose entry is a full barrier, this is all there is.
    const uint64_t inside = record->inside.load();
    if (inside & 1) batch.waits_for.emplace_back(record, inside);
  }
  domain.batches.push_back(std::move(batch));
}

bool HasLeft(const std::pair<const ThreadRecord*, uint64_t>& wait) {
  return wait.first->inside.load(std::memory_order_acquire) != wait.second;
}

std::vector<Batch> TakeFree(Domain& domain) {
  std::vector<Batch> free;
  for (Batch& batch : domain.batches) {
    std::erase_if(batch.waits_for, HasLeft);
    if (batch.waits_for.empty()) free.push_back(std::move(batch));
  }
  std::erase_if(domain.batches, [](const Batch& batch) { return batch.objects.empty(); });
  for (const Batch& batch : free) domain.retired -= batch.objects.size();
  return free;
}

}  // namespace

void EnterFenced(ThreadRecord& me, uint64_t was) {
  me.inside.exchange(was + 1, std::memory_order_seq_cst);
}

ThreadRecord& RecordWithCounter(uint32_t counter_at) {
  ThreadRecord& record = OwnRecord();
  if (counter_at < record.counter_bytes) return record;
  constexpr uint32_t One = sizeof(CallCounter);
  const uint32_t count = std::max(16u, 2 * (counter_at / One));
  auto* counters = reinterpret_cast<std::byte*>(new CallCounter[count]);
  std::lock_guard lock(TheDomain().mutex);
  std::copy_n(record.counters, record.counter_bytes, counters);
  delete[] reinterpret_cast<CallCounter*>(std::exchange(record.counters, counters));
  record.counter_bytes = count * One;
  return record;
}

uint32_t TakeCounter() {
  Domain& domain = TheDomain();
  std::lock_guard lock(domain.mutex);
  if (domain.free_counters.empty()) return sizeof(CallCounter) * domain.next_counter++;
  const uint32_t counter_at = domain.free_counters.back();
  domain.free_counters.pop_back();
  return counter_at;
}

void ReleaseCounter(uint32_t counter_at) {
  Domain& domain = TheDomain();
  std::lock_guard lock(domain.mutex);
  for (ThreadRecord* record : domain.records) {
    if (counter_at < record->counter_bytes)
      *reinterpret_cast<CallCounter*>(record->counters + counter_at) = {};
  }
  domain.free_counters.push_back(counter_at);
}

ForkMutex& WriterMutex() { return TheDomain().mutex; }

void RetireLocked(std::unique_ptr<const Retirable> object) {
  if (object == nullptr) return;
  Domain& domain = TheDomain();
  domain.fresh.push_back(std::move(object));
  ++domain.retired;
}

void CollectRetired() {
  std::vector<Batch> free;  // destroyed without the mutex: destructors may do what they like
  Domain& domain = TheDomain();
  std::lock_guard lock(domain.mutex);
  StampFresh(domain);
  free = TakeFree(domain);
}

void CollectRetiredIfEasy() {
  Domain& domain = TheDomain();
  if (domain.retired.load(std::memory_order_relaxed) == 0) return;
  std::vector<Batch> free;
  std::unique_lock lock(domain.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  StampFresh(domain);
  free = TakeFree(domain);
  lock.unlock();
}

size_t RetiredCount() { return TheDomain().retired.load(); }

bool Quiesce(std::chrono::milliseconds longest) {
  Domain& domain = TheDomain();
  std::vector<std::pair<const ThreadRecord*, uint64_t>> waits_for;
  {
    std::lock_guard lock(domain.mutex);
    if (domain.membarrier) CHECK(Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
    for (const ThreadRecord* record : domain.records) {
      const uint64_t inside = record->inside.load();
      if (record != own_record && (inside & 1)) waits_for.emplace_back(record, inside);
    }
  }
  const Deadline deadline = Deadline::After(longest);
  while (!waits_for.empty()) {
    std::erase_if(waits_for, HasLeft);
    if (waits_for.empty()) break;
    if (deadline.Passed()) return false;
    sched_yield();
  }
  CollectRetired();
  return true;
}

bool HasMembarrier() { return TheDomain().membarrier; }

void PretendNoMembarrier(bool pretend) { TheDomain().pretend_none.store(pretend); }

}  // namespace frazil::dispatch
