// Sets of four ways. A reader's announcement and a writer's exchange are sequentially consistent: either the reader sees
// the new entry, or the writer sees the reader.
#include "kernel/program_cache.h"

#include <algorithm>
#include <string>

namespace frazil::kernel {

struct ProgramCache::Entry {
  std::string exact;
  std::shared_ptr<const LoadedKernel> kernel;
};

ProgramCache::ProgramCache(size_t capacity)
    : sets_(std::max<size_t>(1, (capacity + WaysOfASet - 1) / WaysOfASet)),
      ways_(sets_ * WaysOfASet) {}

ProgramCache::~ProgramCache() {
  for (Way& way : ways_) delete way.entry.load();
}

std::shared_ptr<const LoadedKernel> ProgramCache::Find(std::string_view exact) const {
  for (const Way& way : SetOf(exact)) {
    way.readers.fetch_add(1, std::memory_order_seq_cst);
    std::shared_ptr<const LoadedKernel> found;
    const Entry* entry = way.entry.load(std::memory_order_seq_cst);
    if (entry != nullptr && entry->exact == exact) found = entry->kernel;
    way.readers.fetch_sub(1, std::memory_order_release);
    if (found == nullptr) continue;
    way.last_use.store(clock_.fetch_add(1, std::memory_order_relaxed) + 1,
                       std::memory_order_relaxed);
    hits_.fetch_add(1, std::memory_order_relaxed);
    return found;
  }
  misses_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

Result<std::shared_ptr<const LoadedKernel>> ProgramCache::FindOrMake(std::string_view exact,
                                                                     const Maker& make) {
  if (auto found = Find(exact)) return found;
  // Made without the lock: it may take milliseconds, and others want their own.
  std::shared_ptr<const LoadedKernel> made = TRY(make());
  const std::lock_guard lock(mutex_);
  FreeRetiredLocked();
  Way* oldest = nullptr;
  for (Way& way : SetOf(exact)) {
    const Entry* entry = way.entry.load();
    if (entry != nullptr && entry->exact == exact) return entry->kernel;
    const auto age = [](const Way& w) { return w.entry.load() == nullptr ? 0 : w.last_use.load(); };
    if (oldest == nullptr || age(way) < age(*oldest)) oldest = &way;
  }
  if (oldest->entry.load() != nullptr) evictions_.fetch_add(1, std::memory_order_relaxed);
  oldest->last_use.store(clock_.fetch_add(1) + 1);
  ReplaceLocked(*oldest, new Entry{std::string(exact), made});
  return made;
}

void ProgramCache::ReplaceLocked(Way& way, Entry* next) {
  std::unique_ptr<Entry> old(way.entry.exchange(next, std::memory_order_seq_cst));
  if (old != nullptr && way.readers.load(std::memory_order_seq_cst) != 0)
    retired_.emplace_back(&way, std::move(old));
}

void ProgramCache::FreeRetiredLocked() {
  std::erase_if(retired_, [](const auto& pair) {
    return pair.first->readers.load(std::memory_order_seq_cst) == 0;
  });
}

size_t ProgramCache::size() const {
  return static_cast<size_t>(
      std::ranges::count_if(ways_, [](const Way& way) { return way.entry.load() != nullptr; }));
}

ProgramCache::Counts ProgramCache::counts() const {
  return {hits_.load(), misses_.load(), evictions_.load()};
}

void ProgramCache::Clear() {
  const std::lock_guard lock(mutex_);
  for (Way& way : ways_) ReplaceLocked(way, nullptr);
  FreeRetiredLocked();
}

}  // namespace frazil::kernel
