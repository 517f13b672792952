// Programs that set: from the interpreter to compiled code, in this process and in the next, by one thread and by
// several, and by hand.
#include "exec/native/native_run.h"
#include "frazil/frazil.h"
#include "support.h"

namespace frazil::engine {
namespace {

TEST_F(EngineTest, StartsFluidAndSets) {
  Engine engine(Options());
  auto site = engine.Load(Parse(Mix)).value();
  EXPECT_EQ(site->state(), dispatch::State::Fluid);
  ASSERT_TRUE(CallUntilSolid(*site)) << Events();
  for (uint64_t i = 0; i < 5000; ++i) CheckMix(*site, i, ~i, i % 100);
  const SiteReport report = site->Report();
  EXPECT_GT(report.solid_calls, 1000u);
  EXPECT_NE(report.what.find("native code"), std::string::npos) << report.what;
  EXPECT_NE(report.trust.find("proved"), std::string::npos) << report.trust;
  EXPECT_EQ(Count("observe"), 1u);
  EXPECT_GE(Count("admit"), 1u) << Events();
}

TEST_F(EngineTest, TheNextEngineStartsSolid) {
  {
    Engine engine(Options());
    auto site = engine.Load(Parse(Mix)).value();
    ASSERT_TRUE(CallUntilSolid(*site)) << Events();
  }
  EngineOptions options = Options();
  options.compile = false;
  Engine engine(options);
  auto site = engine.Load(Parse(Mix)).value();
  EXPECT_EQ(site->state(), dispatch::State::Solid) << Events();
  CheckMix(*site, 5, 9, 1000);
  EXPECT_EQ(engine.worker().spawned(), 0u);
  // Calls far larger than those that it was priced with: they are not compared with an interpreted small one.
  for (uint64_t i = 0; i < 3000 && site->Report().solid_calls == 0; ++i)
    CheckMix(*site, 5, 9, 100'000);
  EXPECT_GT(site->Report().saved_ms, 0) << site->Report().saved;
}

TEST_F(EngineTest, AnotherProgramIsAnotherEntry) {
  {
    Engine engine(Options());
    auto site = engine.Load(Parse(Mix)).value();
    ASSERT_TRUE(CallUntilSolid(*site)) << Events();
  }
  std::string other = Mix;
  other.replace(other.find("xor"), 3, "and");
  EngineOptions options = Options();
  options.compile = false;
  Engine engine(options);
  auto site = engine.Load(Parse(other)).value();
  EXPECT_EQ(site->state(), dispatch::State::Fluid);
  const uint64_t arguments[] = {3, 5, 4};
  uint64_t result = 0;
  ASSERT_EQ(site->Call(arguments, &result), 0);
  EXPECT_EQ(result, (0u & 5) + (3u & 5) + (6u & 5) + (9u & 5));
}

TEST_F(EngineTest, HotCallsIsAPresetThatWins) {
  EngineOptions options = Options();
  options.hot_calls = 50;
  Engine engine(options);
  auto site = engine.Load(Parse(Mix)).value();
  for (uint64_t i = 0; i < 49; ++i) CheckMix(*site, i, 1, 3);
  EXPECT_EQ(Count("observe"), 0u);
  CheckMix(*site, 1, 1, 3);
  EXPECT_EQ(Count("observe"), 1u);
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(site->state(), dispatch::State::Solid) << Events();
}

TEST_F(EngineTest, SeveralThreadsOneSite) {
  Engine engine(Options());
  auto site = engine.Load(Parse(Mix)).value();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; !stop; ++i) CheckMix(*site, i + t, t, i % 60);
    });
  }
  const bool solid = CallUntilSolid(*site);
  for (int i = 0; i < 20; ++i) {
    site->Freeze();
    site->Unfreeze();
    CheckMix(*site, 7, 8, 9);
  }
  site->Ban();
  std::this_thread::sleep_for(20ms);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(solid) << Events();
  EXPECT_EQ(site->state(), dispatch::State::Banned);
  CheckMix(*site, 7, 8, 9);
}

