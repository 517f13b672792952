// Several threads on one slot: calling, replacing, retiring, ending, forking. A form's code is a page of its own that
// is unmapped, and a flag that falls, when the form is freed: use after free faults or is counted.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "base/check.h"
#include "dispatch/test_core.h"
#include "ir/text/text.h"

namespace frazil::dispatch {
namespace {

using namespace std::chrono_literals;

constexpr size_t FormCount = 64;
std::array<std::atomic<bool>, FormCount> alive;
std::atomic<uint64_t> calls_of_dead{0};

template <size_t Index>
int32_t FormEntry(const uint64_t*, uint64_t* results, exec::NativeRun*) {
  if (!alive[Index].load(std::memory_order_relaxed)) calls_of_dead.fetch_add(1);
  results[0] = Index;
  return 0;
}

template <size_t... Index>
constexpr std::array<exec::NativeEntry, FormCount> Entries(std::index_sequence<Index...>) {
  return {FormEntry<Index>...};
}
constexpr auto AllEntries = Entries(std::make_index_sequence<FormCount>());

// Writes its number, as FormEntry does, but from memory that goes away with the form.
#if defined(__x86_64__)
constexpr bool HasPages = true;
exec::NativeEntry CodePage(uint8_t number, std::shared_ptr<const void>& owner) {
  // mov qword [rsi], number; xor eax, eax; ret
  const uint8_t code[] = {0x48, 0xc7, 0x06, number, 0, 0, 0, 0x31, 0xc0, 0xc3};
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  std::memcpy(page, code, sizeof code);
  CHECK(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  owner = std::shared_ptr<const void>(page,
                                      [](const void* at) { munmap(const_cast<void*>(at), 4096); });
  return reinterpret_cast<exec::NativeEntry>(page);
}
#else
constexpr bool HasPages = false;
exec::NativeEntry CodePage(uint8_t, std::shared_ptr<const void>&) { return nullptr; }
#endif

class SlotThreads : public testing::TestWithParam<bool>, protected CoreBed {
 protected:
  SlotThreads() : CoreBed("frz 1\nfunc @main(%a: i64, %b: digest) -> (i64) {\n  return %a\n}\n") {
    PretendNoMembarrier(GetParam());
    calls_of_dead = 0;
  }
  ~SlotThreads() override { PretendNoMembarrier(false); }

  Link Form(size_t number, bool page) {
    // Ten tests, so that some of them are in memory of the chain's own.
    FlatGuard guard = *FlatGuard::Flatten(
        *ir::ParseGuard(
            "0 <= arg0 <= 9 && arg1 == (1, 2, 3, 4, 5) && 0 <= arg0 <= 8 && 0 <= arg0 <= 7 && "
            "0 <= arg0 <= 6 && 0 <= arg0 <= 5",
            program),
        program);
    if (page && HasPages) {
      std::shared_ptr<const void> owner;
      const exec::NativeEntry entry = CodePage(static_cast<uint8_t>(number), owner);
      return {{entry, false}, std::move(guard), std::move(owner)};
    }
    alive[number] = true;
    std::shared_ptr<const void> owner(&alive[number], [](const void* flag) {
      static_cast<std::atomic<bool>*>(const_cast<void*>(flag))
          ->store(false, std::memory_order_relaxed);
    });
    return {{AllEntries[number], false}, std::move(guard), std::move(owner)};
  }

  // Calls until told to stop; how many calls there were.
  uint64_t CallUntil(const std::atomic<bool>& stop, uint64_t first_argument) {
    uint64_t arguments[] = {first_argument, 1, 2, 3, 4, 5}, calls = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      uint64_t result = ~0ull;
      if (core.Call(arguments, &result, nullptr) != 0 ||
          (result >= FormCount && result != CountingFluid::Mark)) {
        ADD_FAILURE() << result;
        break;
      }
      if (++calls % 64 == 0) arguments[0] = calls / 64 % 7;
    }
    return calls;
  }
};

TEST_P(SlotThreads, CallingReplacingAndRetiringAtOnce) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> total{0};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] { total += CallUntil(stop, i); });
  }
  for (int writer = 0; writer < 2; ++writer) {
    threads.emplace_back([&, writer] {
      // Flags of one's own half of the numbers: a form comes back only after its number is free again.
      size_t next = 0;
      for (int round = 0; !stop.load(std::memory_order_relaxed); ++round) {
        const size_t number = writer * FormCount / 2 + next++ % (FormCount / 2);
        if (alive[number].load()) continue;
        SlotCoreTester::Install(core, Form(number, round % 2 == 1));
        if (round % 5 == 2) {
          const auto owners =
              core.owners();  // asked once: the other writer may melt the slot in between
          core.Retire(owners.empty() ? nullptr : owners.front().get());
        }
        if (round % 16 == 7) core.Melt();
        if (round % 64 == 9) core.SetState(State::Suspect);
        std::this_thread::yield();
      }
    });
  }
  std::this_thread::sleep_for(700ms);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(total, 1000u);
  EXPECT_EQ(calls_of_dead, 0u);
  core.Melt();
  CollectRetired();
  EXPECT_EQ(RetiredCount(), 0u);
  for (const std::atomic<bool>& flag : alive) EXPECT_FALSE(flag);
}

