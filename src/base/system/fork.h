// fork(2) in a process with threads. The child has one thread, the one that forked; a lock that another held stays locked
// there for ever, and what it was changing stays half changed. So that our objects can be used in a child:
//
//   ForkMutex      no thread but the forking one holds any of them while the process forks: fork waits for that
//   ForkOnce       as std::once_flag: no child waits for what a thread of its parent had begun
//   ForkCondition  nobody waits for it in a child, whoever waited in the parent
//   AfterFork      told in the child, to let go of what belongs to the parent: threads, sockets, processes
//
// A thread that forks while it holds a ForkMutex itself is not waited for, nor are the others then.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace frazil {

// As std::mutex, for sections that are short: fork waits for them. Costs two more atomic operations than that.
class ForkMutex {
 public:
  ForkMutex();
  void lock();
  bool try_lock();
  void unlock();

 private:
  std::mutex mutex_;
};

class ForkOnce {
 public:
  template <typename Make>
  void Call(const Make& make) {
    if (done_.load(std::memory_order_acquire)) return;
    std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    make();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_ = false;
  ForkMutex mutex_;
};

// Lives as long as what it speaks for. `in_child` runs in the child's only thread before fork returns, in the order in
// which they were made; it neither makes nor ends an AfterFork.
class AfterFork {
 public:
  explicit AfterFork(std::function<void()> in_child);
  ~AfterFork();
  AfterFork(const AfterFork&) = delete;
  AfterFork& operator=(const AfterFork&) = delete;

 private:
  friend struct ForkHandlers;
  std::function<void()> in_child_;
  AfterFork* next_ = nullptr;
  AfterFork* previous_ = nullptr;
};

class ForkCondition {
 public:
  void NotifyAll();
  template <typename Ready>
  void Wait(std::unique_lock<ForkMutex>& lock, const Ready& ready) {
    while (!ready()) WaitOnce(lock, std::chrono::steady_clock::time_point::max());
  }
  // False: `ready` still does not hold.
  template <typename Ready>
  bool WaitUntil(std::unique_lock<ForkMutex>& lock, std::chrono::steady_clock::time_point end,
                 const Ready& ready) {
    while (!ready())
      if (!WaitOnce(lock, end)) return ready();
    return true;
  }

 private:
  bool WaitOnce(std::unique_lock<ForkMutex>& lock, std::chrono::steady_clock::time_point end);
  void Renew();

  // Taken inside of the ForkMutex, and held by a waiter from before it lets go of that until it sleeps.
  std::mutex mutex_;
  std::condition_variable condition_;
  AfterFork after_fork_{[this] { Renew(); }};
};

}  // namespace frazil
