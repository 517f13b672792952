// Kernels that one backend made ready, by content: the exact digest of the program. Never by buffers, so a new buffer is
// no miss. A cache belongs to its backend and ends with it, because its kernels do: those of the CPU are sites of that
// backend's engine, with its options. What the engine compiled is kept beyond the process by its store.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/result.h"
#include "kernel/backend.h"

namespace frazil::kernel {

class ProgramCache {
 public:
  // At most so many kernels stay, rounded up to whole sets of four; of a full set the one that was unused the longest
  // goes.
  explicit ProgramCache(size_t capacity = 256);
  ~ProgramCache();
  ProgramCache(const ProgramCache&) = delete;
  ProgramCache& operator=(const ProgramCache&) = delete;

  // Null: not there. Takes no lock and never waits.
  std::shared_ptr<const LoadedKernel> Find(std::string_view exact) const;
  // Finds it, or has it made and keeps it. Two threads may make the same one at once; both get the one that was kept.
  using Maker = std::function<Result<std::shared_ptr<const LoadedKernel>>()>;
  Result<std::shared_ptr<const LoadedKernel>> FindOrMake(std::string_view exact, const Maker& make);

  size_t capacity() const { return ways_.size(); }
  size_t size() const;
  struct Counts {
    uint64_t hits = 0, misses = 0, evictions = 0;
  };
  Counts counts() const;
  void Clear();

 private:
  struct Entry;
  // Readers announce themselves before they look at the entry; what was taken out is freed when nobody was there.
  struct alignas(64) Way {
    std::atomic<Entry*> entry{nullptr};
    mutable std::atomic<uint32_t> readers{0};
    mutable std::atomic<uint64_t> last_use{0};
  };
  static constexpr size_t WaysOfASet = 4;

  size_t FirstOf(std::string_view exact) const {
    return std::hash<std::string_view>()(exact) % sets_ * WaysOfASet;
  }
  std::span<Way> SetOf(std::string_view exact) {
    return std::span(ways_).subspan(FirstOf(exact), WaysOfASet);
  }
  std::span<const Way> SetOf(std::string_view exact) const {
    return std::span(ways_).subspan(FirstOf(exact), WaysOfASet);
  }
  void ReplaceLocked(Way& way, Entry* next);
  void FreeRetiredLocked();

  size_t sets_;
  std::vector<Way> ways_;
  mutable ForkMutex mutex_;  // of writers
  std::vector<std::pair<const Way*, std::unique_ptr<Entry>>> retired_;
  mutable std::atomic<uint64_t> clock_{0}, hits_{0}, misses_{0}, evictions_{0};
};

}  // namespace frazil::kernel
