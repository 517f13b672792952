// Calls at the edge of what is allowed give the same answer on the interpreter and on compiled code.
#include <fmt/format.h>
#include <pthread.h>

#include <functional>

#include "exec/meaning/interpreter.h"
#include "support.h"

namespace frazil::engine {
namespace {

// y[i] = x[i] + 1
constexpr const char* AddOne = R"(frz 1
func @main(%n: index, %x: in buffer<i32>, %y: out buffer<i32>) {
  %zero = const 0 : index
  %one = const 1 : i32
  for %i = %zero to %n step 1 {
    %v = load %x, %i : i32
    %w = add %v, %one : i32
    store %y, %i, %w : i32
    yield
  }
  return
}
)";

// A call that is interrupted half-way, as one is whose compiled form has just come. Begun again it would read what it
// has written, if that is one buffer.
TEST(BeginAgain, OnlyWhereNothingThatIsReadWasWritten) {
  constexpr size_t N = 6'000'000;
  for (const bool is_same : {false, true}) {
    const ir::Program program = Parse(AddOne);
    auto fluid = InterpreterFluid::Create(ir::SignedProgram::Of(program), {}).value();
    int begun_again = 0;
    fluid->SetRestart([&](const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) {
      ++begun_again;
      return fluid->Call(arguments, results, run);
    });
    std::vector<int32_t> x(N, 5), y(N, 0);
    std::atomic<bool> begins{false};
    std::thread interrupter([&] {
      begins.wait(false);
      std::this_thread::sleep_for(10ms);
      fluid->InterruptRunning();
    });
    std::vector<int32_t>& written = is_same ? x : y;
    const uint64_t arguments[] = {N, reinterpret_cast<uint64_t>(x.data()), N,
                                  reinterpret_cast<uint64_t>(written.data()), N};
    begins = true;
    begins.notify_all();
    EXPECT_EQ(fluid->Call(arguments, nullptr, nullptr), 0);
    interrupter.join();
    EXPECT_EQ(begun_again, is_same ? 0 : 1);
    EXPECT_EQ(std::ranges::count(written, 6), static_cast<ptrdiff_t>(N));
  }
}

uint64_t Address(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

class EngineCalls : public EngineTest {
 protected:
  // Checks on the interpreter, then calls until the site is solid, and checks again.
  void CheckOnBothPaths(const char* text, const std::function<void(Site&)>& check) {
    EngineOptions options = Options();
    options.hot_calls = 40;
    Engine engine(options);
    auto site = engine.Load(Parse(text)).value();
    check(*site);
    EXPECT_EQ(site->state(), dispatch::State::Warm);
    for (int i = 0; i < 40; ++i) check(*site);
    ASSERT_TRUE(engine.Settle(20s));
    ASSERT_EQ(site->state(), dispatch::State::Solid) << Events();
    check(*site);
  }
};

TEST_F(EngineCalls, ABufferWithoutMemoryIsRefused) {
  std::vector<int32_t> x(16, 5), y(16, 0);
  CheckOnBothPaths(AddOne, [&](Site& site) {
    auto call = [&](uint64_t n, const int32_t* from, uint64_t from_n, int32_t* to, uint64_t to_n) {
      const uint64_t words[] = {n, Address(from), from_n, Address(to), to_n};
      return site.Call(words, nullptr);
    };
    EXPECT_EQ(call(16, x.data(), 16, y.data(), 16), 0);
    EXPECT_EQ(y, std::vector<int32_t>(16, 6));
    EXPECT_EQ(call(8, nullptr, 8, y.data(), 16), LaunchFailed);
    EXPECT_NE(InterpreterFluid::LastLaunchError().find("argument 2: its memory is missing"),
              std::string::npos);
    EXPECT_EQ(call(8, x.data(), 16, nullptr, 8), LaunchFailed);
    EXPECT_EQ(call(0, nullptr, 0, y.data(), 16), 0);
    EXPECT_EQ(call(0, nullptr, 0, nullptr, 0), 0);
  });
}

// What a refused call points to is not copied for later either.
TEST_F(EngineCalls, ARefusedCallIsNoSample) {
  EngineOptions options = Options();
  options.hot_calls = 1;
  Engine engine(options);
  auto site = engine.Load(Parse(AddOne)).value();
  const uint64_t missing[] = {8, 0, 8, 0, 8};
  for (int i = 0; i < 50; ++i) EXPECT_EQ(site->Call(missing, nullptr), LaunchFailed);
  EXPECT_EQ(Count("observe"), 0u) << Events();
  std::vector<int32_t> x(16, 5), y(16, 0);
  const uint64_t words[] = {16, Address(x.data()), 16, Address(y.data()), 16};
  EXPECT_EQ(site->Call(words, nullptr), 0);
  EXPECT_EQ(Count("observe"), 1u) << Events();
}

TEST_F(EngineCalls, TensorsAreAsLargeAsTheirDimensionsSay) {
  std::vector<float> a(64 * 64, 1.5f), c(64 * 64, 0.f);
  CheckOnBothPaths(R"(frz 1
func @main(%m: index, %k: index, %a: tensor<f32, [%m, %k]>) -> (tensor<f32, [%m, %k]>) {
  %two = const 2.0 : f32
  %c = map (%x = %a) -> tensor<f32, [%m, %k]> {
    %y = mul %x, %two : f32
    yield %y
  }
  return %c
}
)",
                   [&](Site& site) {
                     auto call = [&](int64_t m, int64_t k, const float* from, uint64_t from_n,
                                     float* to, uint64_t to_n) {
                       const uint64_t words[] = {static_cast<uint64_t>(m),
                                                 static_cast<uint64_t>(k),
                                                 Address(from),
                                                 from_n,
                                                 Address(to),
                                                 to_n};
                       return site.Call(words, nullptr);
                     };
                     constexpr int64_t Half = int64_t{1} << 32;
                     std::ranges::fill(c, 0.f);
                     EXPECT_EQ(call(64, 64, a.data(), 4096, c.data(), 4096), 0);
                     EXPECT_EQ(c, std::vector<float>(4096, 3.f));
                     EXPECT_EQ(call(0, 64, a.data(), 0, c.data(), 0), 0);
                     // Products that wrap to the length.
                     EXPECT_EQ(call(Half, Half, a.data(), 0, c.data(), 0), LaunchFailed);
                     EXPECT_EQ(call(INT64_MIN, 2, a.data(), 0, c.data(), 0), LaunchFailed);
                     EXPECT_EQ(call(-64, -64, a.data(), 4096, c.data(), 4096), LaunchFailed);
                     EXPECT_EQ(call(-64, 0, a.data(), 0, c.data(), 0), LaunchFailed);
                     EXPECT_EQ(call(64, 64, a.data(), 100, c.data(), 4096), LaunchFailed);
                     EXPECT_EQ(call(64, 64, a.data(), 4096, c.data(), 100), LaunchFailed);
                     EXPECT_NE(InterpreterFluid::LastLaunchError().find(
                                   "argument 4: a tensor of sizes [64, 64] has 4096 elements, its "
                                   "memory has 100"),
                               std::string::npos)
                         << InterpreterFluid::LastLaunchError();
                     EXPECT_EQ(call(8, 8, a.data(), 4096, c.data(), 4096), LaunchFailed);
                     // A tensor is a value: its result lies elsewhere.
                     EXPECT_EQ(call(64, 64, a.data(), 4096, a.data(), 4096), LaunchFailed);
                     EXPECT_EQ(a, std::vector<float>(4096, 1.5f));
                   });
}

// More buffers than the hot path has tests for, by a record that was looked at before the form came, and by a new one.
TEST_F(EngineCalls, ARecordOfManyBuffersGivesTheSameAnswers) {
  constexpr uint32_t Inputs = 12;
  constexpr size_t N = 64;
  std::string text = "frz 1\nfunc @main(%n: index", loads;
  for (uint32_t i = 0; i < Inputs; ++i) {
    text += fmt::format(", %b{}: in buffer<i32>", i);
    loads += fmt::format("    %v{0} = load %b{0}, %i : i32\n    %s{1} = add %s{0}, %v{0} : i32\n",
                         i, i + 1);
  }
  text += fmt::format(
      ", %o: out buffer<i32>) {{\n  %zero = const 0 : index\n  %s0 = const 1 : i32\n"
      "  parallel %i = %zero to %n {{\n{}    store %o, %i, %s{} : i32\n    yield\n  }}\n"
      "  return\n}}\n",
      loads, Inputs);
  std::vector<std::vector<int32_t>> in(Inputs, std::vector<int32_t>(N, 2));
  std::vector<int32_t> out(N);
  std::unique_ptr<dispatch::LaunchRecord> kept;
  auto fill = [&](dispatch::LaunchRecord& record) {
    EXPECT_TRUE(record.SetWord(0, N));
    for (uint32_t i = 0; i < Inputs; ++i) EXPECT_TRUE(record.SetBuffer(i + 1, in[i].data(), N));
    EXPECT_TRUE(record.SetBuffer(Inputs + 1, out.data(), N));
  };
  auto gives = [&](const dispatch::LaunchRecord& record, size_t n) {
    std::ranges::fill(out, 0);
    EXPECT_EQ(record.Call(nullptr), 0);
    EXPECT_EQ(std::ranges::count(out, 1 + 2 * static_cast<int32_t>(Inputs)),
              static_cast<ptrdiff_t>(n));
  };
  CheckOnBothPaths(text.c_str(), [&](Site& site) {
    if (kept == nullptr) {
      kept.reset(new dispatch::LaunchRecord(site.Record()));
      fill(*kept);
    }
    gives(*kept, N);
    dispatch::LaunchRecord record = site.Record();
    fill(record);
    gives(record, N);
    record.SetWord(0, N / 2);
    gives(record, N / 2);
    record.SetBuffer(Inputs + 1, in[3].data() + 1, N - 1);
    EXPECT_EQ(record.Call(nullptr), LaunchFailed);
    EXPECT_NE(InterpreterFluid::LastLaunchError().find("arguments 5 and 14 overlap"),
              std::string::npos)
        << InterpreterFluid::LastLaunchError();
    record.SetBuffer(Inputs + 1, out.data(), N);
    gives(record, N / 2);
  });
  kept.reset();
}

// @main calls @rec 3 n + 1 times, one within the other; each keeps so many values for when its callee has returned.
std::string DeepProgram(int values) {
  std::string text = R"(frz 1
func @rec(%n: i32, %x: i64) -> (i64) {
  %zero = const 0 : i32
  %one = const 1 : i32
  %stop = le %n, %zero : i32
  %r = if %stop -> (i64) {
    yield %x
  } else {
    %m = sub %n, %one : i32
    %v0 = cast %m : i64
)";
  for (int i = 1; i <= values; ++i)
    text +=
        fmt::format("    %p{0} = mul %v{1}, %x : i64\n    %v{0} = xor %p{0}, %x : i64\n", i, i - 1);
  // All of them are needed before the call and after it.
  text += fmt::format("    %s0 = call @rec(%m, %v{})\n", values);
  // Neither adds nor xors alone: those would be gathered before the call.
  for (int i = 1; i <= values; ++i)
    text += fmt::format("    %t{0} = add %s{1}, %v{0} : i64\n    %s{0} = xor %t{0}, %x : i64\n", i,
                        i - 1);
  text += fmt::format("    yield %s{}\n", values);
  text += R"(  }
  return %r
}
func @main(%n: u8) -> (i64) {
  %x = const 6364136223846793005 : i64
  %three = const 3 : i32
  %n32 = cast %n : i32
  %d = mul %n32, %three : i32
  %r = call @rec(%d, %x)
  return %r
}
)";
  return text;
}

