// Writers, readers and a collector at once, as threads of one process, with a store each or sharing one, and as
// processes. Whatever is found is whole and belongs to its key.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "store/test_store.h"

namespace frazil::store {
namespace {

constexpr uint64_t Keys = 12;
constexpr verify::Policy Any = {verify::Grade::None, verify::Grade::None};

using Clock = std::chrono::steady_clock;

struct Counts {
  std::atomic<uint64_t> found{0}, wrong{0}, kept{0};
};

void Work(Store& store, uint32_t seed, Clock::time_point until, Counts& counts) {
  std::minstd_rand random(seed);
  while (Clock::now() < until) {
    const uint64_t number = random() % Keys;
    switch (random() % 16) {
      case 0: store.CollectGarbage(20'000, 90); break;
      case 1: store.Remove(KeyOf(number)); break;
      case 2: store.AppendProfile(KeyOf(number).source_exact, {1, 1}); break;
      case 3: store.IsBanned(KeyOf(number).source_exact); break;
      case 4: store.List(); break;
      case 5:
      case 6:
      case 7: counts.kept += store.Put(KeyOf(number), SealedOf(FormOf(number), store.key())); break;
      default:
        if (auto found = store.FindVerified(KeyOf(number), Any); found) {
          ++counts.found;
          counts.wrong += **found != FormOf(number);
        }
    }
  }
}

TEST(StoreCrowd, Threads) {
  for (const bool shared : {true, false}) {
    TempFolder folder;
    auto common = OpenQuickly(folder.path());
    Counts counts;
    const auto until = Clock::now() + std::chrono::milliseconds(1500);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        if (shared) return Work(*common, t + 1, until, counts);
        auto own = OpenQuickly(folder.path());
        Work(*own, t + 1, until, counts);
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(counts.wrong, 0u);
    EXPECT_GT(counts.found, 50u);
    EXPECT_GT(counts.kept, 20u);
    // Nothing ever looked damaged: a reader may only have met what was taken away under it.
    for (const auto& [reason, count] : common->stats().refused)
      EXPECT_TRUE(reason == "content" || reason == "missing") << reason;
  }
}

TEST(StoreCrowd, Processes) {
  TempFolder folder;
  std::vector<pid_t> children;
  const auto until = Clock::now() + std::chrono::milliseconds(1500);
  for (uint32_t p = 0; p < 4; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      Counts counts;
      auto store = OpenQuickly(folder.path());
      Work(*store, p + 1, until, counts);
      bool clean = counts.wrong == 0 && counts.found > 10;
      for (const auto& [reason, count] : store->stats().refused)
        clean = clean && reason == "content";
      _exit(clean ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  auto store = OpenQuickly(folder.path());
  EXPECT_TRUE(store->Audit().empty());
}

}  // namespace
}  // namespace frazil::store