TEST_F(EngineTest, FrozenStaysAsItIs) {
  EngineOptions options = Options();
  options.hot_calls = 5;
  Engine engine(options);
  auto site = engine.Load(Parse(Mix)).value();
  site->Freeze();
  for (uint64_t i = 0; i < 100; ++i) CheckMix(*site, i, 1, 3);
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(site->state(), dispatch::State::Frozen);
  site->Unfreeze();
  for (uint64_t i = 0; i < 10; ++i) CheckMix(*site, i, 1, 3);
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(site->state(), dispatch::State::Solid) << Events();
}

TEST_F(EngineTest, ASiteOutlivesItsEngine) {
  std::shared_ptr<Site> site;
  {
    Engine engine(Options());
    site = engine.Load(Parse(Mix)).value();
    ASSERT_TRUE(CallUntilSolid(*site)) << Events();
  }
  for (uint64_t i = 0; i < 3000; ++i) CheckMix(*site, i, 1, 3);
}

TEST_F(EngineTest, TrapsAreTheSameOnBothPaths) {
  const ir::Program divide = Parse(R"(frz 1
func @main(%a: i32, %b: i32) -> (i32) {
  %q = div.trunc %a, %b : i32
  %s = add.checked %q, %a : i32
  return %s
}
)");
  EngineOptions options = Options();
  options.hot_calls = 10;
  Engine engine(options);
  auto site = engine.Load(divide).value();
  auto check = [&] {
    uint64_t result = 0;
    const uint64_t fine[] = {static_cast<uint64_t>(int64_t{-7}), 2};
    ASSERT_EQ(site->Call(fine, &result), 0);
    EXPECT_EQ(result, static_cast<uint64_t>(int64_t{-10}));
    const uint64_t zero[] = {1, 0};
    EXPECT_EQ(site->Call(zero, &result), 1 + static_cast<int32_t>(ir::Trap::DivisionByZero));
    const uint64_t over[] = {0x7fffffff, 1};
    EXPECT_EQ(site->Call(over, &result), 1 + static_cast<int32_t>(ir::Trap::Overflow));
  };
  check();
  for (int i = 0; i < 10; ++i) check();
  ASSERT_TRUE(engine.Settle(20s));
  ASSERT_EQ(site->state(), dispatch::State::Solid) << Events();
  check();
}

