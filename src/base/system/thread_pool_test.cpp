#include "base/system/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace frazil {
namespace {

// Every element is visited once, in pieces that keep the rules.
struct Visit {
  std::vector<std::atomic<int>> seen;
  int64_t grain;
  std::atomic<int> bad{0};
  Visit(int64_t count, int64_t piece) : seen(static_cast<size_t>(count)), grain(piece) {}
  static void Body(void* self, int64_t begin, int64_t end) {
    auto& visit = *static_cast<Visit*>(self);
    if (begin >= end || end - begin > visit.grain) visit.bad++;
    for (int64_t i = begin; i < end; ++i) visit.seen[static_cast<size_t>(i)]++;
  }
  bool Once() const {
    for (const auto& count : seen)
      if (count.load() != 1) return false;
    return bad == 0;
  }
};

TEST(ThreadPool, PiecesPartitionTheRange) {
  for (int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 7, 64, 1000})
      for (int64_t grain : {1, 3, 64, 5000}) {
        Visit visit(count, grain);
        pool.For(count, grain, Visit::Body, &visit);
        EXPECT_TRUE(visit.Once()) << threads << " threads, " << count << " by " << grain;
      }
  }
}

TEST(ThreadPool, NonsenseIsHarmless) {
  ThreadPool pool(0);
  EXPECT_EQ(pool.threads(), 1);
  Visit visit(4, 1);
  pool.For(-5, 1, Visit::Body, &visit);
  pool.For(4, 0, Visit::Body, &visit);
  EXPECT_TRUE(visit.Once());
}

TEST(ThreadPool, HugeRangesDoNotOverflow) {
  ThreadPool pool(3);
  std::atomic<uint64_t> total{0};
  const int64_t count = INT64_MAX;
  pool.For(
      count, INT64_MAX / 9,
      [](void* context, int64_t begin, int64_t end) {
        *static_cast<std::atomic<uint64_t>*>(context) += static_cast<uint64_t>(end - begin);
      },
      &total);
  EXPECT_EQ(total.load(), static_cast<uint64_t>(count));
}

// The body's writes are the caller's when For returns; the caller's writes are the body's.
TEST(ThreadPool, LoopsAreOrderedForTheCaller) {
  ThreadPool pool(2);
  std::vector<int64_t> values(256, 0);
  for (int round = 0; round < 2000; ++round) {
    pool.For(
        256, 16,
        [](void* context, int64_t begin, int64_t end) {
          auto& list = *static_cast<std::vector<int64_t>*>(context);
          for (int64_t i = begin; i < end; ++i) list[static_cast<size_t>(i)] += i;
        },
        &values);
    if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round % 300));
  }
  for (int64_t i = 0; i < 256; ++i) ASSERT_EQ(values[static_cast<size_t>(i)], 2000 * i);
}

TEST(ThreadPool, WorkersHelp) {
  ThreadPool pool(2);
  struct Rendezvous {
    std::atomic<int> here{0};
    std::mutex mutex;
    std::set<std::thread::id> threads;
  };
  // Each piece waits for the other one, so that a pool of one thread could not end this.
  for (int round = 0; round < 50; ++round) {
    Rendezvous meeting;
    pool.For(
        2, 1,
        [](void* context, int64_t, int64_t) {
          auto& m = *static_cast<Rendezvous*>(context);
          m.here++;
          while (m.here < 2) std::this_thread::yield();
          std::lock_guard lock(m.mutex);
          m.threads.insert(std::this_thread::get_id());
        },
        &meeting);
    EXPECT_EQ(meeting.threads.size(), 2u);
    // Beyond the spin budget, so that sleepers are woken too.
    if (round % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(ThreadPool, ALoopInsideOfABodyStaysOnItsThread) {
  ThreadPool pool(2);
  struct Context {
    ThreadPool* pool;
    std::atomic<int> elements{0};
    std::atomic<int> strangers{0};
  } context{&pool};
  pool.For(
      8, 1,
      [](void* outer, int64_t, int64_t) {
        struct Inner {
          Context* context;
          std::thread::id id;
        } inner{static_cast<Context*>(outer), std::this_thread::get_id()};
        inner.context->pool->For(
            10, 3,
            [](void* self, int64_t begin, int64_t end) {
              auto& in = *static_cast<Inner*>(self);
              in.context->elements += static_cast<int>(end - begin);
              if (in.id != std::this_thread::get_id()) in.context->strangers++;
            },
            &inner);
      },
      &context);
  EXPECT_EQ(context.elements, 80);
  EXPECT_EQ(context.strangers, 0);
}

TEST(ThreadPool, CallersAtTheSameTime) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        Visit visit(100, 7);
        pool.For(100, 7, Visit::Body, &visit);
        if (!visit.Once()) wrong++;
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, SharedIsOne) {
  EXPECT_EQ(&ThreadPool::Shared(), &ThreadPool::Shared());
  EXPECT_GE(ThreadPool::Shared().threads(), 1);
}

}  // namespace
}  // namespace frazil