TEST_P(SlotThreads, AfterMeltAndQuiesceNothingCallsTheOldCode) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 2; ++i) threads.emplace_back([&, i] { CallUntil(stop, i); });
  for (int round = 0; round < 200; ++round) {
    const size_t number = static_cast<size_t>(round) % FormCount;
    Link link = Form(number, false);
    std::shared_ptr<const void> keep = link.owner;  // so that its end is ours to choose
    SlotCoreTester::Install(core, std::move(link));
    std::this_thread::yield();
    core.Melt();
    ASSERT_TRUE(Quiesce(10s));
    alive[number] = false;  // a call of it from now on is counted
    std::this_thread::yield();
    keep = nullptr;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls_of_dead, 0u);
}

TEST_P(SlotThreads, IdleAndEndedThreadsHoldNothingUp) {
  std::atomic<int> called{0};
  std::atomic<bool> stop{false};
  std::weak_ptr<const void> form;
  {
    Link link = Form(1, false);
    form = link.owner;
    SlotCoreTester::Install(core, std::move(link));
  }
  auto call_once = [&] {
    uint64_t arguments[] = {1, 1, 2, 3, 4, 5}, result = 0;
    core.Call(arguments, &result, nullptr);
    EXPECT_EQ(result, 1u);
    ++called;
  };
  std::thread idle([&] {
    call_once();
    while (!stop) std::this_thread::sleep_for(1ms);
  });
  for (int i = 0; i < 20; ++i) std::thread(call_once).join();
  while (called < 21) std::this_thread::yield();
  core.Melt();
  EXPECT_TRUE(form.expired());
  stop = true;
  idle.join();
}

TEST_P(SlotThreads, CallsOfShortLivedThreadsAreHeardOf) {
  core.SetCountdown(10);
  for (int i = 0; i < 50; ++i) {
    std::thread([&] {
      uint64_t arguments[] = {1, 1, 2, 3, 4, 5}, result = 0;
      for (int call = 0; call < 2; ++call) core.Call(arguments, &result, nullptr);
    }).join();
  }
  EXPECT_EQ(watcher.calls, 100u);
}

std::atomic<bool> may_return{false};
std::atomic<bool> is_running{false};
int32_t Waits(const uint64_t*, uint64_t*, exec::NativeRun*) {
  is_running = true;
  while (!may_return) std::this_thread::yield();
  return 0;
}

TEST_P(SlotThreads, ARunningCallHoldsItsFormUntilItReturns) {
  may_return = is_running = false;
  auto owner = std::make_shared<int>(1);
  std::weak_ptr<int> form = owner;
  SlotCoreTester::Install(core, {{Waits, false}, {}, std::move(owner)});
  std::thread thread([&] {
    uint64_t arguments[] = {1, 1, 2, 3, 4, 5}, result = 0;
    core.Call(arguments, &result, nullptr);
  });
  while (!is_running) std::this_thread::yield();
  core.Melt();
  CollectRetired();
  EXPECT_FALSE(form.expired());
  EXPECT_EQ(RetiredCount(), 1u);
  EXPECT_FALSE(Quiesce(1ms));
  may_return = true;
  thread.join();
  CollectRetired();
  EXPECT_TRUE(form.expired());
}

TEST_P(SlotThreads, AForkedChildHasNobodyInside) {
#ifdef FRAZIL_UNDER_TSAN
  GTEST_SKIP() << "a forked child of several threads may not go on under ThreadSanitizer";
#endif
  may_return = is_running = false;
  SlotCoreTester::Install(core, {{Waits, false}, {}, std::make_shared<int>(1)});
  uint64_t arguments[] = {1, 1, 2, 3, 4, 5}, result = 0;
  std::thread thread([&] { core.Call(arguments, &result, nullptr); });
  while (!is_running) std::this_thread::yield();
  core.Melt();
  const pid_t child = fork();
  if (child == 0) {
    CollectRetired();
    bool good = RetiredCount() == 0;
    SlotCoreTester::Install(core, Form(3, false));
    uint64_t answer = 0;
    good = good && core.Call(arguments, &answer, nullptr) == 0 && answer == 3;
    core.Melt();
    _exit(good && RetiredCount() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  may_return = true;
  thread.join();
}

INSTANTIATE_TEST_SUITE_P(Barriers, SlotThreads, testing::Bool(),
                         [](const auto& info) { return info.param ? "Fenced" : "Membarrier"; });

}  // namespace
}  // namespace frazil::dispatch
