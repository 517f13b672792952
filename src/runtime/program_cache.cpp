#include "runtime/program_cache.h"

#include <algorithm>
#include <mutex>

#include "runtime/loaded_kernel.h"

namespace frazil::runtime {

ProgramCache::ProgramCache(size_t capacity) : capacity_(std::max<size_t>(1, capacity)) {}
ProgramCache::~ProgramCache() = default;

std::shared_ptr<const LoadedKernel> ProgramCache::FindLocked(const std::string& exact) const {
  const auto found = entries_.find(exact);
  if (found == entries_.end()) return nullptr;
  found->second.last_use = ++clock_;
  return found->second.kernel;
}

std::shared_ptr<const LoadedKernel> ProgramCache::Find(const std::string& exact) const {
  const std::lock_guard lock(mutex_);
  auto found = FindLocked(exact);
  ++(found != nullptr ? counts_.hits : counts_.misses);
  return found;
}

Result<std::shared_ptr<const LoadedKernel>> ProgramCache::FindOrMake(const std::string& exact,
                                                                     const Maker& make) {
  if (auto found = Find(exact)) return found;
  // Made without the lock: it may take milliseconds, and others want their own.
  std::shared_ptr<const LoadedKernel> made = TRY(make());
  std::shared_ptr<const LoadedKernel> forgotten;  // ends without the lock, too
  const std::lock_guard lock(mutex_);
  if (auto found = FindLocked(exact)) return found;
  if (entries_.size() == capacity_) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& entry) {
      return std::pair(entry.second.kernel.use_count() > 1, entry.second.last_use);
    });
    forgotten = std::move(oldest->second.kernel);
    entries_.erase(oldest);
    ++counts_.evictions;
    generation_.fetch_add(1, std::memory_order_relaxed);
  }
  entries_.emplace(exact, Entry{made, ++clock_});
  return made;
}

size_t ProgramCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

ProgramCache::Counts ProgramCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void ProgramCache::Clear() {
  std::unordered_map<std::string, Entry> forgotten;
  const std::lock_guard lock(mutex_);
  forgotten.swap(entries_);
  generation_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace frazil::runtime
