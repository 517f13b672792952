// A process that forks: the child has neither the engine's thread nor its worker nor the pool's threads, and must answer,
// set and end all the same, without touching what is its parent's.
#include <optional>
#include <set>

#include "base/system/test_fork.h"
#include "base/system/thread_pool.h"
#include "frazil/frazil.h"
#include "support.h"

namespace frazil::engine {
namespace {

class EngineForkTest : public EngineTest {
 protected:
  void SetUp() override {
    if (UnderTsan) GTEST_SKIP() << "it allows no new thread in a child";
    EngineTest::SetUp();
  }
  EngineOptions Options() {
    EngineOptions options = EngineTest::Options();
    options.use_store = false;
    options.hot_calls = 1;
    return options;
  }

  // In the child: right answers, a form of its own, an end. 0: all of it.
  static int UseInChild(std::unique_ptr<Engine>& engine, std::shared_ptr<Site>& site) {
    for (uint64_t i = 0; i < 50; ++i) {
      const uint64_t arguments[] = {i, 7, 100};
      uint64_t result = 0;
      if (site->Call(arguments, &result) != 0 || result != MixMeans(i, 7, 100)) return 1;
    }
    if (!engine->Settle(25s)) return 2;
    if (site->state() != dispatch::State::Solid) return 3;
    site.reset();
    engine.reset();
    return 0;
  }
};

TEST_F(EngineForkTest, AChildStartsAnew) {
  // Before the thread exists, while the worker compiles, when all is done.
  for (const int moment : {0, 1, 2}) {
    SCOPED_TRACE(moment);
    auto engine = std::make_unique<Engine>(Options());
    auto site = engine->Load(Parse(Mix)).value();
    if (moment > 0) CheckMix(*site, 1, 2, 3);
    if (moment == 2) {
      ASSERT_TRUE(engine->Settle(20s));
      ASSERT_EQ(site->state(), dispatch::State::Solid) << Events();
    }
    EXPECT_EQ(InForkedChild([&] { return UseInChild(engine, site); }), 0);
    // A child that only ends.
    EXPECT_EQ(InForkedChild([&] {
                site.reset();
                engine.reset();
                return 0;
              }),
              0);
    // The parent's thread and worker went on as if nothing had happened.
    const int64_t worker = engine->worker().pid();
    CheckMix(*site, 1, 2, 3);
    ASSERT_TRUE(engine->Settle(20s));
    EXPECT_EQ(site->state(), dispatch::State::Solid) << Events();
    EXPECT_EQ(engine->worker().spawned(), 1u);
    if (moment == 2) {
      EXPECT_EQ(engine->worker().pid(), worker);
    }
  }
}

// Whatever other threads hold at that moment.
TEST_F(EngineForkTest, ForksWhileOthersCallAndChange) {
  auto engine = std::make_unique<Engine>(Options());
  auto site = engine->Load(Parse(Mix)).value();
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (uint64_t i = 0; !stop; ++i) {
        CheckMix(*site, i, 3, 20);
        if (i % 64 == 0) {
          site->Freeze();
          site->Report();
          site->Unfreeze();
        }
      }
    });
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(InForkedChild([&] {
                site->Freeze();
                site->Unfreeze();
                return UseInChild(engine, site);
              }),
              0)
        << i;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// How many threads of the pool take part in a loop that leaves them time to come.
size_t ThreadsAtWork() {
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> threads;
  } seen;
  ThreadPool::Shared().For(
      100, 1,
      [](void* context, int64_t, int64_t) {
        {
          auto& all = *static_cast<Seen*>(context);
          std::lock_guard lock(all.mutex);
          all.threads.insert(std::this_thread::get_id());
        }
        std::this_thread::sleep_for(1ms);
      },
      &seen);
  return seen.threads.size();
}

// Right answers, and by threads of its own: the parent's are not there.
TEST_F(EngineForkTest, TilesOfManyThreadsInAChild) {
  frazil::Options options;
  options.use_store = options.compile = false;
  auto engine = std::make_unique<frazil::Engine>(options);
  std::optional<Slot> slot = engine
                                 ->Load(R"(frz 1
func @main(%n: index, %x: in buffer<f32>, %y: out buffer<f32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %v = load %x, %i : f32
    %w = exp %v : f32
    store %y, %i, %w : f32
    yield
  }
  return
}
)")
                                 .value();
  std::vector<float> x(1 << 16, 0.5f), y(1 << 16), expected(1 << 16);
  const auto length = static_cast<int64_t>(x.size());
  ASSERT_TRUE((*slot)(length, Buffer(x), Buffer(expected)));
  // While the pool rests, and while another thread has it.
  for (const bool is_busy : {false, true}) {
    std::atomic<bool> stop = false;
    std::thread other([&] {
      std::vector<float> z(x.size());
      while (is_busy && !stop) (*slot)(length, Buffer(x), Buffer(z));
    });
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(InForkedChild([&] {
                  for (int round = 0; round < 5; ++round)
                    if (!(*slot)(length, Buffer(x), Buffer(y)) || y != expected) return 1;
                  if (ThreadPool::Shared().threads() > 1 && ThreadsAtWork() == 1) return 2;
                  slot.reset();
                  engine.reset();
                  return 0;
                }),
                0)
          << is_busy;
    }
    stop = true;
    other.join();
  }
}

}  // namespace
}  // namespace frazil::engine
