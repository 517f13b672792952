// One thread and one slot: who answers, who is told what, when things are freed, which states follow which.
#include "dispatch/slot_core.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "dispatch/test_core.h"
#include "exec/native/native_run.h"
#include "ir/text/text.h"

#ifndef FRAZIL_UNDER_SANITIZER  // which has its own
namespace {
thread_local uint64_t allocations = 0;
}

// Counted for the one test that says a warm call allocates nothing.
void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace frazil::dispatch {
namespace {

template <uint64_t Mark>
int32_t Answers(const uint64_t*, uint64_t* results, exec::NativeRun*) {
  results[0] = Mark;
  return 0;
}

int32_t Traps(const uint64_t*, uint64_t*, exec::NativeRun*) { return 4; }

exec::NativeRun* run_seen = nullptr;
int32_t UsesRun(const uint64_t*, uint64_t*, exec::NativeRun* run) {
  run_seen = run;
  run->fuel -= 100;
  return 0;
}

class SlotCoreTest : public testing::Test, protected CoreBed {
 protected:
  SlotCoreTest() : CoreBed("frz 1\nfunc @main(%a: i64) -> (i64) {\n  return %a\n}\n") {}

  Link Form(exec::NativeEntry entry, std::string_view guard = "true",
            std::shared_ptr<const void> owner = nullptr) {
    if (owner == nullptr) owner = std::make_shared<int>(0);
    return {{entry, false},
            *FlatGuard::Flatten(*ir::ParseGuard(guard, program), program),
            std::move(owner)};
  }
  bool Install(Link link) { return SlotCoreTester::Install(core, std::move(link)); }
  uint64_t Ask(uint64_t argument) {
    uint64_t result = 0;
    EXPECT_EQ(core.Call(&argument, &result, nullptr), 0);
    return result;
  }
};

TEST_F(SlotCoreTest, TheFirstFormThatMayAnswers) {
  EXPECT_EQ(Ask(1), CountingFluid::Mark);
  EXPECT_TRUE(Install(Form(Answers<10>, "0 <= arg0 <= 9")));
  EXPECT_TRUE(Install(Form(Answers<20>, "arg0 == 5")));
  EXPECT_EQ(Ask(5), 20u);
  EXPECT_EQ(Ask(6), 10u);
  EXPECT_EQ(Ask(10), CountingFluid::Mark);
  core.Melt();
  EXPECT_EQ(Ask(5), CountingFluid::Mark);
}

TEST_F(SlotCoreTest, AChainHasFourFormsAndTheLastOneGoes) {
  std::vector<std::weak_ptr<const void>> owners;
  for (int i = 0; i < 6; ++i) {
    auto owner = std::make_shared<int>(i);
    owners.push_back(owner);
    EXPECT_TRUE(Install(Form(Answers<10>, "true", owner)));
  }
  EXPECT_EQ(core.owners().size(), 4u);
  EXPECT_TRUE(owners[0].expired());
  EXPECT_TRUE(owners[1].expired());
  EXPECT_EQ(core.owners().front(), owners[5].lock());
  // Installed again: it moves to the front and is there once.
  EXPECT_TRUE(Install(Form(Answers<30>, "true", owners[3].lock())));
  EXPECT_EQ(core.owners().size(), 4u);
  EXPECT_EQ(core.owners().front(), owners[3].lock());
  EXPECT_EQ(Ask(0), 30u);
  EXPECT_TRUE(core.Retire(owners[3].lock().get()));
  EXPECT_FALSE(core.Retire(&owners));
  EXPECT_EQ(core.owners().size(), 3u);
  EXPECT_TRUE(owners[3].expired());
}

TEST_F(SlotCoreTest, ATrapIsHandedOn) {
  EXPECT_TRUE(Install(Form(Traps)));
  uint64_t argument = 0;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(core.Call(&argument, nullptr, nullptr), 4);
}

TEST_F(SlotCoreTest, CodeThatUsesARunGetsOne) {
  EXPECT_TRUE(Install({{UsesRun, true}, {}, std::make_shared<int>(0)}));
  uint64_t argument = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(core.Call(&argument, nullptr, nullptr), 0);
    ASSERT_NE(run_seen, nullptr);
    EXPECT_EQ(run_seen->fuel, Limits{}.fuel);  // ready for the next call
  }
  exec::NativeRun own;
  own.fuel = 1000;
  EXPECT_EQ(core.Call(&argument, nullptr, &own), 0);
  EXPECT_EQ(run_seen, &own);
  EXPECT_EQ(own.fuel, 900u);
}

TEST_F(SlotCoreTest, TheWatcherHearsOfEveryCallOnce) {
  core.SetCountdown(10);
  for (int i = 0; i < 95; ++i) Ask(1);
  EXPECT_EQ(watcher.told, 9u);
  EXPECT_EQ(watcher.calls, 90u);
  EXPECT_EQ(watcher.solid_calls, 0u);
  EXPECT_FALSE(watcher.last.was_solid);
  Install(Form(Answers<10>, "0 <= arg0 <= 9"));
  Install(Form(Answers<20>, "arg0 == 5"));
  for (int i = 0; i < 5; ++i) Ask(5);
  EXPECT_EQ(watcher.calls, 100u);
  EXPECT_EQ(watcher.solid_calls, 5u);
  EXPECT_TRUE(watcher.last.was_solid);
  for (int i = 0; i < 20; ++i) Ask(i % 5 == 0 ? 5 : i % 5 == 1 ? 99 : 1);
  EXPECT_EQ(watcher.calls, 120u);
  EXPECT_EQ(watcher.solid_calls, 21u);
  EXPECT_EQ(watcher.misses, 16u);
  core.SetCountdown(1);
  for (int i = 0; i < 10; ++i) Ask(5);  // the turn of ten that had begun
  for (int i = 0; i < 5; ++i) Ask(5);
  EXPECT_EQ(watcher.told, 18u);
  EXPECT_EQ(watcher.calls, 135u);
}

TEST_F(SlotCoreTest, AMeltedSlotIsHeardOfSoon) {
  Install(Form(Answers<10>));
  core.SetCountdown(1'000'000);
  for (int i = 0; i < 100; ++i) Ask(5);
  const uint64_t told = watcher.told;
  core.Melt();
  core.SetCountdown(4);
  for (int i = 0; i < 6; ++i) Ask(5);
  EXPECT_GT(watcher.told, told);
  EXPECT_EQ(watcher.last.calls - watcher.last.solid_calls, 5u);
}

class Recursing final : public Fluid {
 public:
  int32_t Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) override {
    if (arguments[0] == 0) return 0;
    const uint64_t less = arguments[0] - 1;
    return core->Call(&less, results, run);
  }
  SlotCore* core = nullptr;
};