void OnSmallStack(std::function<void()> run) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  auto start = [](void* self) -> void* {
    (*static_cast<std::function<void()>*>(self))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, &run), 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}

// The depth that the engine's limits allow, on either path and on any thread.
TEST_F(EngineCalls, RecursionDoesNotDependOnTheCallersStack) {
  const ir::Program program = Parse(DeepProgram(100));
  for (const uint64_t depth : {1000, 700}) {
    EngineOptions options = Options();
    options.hot_calls = 10;
    options.limits.depth = depth;
    Engine engine(options);
    auto site = engine.Load(program).value();
    const uint64_t last = std::min<uint64_t>((depth - 1) / 3, 255);
    const exec::Value argument = exec::Value::Int(ir::types::U8, static_cast<int64_t>(last));
    const uint64_t expected = exec::Interpret(program, {{argument}}).value().results[0].word;
    auto check = [&] {
      uint64_t result = 0;
      EXPECT_EQ(site->Call(&last, &result), 0) << depth;
      EXPECT_EQ(result, expected);
      const uint64_t one_more = last + 1;
      if (one_more > 255) return;
      EXPECT_EQ(site->Call(&one_more, &result), 1 + static_cast<int32_t>(ir::Trap::Depth)) << depth;
    };
    check();
    OnSmallStack(check);
    for (int i = 0; i < 10; ++i) check();
    ASSERT_TRUE(engine.Settle(20s));
    ASSERT_EQ(site->state(), dispatch::State::Solid) << Events();
    check();
    const uint64_t solid_calls = site->Report().solid_calls;
    OnSmallStack([&] {
      for (int i = 0; i < 2000; ++i) check();
    });
    EXPECT_GT(site->Report().solid_calls, solid_calls + 1000) << "it is served there, too";
  }
}

}  // namespace
}  // namespace frazil::engine
