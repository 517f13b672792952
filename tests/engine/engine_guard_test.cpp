// Forms under a guard: found again by the next process, and given up where the guard keeps missing.
#include "support.h"

namespace frazil::engine {
namespace {

// y = 3 (2 x), in two passes: one is enough where x and y are apart and long enough.
constexpr const char* TwoPasses = R"(frz 1
func @main(%n: index, %x: in buffer<u32>, %y: buffer<u32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %v = load %x, %i : u32
    %w = add %v, %v : u32
    store %y, %i, %w : u32
    yield
  }
  parallel %j = %zero to %n {
    %three = const 3 : u32
    %v = load %y, %j : u32
    %w = mul %v, %three : u32
    store %y, %j, %w : u32
    yield
  }
  return
}
)";

class EngineGuardTest : public EngineTest {
 protected:
  EngineOptions Eager() {
    EngineOptions options = Options();
    options.hot_calls = 20;
    options.first_estimate_ms = 0.01;
    options.tune = false;
    options.shadow_share = 0;  // a shadow run is a worker's, too
    return options;
  }
  void Forget() {
    std::lock_guard lock(mutex_);
    events_.clear();
  }
  void CallApart(Site& site, int times) {
    for (int i = 0; i < times; ++i) {
      Call(site, x_, y_);
      ASSERT_EQ(y_, std::vector<uint32_t>(x_.size(), 42));
    }
  }
  void CallSame(Site& site, int times) {
    for (int i = 0; i < times; ++i) {
      std::ranges::fill(y_, 7);
      Call(site, y_, y_);
      ASSERT_EQ(y_, std::vector<uint32_t>(x_.size(), 42));
    }
  }
  static void CallMode(Site& site, uint64_t mode, uint64_t x, uint64_t n) {
    const uint64_t arguments[] = {mode, x, n};
    uint64_t result = 0, expected = x;
    ASSERT_EQ(site.Call(arguments, &result), 0);
    for (uint64_t i = 0; i < n; ++i) expected = (expected ^ mode) * mode;
    ASSERT_EQ(result, expected);
  }
  // Until a form for constants stands in front of the one for all arguments.
  bool CallUntilSpecialized(Site& site) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < end && Count("dispatch") < 2)
      for (uint64_t i = 0; i < 2000; ++i) CallMode(site, 5, i, 1 + i % 200);
    return Count("dispatch") >= 2;
  }

 private:
  static void Call(Site& site, std::vector<uint32_t>& x, std::vector<uint32_t>& y) {
    const uint64_t arguments[] = {x.size(), reinterpret_cast<uint64_t>(x.data()), x.size(),
                                  reinterpret_cast<uint64_t>(y.data()), y.size()};
    ASSERT_EQ(site.Call(arguments, nullptr), 0);
  }
  std::vector<uint32_t> x_ = std::vector<uint32_t>(3000, 7), y_ = std::vector<uint32_t>(3000);
};

TEST_F(EngineGuardTest, TheNextEngineFindsAFormForBuffersThatAreApart) {
  {
    Engine engine(Eager());
    auto site = engine.Load(Parse(TwoPasses)).value();
    CallApart(*site, 40);
    ASSERT_TRUE(engine.Settle(20s));
    ASSERT_EQ(site->state(), dispatch::State::Solid) << Events();
    ASSERT_NE(Events().find("apart("), std::string::npos) << Events();
  }
  Forget();
  EngineOptions options = Eager();
  options.compile = false;
  Engine engine(options);
  auto site = engine.Load(Parse(TwoPasses)).value();
  // Not for calls that it does not answer.
  CallSame(*site, 40);
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_NE(site->state(), dispatch::State::Solid) << Events();
  auto other = engine.Load(Parse(TwoPasses)).value();
  CallApart(*other, 40);
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(other->state(), dispatch::State::Solid) << Events();
  CallApart(*other, 10);
  CallSame(*other, 10);
  EXPECT_EQ(engine.worker().spawned(), 0u);
}

TEST_F(EngineGuardTest, TheNextEngineFindsAFormForConstants) {
  {
    Engine engine(Eager());
    auto site = engine.Load(Parse(Modes)).value();
    ASSERT_TRUE(CallUntilSpecialized(*site)) << Events();
    ASSERT_TRUE(engine.Settle(20s));
    ASSERT_NE(Events().find("arg0 == 5"), std::string::npos) << Events();
  }
  Forget();
  EngineOptions options = Eager();
  options.compile = false;
  Engine engine(options);
  auto other = engine.Load(Parse(Modes)).value();
  for (uint64_t i = 0; i < 5000; ++i) CallMode(*other, 6, i, 20);
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(Count("dispatch"), 1u) << "it is for another constant\n" << Events();
  Forget();
  auto site = engine.Load(Parse(Modes)).value();
  EXPECT_TRUE(CallUntilSpecialized(*site)) << Events();
  EXPECT_EQ(engine.worker().spawned(), 0u);
}

TEST_F(EngineGuardTest, AGuardThatKeepsMissingIsGivenUp) {
  EngineOptions options = Eager();
  options.specialize = false;
  Engine engine(options);
  auto site = engine.Load(Parse(TwoPasses)).value();
  CallApart(*site, 40);
  ASSERT_TRUE(engine.Settle(20s));
  ASSERT_NE(Events().find("apart("), std::string::npos) << Events();
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < end && Count("dispatch") < 2) CallSame(*site, 100);
  ASSERT_EQ(Count("reopen"), 1u) << Events();
  ASSERT_EQ(Count("dispatch"), 2u) << Events();
  // What answers now answers all calls: whatever comes, nothing is made again, and what the store has is not taken again.
  const size_t lowered = Count("lower");
  for (int turn = 0; turn < 20; ++turn) {
    CallApart(*site, 500);
    CallSame(*site, 500);
  }
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(Count("lower"), lowered) << Events();
  EXPECT_EQ(Count("dispatch"), 2u) << Events();
  EXPECT_EQ(site->state(), dispatch::State::Solid);
}

// Constants that hold for a while, again and again: each time they are believed later.
TEST_F(EngineGuardTest, ConstantsThatComeAndGoCostFewForms) {
  Engine engine(Eager());
  auto site = engine.Load(Parse(Modes)).value();
  ASSERT_TRUE(CallUntilSpecialized(*site)) << Events();
  constexpr uint64_t Phases = 24, Calls = 5000;
  for (uint64_t phase = 0; phase < Phases; ++phase) {
    for (uint64_t i = 0; i < Calls; ++i) CallMode(*site, 6 + phase % 7, i, 100);
    ASSERT_TRUE(engine.Settle(20s));
  }
  // 1,000 calls, 5,000, 21,000, 85,000 ...
  EXPECT_GE(Count("reopen"), 1u) << Events();
  EXPECT_LE(Count("dispatch"), 6u) << Events();
}

}  // namespace
}  // namespace frazil::engine