TEST_F(SlotCoreTest, CallsWithinCallsAreCounted) {
  Recursing recursing;
  SlotCore slot(recursing, watcher);
  recursing.core = &slot;
  slot.SetCountdown(7);
  uint64_t depth = 99;
  EXPECT_EQ(slot.Call(&depth, nullptr, nullptr), 0);
  EXPECT_EQ(watcher.calls, 98u);
  EXPECT_EQ(watcher.told, 14u);
}

SlotCore* inner_slot = nullptr;
int32_t CallsInner(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) {
  // Retired from within: this very code must stay until the call has returned.
  if (arguments[0] == 1) inner_slot->Melt();
  return inner_slot->Call(arguments, results, run);
}

TEST_F(SlotCoreTest, ACallWithinACallHoldsItsOwnForm) {
  SlotCore outer(fluid, watcher);
  auto owner = std::make_shared<int>(1), inner_owner = std::make_shared<int>(2);
  std::weak_ptr<int> outer_form = owner, inner_form = inner_owner;
  SlotCoreTester::Install(outer, Form(CallsInner, "true", std::move(owner)));
  Install(Form(Answers<10>, "true", std::move(inner_owner)));
  inner_slot = &core;
  uint64_t argument = 0, result = 0;
  EXPECT_EQ(outer.Call(&argument, &result, nullptr), 0);
  EXPECT_EQ(result, 10u);
  argument = 1;
  EXPECT_EQ(outer.Call(&argument, &result, nullptr), 0);
  EXPECT_EQ(result, CountingFluid::Mark);
  // Retired within the call, so it waited for its end.
  EXPECT_FALSE(inner_form.expired());
  CollectRetired();
  EXPECT_TRUE(inner_form.expired());
  EXPECT_FALSE(outer_form.expired());
}

