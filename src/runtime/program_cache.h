// Kernels that one home made ready, by content: the exact digest of the program (Source::key). Never by buffers, so a new
// buffer is no miss. A cache belongs to its home and ends with it, because its kernels do: those of the CPU are sites of
// that home's engine, with its options. What was compiled is kept beyond the process by the store.
//
// A lock around a table is enough: who loads the same source again and again is answered by its executor, which asks
// here only whether anything was forgotten (generation).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/system/fork.h"

namespace frazil::runtime {

class LoadedKernel;

class ProgramCache {
 public:
  // At most so many kernels stay; of those that nobody else holds, the one that was not asked for the longest goes first.
  explicit ProgramCache(size_t capacity = 256);
  ~ProgramCache();
  ProgramCache(const ProgramCache&) = delete;
  ProgramCache& operator=(const ProgramCache&) = delete;

  // Null: not there.
  std::shared_ptr<const LoadedKernel> Find(const std::string& exact) const;
  // Finds it, or has it made and keeps it. Two threads may make the same one at once; both get the one that was kept.
  using Maker = std::function<Result<std::shared_ptr<const LoadedKernel>>()>;
  Result<std::shared_ptr<const LoadedKernel>> FindOrMake(const std::string& exact,
                                                         const Maker& make);

  size_t capacity() const { return capacity_; }
  size_t size() const;
  struct Counts {
    uint64_t hits = 0, misses = 0, evictions = 0;
  };
  Counts counts() const;
  void Clear();
  // Another number whenever a kernel was forgotten.
  uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::shared_ptr<const LoadedKernel> kernel;
    mutable uint64_t last_use = 0;
  };
  std::shared_ptr<const LoadedKernel> FindLocked(const std::string& exact) const;

  const size_t capacity_;
  std::atomic<uint64_t> generation_ = 0;
  mutable ForkMutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  mutable uint64_t clock_ = 0;
  mutable Counts counts_;
};

}  // namespace frazil::runtime
