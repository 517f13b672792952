#include "base/system/fork.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/system/test_fork.h"
#include "base/system/thread_pool.h"

namespace frazil {
namespace {

using namespace std::chrono_literals;

// Threads that hold locks nearly all the time, and change two numbers together.
class Busy {
 public:
  Busy() {
    for (int i = 0; i < 3; ++i)
      threads_.emplace_back([this] {
        while (!stop_) {
          std::lock_guard outer(outer_);
          std::lock_guard inner(inner_);  // also while a fork waits
          ++one_;
          ++two_;
        }
      });
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  // In a child: nobody holds a lock, and nothing is half changed.
  bool IsWhole() {
    std::lock_guard outer(outer_);
    std::lock_guard inner(inner_);
    return one_ == two_;
  }

 private:
  std::atomic<bool> stop_ = false;
  ForkMutex outer_, inner_;
  uint64_t one_ = 0, two_ = 0;
  std::vector<std::thread> threads_;
};

TEST(Fork, NoLockIsHeldInAChild) {
  Busy busy;
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(InForkedChild([&] { return busy.IsWhole() ? 0 : 1; }), 0) << i;
}

TEST(Fork, AThreadThatHoldsALockMayFork) {
  ForkMutex mutex;
  std::lock_guard lock(mutex);
  EXPECT_EQ(InForkedChild([&] {
              mutex.unlock();
              mutex.lock();
              return 0;
            }),
            0);
}

TEST(Fork, ObjectsAreToldInTheChildAlone) {
  std::vector<int> told;
  AfterFork first([&] { told.push_back(1); });
  auto second = std::make_unique<AfterFork>([&] { told.push_back(2); });
  AfterFork third([&] { told.push_back(3); });
  second.reset();
  EXPECT_EQ(InForkedChild([&] { return told == std::vector{1, 3} ? 0 : 1; }), 0);
  EXPECT_TRUE(told.empty());
}

TEST(Fork, NobodyWaitsInAChild) {
  ForkMutex mutex;
  auto condition = std::make_unique<ForkCondition>();
  bool ready = false;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    condition->Wait(lock, [&] { return ready; });
  });
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(InForkedChild([&] {
              std::unique_lock lock(mutex);
              const auto soon = std::chrono::steady_clock::now() + 5ms;
              if (condition->WaitUntil(lock, soon, [] { return false; })) return 1;
              lock.unlock();
              condition->NotifyAll();
              condition.reset();  // would wait for the waiter
              return 0;
            }),
            0);
  {
    std::lock_guard lock(mutex);
    ready = true;
    condition->NotifyAll();
  }
  waiter.join();
}

int64_t Sum(ThreadPool& pool, int64_t count) {
  std::atomic<int64_t> sum = 0;
  pool.For(
      count, 3,
      [](void* context, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) *static_cast<std::atomic<int64_t>*>(context) += i;
      },
      &sum);
  return sum;
}

TEST(Fork, PoolsWorkInAChildAndEnd) {
  if (UnderTsan) GTEST_SKIP() << "it allows no new thread in a child";
  // Workers asleep, workers awake, and a loop of another thread under way.
  for (const auto pause : {200ms, 0ms}) {
    auto pool = std::make_unique<ThreadPool>(3);
    Sum(*pool, 1000);
    std::this_thread::sleep_for(pause);
    std::atomic<bool> stop = false;
    std::thread other([&] {
      while (!stop && pause == 0ms) Sum(*pool, 100'000);
    });
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(InForkedChild([&] {
                  for (int round = 0; round < 50; ++round)
                    if (Sum(*pool, 1000) != 999 * 500) return 1;
                  if (pool->threads() != 3) return 2;
                  pool.reset();
                  return 0;
                }),
                0);
    }
    // One that was never used in the child ends as well, and so does one in a grandchild.
    EXPECT_EQ(InForkedChild([&] {
                const int inner = InForkedChild([&] { return Sum(*pool, 100) == 4950 ? 0 : 1; });
                pool.reset();
                return inner;
              }),
              0);
    stop = true;
    other.join();
    EXPECT_EQ(Sum(*pool, 1000), 999 * 500);
  }
}

}  // namespace
}  // namespace frazil