#ifndef FRAZIL_UNDER_SANITIZER
TEST_F(SlotCoreTest, AWarmCallAllocatesNothing) {
  Install(Form(Answers<10>, "0 <= arg0 <= 9"));
  core.SetCountdown(1'000'000);
  for (int i = 0; i < 100; ++i) Ask(5);
  const uint64_t before = allocations;
  for (int i = 0; i < 10'000; ++i) Ask(5);
  EXPECT_EQ(allocations, before);
}
#endif

TEST_F(SlotCoreTest, StatesGoWhereTheTableSays) {
  EXPECT_EQ(core.state(), State::Fluid);
  EXPECT_FALSE(core.SetState(State::Solid));  // without a form
  EXPECT_FALSE(core.SetState(State::Suspect));
  EXPECT_TRUE(core.SetState(State::Warm));
  EXPECT_TRUE(core.SetState(State::Candidate));
  EXPECT_TRUE(Install(Form(Answers<10>)));
  EXPECT_EQ(core.state(), State::Solid);
  EXPECT_TRUE(core.SetState(State::Solid));
  EXPECT_FALSE(core.SetState(State::Warm));
  EXPECT_FALSE(core.SetState(State::Candidate));
  EXPECT_TRUE(core.SetState(State::Suspect));
  EXPECT_TRUE(core.SetState(State::Solid));
  EXPECT_TRUE(core.SetState(State::Fluid));
  EXPECT_TRUE(core.owners().empty());
}

TEST_F(SlotCoreTest, AFrozenSlotKeepsWhatItHas) {
  EXPECT_TRUE(Install(Form(Answers<10>)));
  EXPECT_TRUE(core.SetState(State::Frozen));
  EXPECT_FALSE(Install(Form(Answers<20>)));
  for (State state : {State::Fluid, State::Warm, State::Candidate, State::Solid, State::Suspect}) {
    EXPECT_FALSE(core.SetState(state));
  }
  EXPECT_EQ(Ask(1), 10u);
  EXPECT_TRUE(core.Unfreeze());
  EXPECT_EQ(core.state(), State::Solid);
  EXPECT_FALSE(core.Unfreeze());
  EXPECT_TRUE(Install(Form(Answers<20>)));
  EXPECT_EQ(Ask(1), 20u);
  // What was found wrong goes, frozen or not.
  EXPECT_TRUE(core.SetState(State::Frozen));
  core.Melt();
  EXPECT_EQ(core.state(), State::Frozen);
  EXPECT_EQ(Ask(1), CountingFluid::Mark);
  EXPECT_TRUE(core.Unfreeze());
  EXPECT_EQ(core.state(), State::Fluid);
}

TEST_F(SlotCoreTest, ABannedSlotIsFluid) {
  EXPECT_TRUE(Install(Form(Answers<10>)));
  EXPECT_TRUE(core.SetState(State::Banned));
  EXPECT_EQ(Ask(1), CountingFluid::Mark);
  EXPECT_FALSE(Install(Form(Answers<20>)));
  EXPECT_FALSE(core.SetState(State::Fluid));
  EXPECT_FALSE(core.SetState(State::Frozen));
  EXPECT_FALSE(core.Unfreeze());
  EXPECT_TRUE(core.Unban());
  EXPECT_TRUE(Install(Form(Answers<20>)));
  EXPECT_EQ(Ask(1), 20u);
}

TEST(State, EveryRowOfTheTable) {
  // Rows and columns in the order of the enumeration; x: allowed.
  constexpr std::string_view Allowed[StateCount] = {"xxxx.xx", "xxxx.xx", "xxxx.xx", "x..xxxx",
                                                    "x..xxxx", "x..x.xx", "x.....x"};
  for (int from = 0; from < StateCount; ++from) {
    for (int to = 0; to < StateCount; ++to) {
      EXPECT_EQ(MayGo(static_cast<State>(from), static_cast<State>(to)),
                Allowed[from][static_cast<size_t>(to)] == 'x')
          << StateName(static_cast<State>(from)) << " to " << StateName(static_cast<State>(to));
    }
  }
}

TEST_F(SlotCoreTest, ASlotThatGoesFreesItsFormsAndItsCounters) {
  std::weak_ptr<const void> form;
  for (int round = 0; round < 50; ++round) {
    CountingWatcher told;
    SlotCore slot(fluid, told);
    EXPECT_TRUE(form.expired());
    auto owner = std::make_shared<int>(round);
    form = owner;
    SlotCoreTester::Install(slot, Form(Answers<10>, "true", std::move(owner)));
    uint64_t argument = 0, result = 0;
    slot.SetCountdown(10);
    for (int i = 0; i < 9; ++i) slot.Call(&argument, &result, nullptr);
    EXPECT_EQ(told.told, 0u);  // an earlier slot's count would have shown
    slot.Call(&argument, &result, nullptr);
    EXPECT_EQ(told.calls, 10u);
  }
}

}  // namespace
}  // namespace frazil::dispatch