// The first call would take minutes on the interpreter: it is begun again on compiled code.
TEST_F(EngineTest, ALongFirstCallIsBegunAgain) {
  EngineOptions options = Options();
  options.hot_calls = 1;
  Engine engine(options);
  auto site = engine.Load(Parse(Mix)).value();
  CheckMix(*site, 1, 2, 10);  // hot: compiling starts
  const uint64_t n = 300'000'000;
  const uint64_t arguments[] = {3, 4, n};
  uint64_t result = 0;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(site->Call(arguments, &result), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(result, MixMeans(3, 4, n));
}

TEST_F(EngineTest, ConstantArgumentsAreSpecializedAndDriftIsSeen) {
  EngineOptions options = Options();
  options.hot_calls = 5;
  options.first_estimate_ms = 0.01;
  Engine engine(options);
  auto site = engine.Load(Parse(Modes)).value();
  auto call = [&](uint64_t mode, uint64_t x, uint64_t n) {
    const uint64_t arguments[] = {mode, x, n};
    uint64_t result = 0;
    EXPECT_EQ(site->Call(arguments, &result), 0);
    uint64_t expected = x;
    for (uint64_t i = 0; i < n; ++i)
      expected = mode == 1 ? expected * expected : (expected ^ mode) * mode;
    EXPECT_EQ(result, expected);
  };
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < end && Count("dispatch") < 2) {
    for (uint64_t i = 0; i < 2000; ++i) call(5, i, 1 + i % 200);
  }
  EXPECT_GE(Count("dispatch"), 2u) << Events();
  for (uint64_t i = 0; i < 20'000 && Count("reopen") == 0; ++i) call(6 + i % 3, i, 20);
  EXPECT_EQ(Count("reopen"), 1u) << Events();
  call(1, 3, 4);
}

TEST_F(EngineTest, BuffersOfTheCaller) {
  EngineOptions options = Options();
  options.hot_calls = 20;
  Engine engine(options);
  auto site = engine
                  .Load(Parse(R"(frz 1
func @main(%x: in buffer<i32>, %y: buffer<i32>) {
  %zero = const 0 : index
  %n = length %x : i32
  parallel %i = %zero to %n {
    %a = load %x, %i : i32
    %b = load %y, %i : i32
    %s = add %a, %b : i32
    store %y, %i, %s : i32
    yield
  }
  return
}
)"))
                  .value();
  std::vector<int32_t> x(100, 3), y(100, 0);
  auto call = [&](int32_t* a, uint64_t na, int32_t* b, uint64_t nb) {
    const uint64_t arguments[] = {reinterpret_cast<uint64_t>(a), na, reinterpret_cast<uint64_t>(b),
                                  nb};
    return site->Call(arguments, nullptr);
  };
  auto check = [&] {
    std::ranges::fill(y, 5);
    ASSERT_EQ(call(x.data(), 100, y.data(), 100), 0);
    EXPECT_EQ(y, std::vector<int32_t>(100, 8));
    // One buffer twice is allowed, a part of it is not.
    ASSERT_EQ(call(y.data(), 100, y.data(), 100), 0);
    EXPECT_EQ(y, std::vector<int32_t>(100, 16));
    EXPECT_EQ(call(y.data(), 50, y.data() + 7, 50), LaunchFailed);
    EXPECT_EQ(y, std::vector<int32_t>(100, 16));
    EXPECT_EQ(call(x.data(), 100, y.data(), 60), 1 + static_cast<int32_t>(ir::Trap::OutOfBounds));
  };
  for (int i = 0; i < 20; ++i) check();
  ASSERT_TRUE(engine.Settle(20s));
  ASSERT_EQ(site->state(), dispatch::State::Solid) << Events();
  check();
}

// Whether tuned code is faster depends on the machine; that it is tried, once, does not.
TEST_F(EngineTest, ASiteThatStaysHotIsTuned) {
  EngineOptions options = Options();
  options.hot_calls = 20;
  options.first_estimate_ms = 0.01;
  options.specialize = false;
  Engine engine(options);
  auto site = engine
                  .Load(Parse(R"(frz 1
func @main(%x: in buffer<f32>, %y: out buffer<f32>) {
  %zero = const 0 : index
  %n = length %x : f32
  parallel %i = %zero to %n {
    %a = load %x, %i : f32
    %p = mul %a, %a : f32
    store %y, %i, %p : f32
    yield
  }
  return
}
)"))
                  .value();
  std::vector<float> x(3000, 3), y(3000);
  const uint64_t arguments[] = {reinterpret_cast<uint64_t>(x.data()), x.size(),
                                reinterpret_cast<uint64_t>(y.data()), y.size()};
  const auto tuned = [&] { return Events().find(" bytes of tuned ") != std::string::npos; };
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < end && !tuned()) {
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(site->Call(arguments, nullptr), 0);
    EXPECT_EQ(y, std::vector<float>(3000, 9));
  }
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_TRUE(tuned()) << Events();
  EXPECT_EQ(site->state(), dispatch::State::Solid);
  const size_t lowered = Count("lower");
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(site->Call(arguments, nullptr), 0);
  EXPECT_EQ(y, std::vector<float>(3000, 9));
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(Count("lower"), lowered) << Events();
}

// A program that never ends, ended by its caller: on the interpreter, and compiled.
TEST_F(EngineTest, ACallerCanStopACall) {
  EngineOptions options = Options();
  options.hot_calls = 5;
  Engine engine(options);
  // It never ends for one key only: a program that hardly ever ended could not be verified by samples.
  auto site = engine
                  .Load(Parse(R"(frz 1
func @main(%n: u8, %key: u64) -> (u8) {
  %zero = const 0 : u8
  %one = const 1 : u8
  %magic = const 81985529216486895 : u64
  %endless = eq %key, %magic : u64
  %last = while (%i = %zero) {
    %other = ne %i, %n : u8
    %more = or %other, %endless : bool
    condition %more
  } do {
    %next = add %i, %one : u8
    yield %next
  }
  return %last
}
)"))
                  .value();
  auto stopped = [&] {
    std::atomic<uint8_t> stop{0};
    exec::NativeRun run;
    run.stop = reinterpret_cast<const uint8_t*>(&stop);
    std::thread other([&] {
      std::this_thread::sleep_for(20ms);
      stop = 1;
    });
    const uint64_t never[] = {1, 81985529216486895};
    uint64_t result = 0;
    EXPECT_EQ(site->Call(never, &result, &run), 1 + static_cast<int32_t>(ir::Trap::Fuel));
    other.join();
  };
  stopped();
  for (uint64_t i = 0; i < 10; ++i) {
    const uint64_t arguments[] = {i, i};
    uint64_t result = 0;
    ASSERT_EQ(site->Call(arguments, &result), 0);
    EXPECT_EQ(result, i);
  }
  ASSERT_TRUE(engine.Settle(20s));
  ASSERT_EQ(site->state(), dispatch::State::Solid) << Events();
  stopped();
}

// A call has no time limit, however many turns it takes, and code that was verified is not held against the price of a
// call that was cut off.
TEST_F(EngineTest, ManyInnerTurnsSetToo) {
  EngineOptions options = Options();
  options.hot_calls = 5;
  Engine engine(options);
  auto site = engine
                  .Load(Parse(R"(frz 1
func @main(%n: index, %turns: index, %x: in buffer<f32>, %y: out buffer<f32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %v = load %x, %i : f32
    %s = for %j = %zero to %turns step 1 carry (%a = %v) {
      %b = add %a, %v : f32
      yield %b
    }
    store %y, %i, %s : f32
    yield
  }
  return
}
)"))
                  .value();
  std::vector<float> x(256), y(256);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const uint64_t arguments[] = {x.size(),
                                2047,
                                reinterpret_cast<uint64_t>(x.data()),
                                x.size(),
                                reinterpret_cast<uint64_t>(y.data()),
                                y.size()};
  for (int call = 0; call < 10; ++call) {
    ASSERT_EQ(site->Call(arguments, nullptr), 0);
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 2048 * x[i]);
  }
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(site->state(), dispatch::State::Solid) << Events();
}

TEST_F(EngineTest, ThePublicDoorChecksTypes) {
  frazil::Options options;
  options.store = folder_ / "store";
  frazil::Engine engine(options);
  frazil::Slot slot = engine.Load(Mix).value();
  const frazil::Outcome right = slot(int64_t{3}, int64_t{5}, int64_t{4});
  ASSERT_TRUE(right);
  EXPECT_EQ(right.get<uint64_t>(), MixMeans(3, 5, 4));
  const frazil::Outcome wrong = slot(3.0f, int64_t{5}, int64_t{4});
  EXPECT_FALSE(wrong);
  EXPECT_EQ(wrong.error(), "argument 1 does not fit its parameter, which is i64");
  EXPECT_FALSE(slot(int64_t{3}));
  EXPECT_FALSE(engine.Load("frz 1\nfunc @main() { nonsense }"));
  EXPECT_FALSE(frazil::Program::Read("no such file"));
}

}  // namespace
}  // namespace frazil::engine
