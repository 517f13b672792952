// One gate word holds everything a loop's beginning and end must agree on: its number, whether it is open, and how many
// workers are inside. A worker enters by adding itself while the gate is open; the caller, when no piece is left, shuts
// the gate and waits for those inside. A worker that wakes late finds the gate shut and was never waited for: a loop
// that is too short to share costs its caller two atomic writes and nothing else.
//
// Measured (2-core Zen 4 VM): bench/tile_bench.cpp, figures fork_join_*. Tested by thread_pool_test.cpp, also under TSan.
#include "base/system/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "base/system/fork.h"

namespace frazil {

namespace {

constexpr int MostThreads = 256;
// Long enough that a program which launches kernels one after the other finds its workers awake.
constexpr std::chrono::microseconds SpinBudget{100};

constexpr uint64_t Open = 1;
constexpr uint64_t OneInside = 2;
constexpr uint64_t InsideMask = 0xfffe;
constexpr uint64_t OneLoop = 0x10000;

thread_local bool in_body = false;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Waits for something that other threads do within nanoseconds, or long after: the processor is given away then.
template <typename Ready>
void SpinUntil(const Ready& ready) {
  for (int turn = 0; !ready(); ++turn) {
    if (turn < 2000)
      Pause();
    else
      std::this_thread::yield();
  }
}

int CoresOfThisProcess() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

struct ThreadPool::State {
  // What the threads of a loop read. Written by the caller while the gate is shut and nobody is inside.
  Body body = nullptr;
  void* context = nullptr;
  int64_t count = 0;
  int64_t grain = 1;

  alignas(64) std::atomic<uint64_t> gate{0};
  alignas(64) std::atomic<int64_t> next{0};    // piece
  alignas(64) std::atomic<bool> taken{false};  // a caller has the pool
  std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<std::thread> workers;
  std::atomic<int> workers_wanted = 0;
  bool must_start = false;  // in a child, which has no workers until it has a loop for them

  AfterFork after_fork{[this] { BeginAgain(); }};

  // With the pool taken, or before anybody has it.
  void Start() {
    must_start = false;
    workers.reserve(static_cast<size_t>(workers_wanted.load()));
    for (int i = 0; i < workers_wanted; ++i) {
      // Fewer threads than asked for is a slower pool, not a broken one.
      try {
        workers.emplace_back([this] { Serve(); });
      } catch (const std::system_error&) {
        workers_wanted = i;
      }
    }
  }

  // In a child: the workers are not there, whatever they were doing, and neither is whoever had the pool. Objects are
  // replaced without their destructors, which would wait for threads that do not exist.
  void BeginAgain() {
    for (std::thread& worker : workers) new (&worker) std::thread;
    workers.clear();
    must_start = true;
    new (&mutex) std::mutex;
    new (&wake) std::condition_variable;
    gate = gate.load(std::memory_order_relaxed) / OneLoop * OneLoop;
    sleepers = 0;
    taken = false;
  }

  // Pieces are counted, not elements: the counter passes the last piece by one for each thread and cannot overflow.
  void Work() {
    const int64_t pieces = (count - 1) / grain + 1;
    for (;;) {
      const int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces) return;
      const int64_t begin = piece * grain;
      body(context, begin, piece + 1 == pieces ? count : begin + grain);
    }
  }

  bool Enter() {
    uint64_t seen = gate.load(std::memory_order_relaxed);
    while ((seen & Open) != 0)
      if (gate.compare_exchange_weak(seen, seen + OneInside, std::memory_order_acquire,
                                     std::memory_order_relaxed))
        return true;
    return false;
  }

  // Until a loop begins that is not `last`, or the pool ends.
  void Await(uint64_t last) {
    const auto ready = [&] {
      return gate.load(std::memory_order_relaxed) / OneLoop != last ||
             stop.load(std::memory_order_relaxed);
    };
    const auto deadline = std::chrono::steady_clock::now() + SpinBudget;
    do {
      for (int i = 0; i < 64; ++i) {
        if (ready()) return;
        Pause();
      }
    } while (std::chrono::steady_clock::now() < deadline);
    std::unique_lock lock(mutex);
    // Either the caller sees this sleeper, or the sleeper sees the caller's loop: both orders are sequential.
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    wake.wait(lock, [&] {
      return gate.load(std::memory_order_seq_cst) / OneLoop != last ||
             stop.load(std::memory_order_relaxed);
    });
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }

  void Serve() {
    in_body = true;
    uint64_t last = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      Await(last);
      last = gate.load(std::memory_order_relaxed) / OneLoop;
      if (!Enter()) continue;
      last = gate.load(std::memory_order_relaxed) / OneLoop;
      Work();
      gate.fetch_sub(OneInside, std::memory_order_release);
    }
  }

  void WakeSleepers() {
    if (sleepers.load(std::memory_order_seq_cst) == 0) return;
    {
      std::lock_guard lock(mutex);
    }
    wake.notify_all();
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  state_->workers_wanted = std::clamp(threads, 1, MostThreads) - 1;
  state_->Start();
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stop.store(true, std::memory_order_relaxed);
  }
  state_->wake.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

ThreadPool& ThreadPool::Shared() {
  // Never destroyed: a static object's loop may run after the pool would have ended. Made under a lock that fork waits
  // for: a child would wait for ever for an initialization that a thread of its parent had begun.
  static std::atomic<ThreadPool*> shared = nullptr;
  if (ThreadPool* pool = shared.load(std::memory_order_acquire)) return *pool;
  static ForkMutex mutex;
  std::lock_guard lock(mutex);
  ThreadPool* pool = shared.load(std::memory_order_relaxed);
  if (pool == nullptr) {
    const char* asked = std::getenv("FRAZIL_THREADS");
    const int threads = asked != nullptr ? std::atoi(asked) : 0;
    pool = new ThreadPool(threads > 0 ? threads : CoresOfThisProcess());
    shared.store(pool, std::memory_order_release);
  }
  return *pool;
}

int ThreadPool::threads() const { return state_->workers_wanted + 1; }

void ThreadPool::For(int64_t count, int64_t grain, Body body, void* context) {
  State& state = *state_;
  grain = std::max<int64_t>(grain, 1);
  const bool alone = in_body || state.workers_wanted.load(std::memory_order_relaxed) == 0 ||
                     count <= grain || state.taken.load(std::memory_order_relaxed) ||
                     state.taken.exchange(true, std::memory_order_acquire);
  if (alone) {
    for (int64_t begin = 0; begin < count;) {
      const int64_t end = count - begin < grain ? count : begin + grain;
      body(context, begin, end);
      begin = end;
    }
    return;
  }
  if (state.must_start) [[unlikely]]
    state.Start();
  state.body = body;
  state.context = context;
  state.count = count;
  state.grain = grain;
  state.next.store(0, std::memory_order_relaxed);
  const uint64_t loop = (state.gate.load(std::memory_order_relaxed) / OneLoop + 1) * OneLoop;
  state.gate.store(loop | Open, std::memory_order_seq_cst);
  state.WakeSleepers();
  in_body = true;
  state.Work();
  in_body = false;
  state.gate.fetch_and(~Open, std::memory_order_relaxed);
  SpinUntil([&] { return (state.gate.load(std::memory_order_acquire) & InsideMask) == 0; });
  state.taken.store(false, std::memory_order_release);
}

}  // namespace frazil
