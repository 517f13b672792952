// Threads that share a loop. The caller always works; workers spin for a short while after a loop, then sleep. Chunks
// are taken from one counter, so that a slow thread takes fewer.
#pragma once

#include <cstdint>
#include <memory>

namespace frazil {

class ThreadPool {
 public:
  // `threads` counts the caller: 1 means no worker at all.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // One per process, made on first use, with a thread per core that this process may use (FRAZIL_THREADS overrides).
  static ThreadPool& Shared();

  int threads() const;

  // Calls body(context, begin, end) for pieces that partition [0, count), each at most `grain` long (the last of them may
  // be shorter), on any thread, and returns when all are done. A loop inside of a body runs on its own thread alone.
  // No allocation, and no lock while workers are awake.
  //
  // A process that was forked may go on using its pools: workers are started again with the first loop that wants them.
  // A fork within a body is for exec only: what other threads were to do of that loop is not done in the child.
  using Body = void (*)(void* context, int64_t begin, int64_t end);
  void For(int64_t count, int64_t grain, Body body, void* context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace frazil
