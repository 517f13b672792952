// Running: traps with their op and iteration, limits, interruption, streams, memory, reuse after
// anything.
#include <atomic>
#include <chrono>
#include <thread>

#include "ir/text/test_text.h"
#include "targets/wasm/emit/work.h"
#include "targets/wasm/test_tools.h"

namespace frazil::targets::wasm {
namespace {

using exec::Value;
namespace types = ir::types;

exec::Outcome RunOf(exec::Callable& callable, std::vector<Value> arguments,
                    const exec::RunContext& context = {}) {
  Result<exec::Outcome> outcome = callable.Run(arguments, context);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().ToString());
  return outcome ? std::move(*outcome) : exec::Outcome{};
}

std::string TrapText(const exec::Outcome& outcome) {
  return outcome.trap ? outcome.trap->ToString() : "no trap";
}

const std::string Recursive = ir::RecursionText("i64", "%one");

TEST(Run, DepthIsExactAndStateComesBack) {
  auto callable = Loaded(Parsed(Recursive));
  exec::RunContext context;
  context.limits.depth = 10;
  EXPECT_EQ(RunOf(*callable, {Value::Int(types::I64, 9)}, context).results[0].word, 9u);
  EXPECT_EQ(TrapText(RunOf(*callable, {Value::Int(types::I64, 10)}, context)), "depth in call");
  EXPECT_EQ(RunOf(*callable, {Value::Int(types::I64, 9)}, context).results[0].word, 9u);
  context.limits.depth = 100'000;
  EXPECT_EQ(RunOf(*callable, {Value::Int(types::I64, 99'000)}, context).results[0].word, 99'000u);
}

TEST(Run, NativeStackOverflowIsADepthTrap) {
  auto callable = Loaded(Parsed(Recursive));
  exec::RunContext context;
  context.limits.depth = ~uint64_t{0};
  EXPECT_EQ(TrapText(RunOf(*callable, {Value::Int(types::I64, 1'000'000'000)}, context)),
            "depth in call");
  EXPECT_EQ(RunOf(*callable, {Value::Int(types::I64, 5)}).results[0].word, 5u);
}

TEST(Run, EntryThatCallsItselfIsAtDepthZero) {
  auto callable = Loaded(Parsed(R"(func @main(%n: i64) -> (i64) {
  %zero = const 0 : i64
  %stop = eq %n, %zero : i64
  %r = if %stop -> (i64) {
    yield %zero
  } else {
    %one = const 1 : i64
    %m = sub %n, %one : i64
    %s = call @main(%m)
    yield %s
  }
  return %r
}
)"),
                         true);
  exec::RunContext context;
  context.limits.depth = 3;
  context.limits.fuel = 3;
  EXPECT_FALSE(RunOf(*callable, {Value::Int(types::I64, 3)}, context).trap);
  EXPECT_EQ(TrapText(RunOf(*callable, {Value::Int(types::I64, 4)}, context)), "fuel in call");
  context.limits.fuel = 4;
  EXPECT_EQ(TrapText(RunOf(*callable, {Value::Int(types::I64, 4)}, context)), "depth in call");
}

TEST(Run, TrapNamesTheOutermostIteration) {
  auto callable = Loaded(Parsed(R"(func @divide(%a: index, %b: index) -> (index) {
  %lo = const 0 : index
  %hi = const 2 : index
  parallel %k = %lo to %hi {
    %q = div.trunc %a, %b : index
    yield
  }
  return %a
}
func @main(%n: index, %bad: index) -> (index) {
  %lo = const 0 : index
  parallel %i = %lo to %n {
    %d = sub %i, %bad : index
    %q = call @divide(%n, %d)
    yield
  }
  %r = call @divide(%n, %bad)
  return %r
}
)"));
  auto index = [](int64_t n) { return Value::Int(types::Index, n); };
  EXPECT_EQ(TrapText(RunOf(*callable, {index(9), index(7)})),
            "division by zero in div.trunc (parallel iteration 7)");
  EXPECT_EQ(TrapText(RunOf(*callable, {index(0), index(0)})),
            "division by zero in div.trunc (parallel iteration 0)");
  EXPECT_EQ(TrapText(RunOf(*callable, {index(3), index(5)})), "no trap");
}

TEST(Run, FirstTrapInProgramOrder) {
  // The later division is the first operand of the sum: it must not overtake the earlier one.
  auto callable =
      Loaded(Parsed(R"(func @main(%a: i32, %b: i32, %x: in buffer<i32>, %i: index) -> (i32) {
  %p = div.checked %a, %b : i32
  %q = load %x, %i : i32
  %r = add.checked %q, %p : i32
  return %r
}
)"));
  auto memory = std::make_shared<exec::Memory>(types::I32, 1);
  std::vector<Value> arguments = {Value::Int(types::I32, 1), Value::Int(types::I32, 0),
                                  Value::Buffer(memory), Value::Int(types::Index, 5)};
  EXPECT_EQ(TrapText(RunOf(*callable, arguments)), "division by zero in div.checked");
  arguments[1] = Value::Int(types::I32, 1);
  EXPECT_EQ(TrapText(RunOf(*callable, arguments)), "out of bounds in load");
}

TEST(Run, EndlessLoopsEnd) {
  auto callable = Loaded(Parsed(R"(func @main() {
  %t = const true : bool
  while () {
    condition %t
  } do {
    yield
  }
  return
}
)"));
  exec::RunContext context;
  context.limits.run_ms = 50;
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(TrapText(RunOf(*callable, {}, context)), "time-out after 50 ms in while");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));

  context.limits.run_ms = 60'000;
  std::atomic<bool> stop = false;
  context.stop = &stop;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop = true;
  });
  EXPECT_EQ(TrapText(RunOf(*callable, {}, context)), "fuel in while");
  stopper.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Run, ALoopTooLongForItsLimitIsInterrupted) {
  auto callable = Loaded(Parsed(R"(func @main(%n: i64) -> (i64) {
  %zero = const 0 : i64
  %s = for %i = %zero to %n step 1 carry (%acc = %zero) {
    %x = xor %acc, %i : i64
    %y = add %x, %i : i64
    yield %y
  }
  return %s
}
)"));
  exec::RunContext context;
  context.limits.run_ms = 50;
  EXPECT_EQ(RunOf(*callable, {Value::Int(types::I64, 4)}, context).results[0].word, 4u);
  EXPECT_TRUE(RunOf(*callable, {Value::Int(types::I64, int64_t{1} << 60)}, context).trap);
  EXPECT_EQ(RunOf(*callable, {Value::Int(types::I64, 4)}, context).results[0].word, 4u);
}

TEST(Run, ScratchIsZeroedCountedAndReleased) {
  auto callable = Loaded(Parsed(R"(func @main(%n: index, %size: index) -> (i64) {
  %zero = const 0 : index
  %one = const 1 : i64
  %start = const 0 : i64
  %s = for %i = %zero to %n step 1 carry (%acc = %start) {
    %b = alloc %size : i64
    %v = load %b, %zero : i64
    store %b, %zero, %one : i64
    %next = add %acc, %v : i64
    yield %next
  }
  return %s
}
)"));
  exec::RunContext context;
  context.limits.memory_bytes = 8000;
  auto index = [](int64_t n) { return Value::Int(types::Index, n); };
  EXPECT_EQ(RunOf(*callable, {index(1000), index(1000)}, context).results[0].word, 0u);
  EXPECT_EQ(TrapText(RunOf(*callable, {index(1), index(1001)}, context)), "memory in alloc");
  EXPECT_EQ(TrapText(RunOf(*callable, {index(1), index(-1)}, context)), "memory in alloc");
  context.limits.memory_bytes = uint64_t{1} << 40;
  EXPECT_EQ(TrapText(RunOf(*callable, {index(1), index(int64_t{1} << 36)}, context)),
            "memory in alloc");
  EXPECT_EQ(RunOf(*callable, {index(3), index(1 << 24)}, context).results[0].word, 0u);
}

TEST(Run, OutputGrowsBesideTheHeap) {
  auto callable = Loaded(Parsed(R"(func @main(%n: index, %size: index) {
  %zero = const 0 : index
  for %i = %zero to %n step 1 {
    output %i : index
    %b = alloc %size : u8
    output %i : index
    yield
  }
  return
}
)"));
  auto index = [](int64_t n) { return Value::Int(types::Index, n); };
  exec::Outcome outcome = RunOf(*callable, {index(5000), index(300'000)});
  ASSERT_EQ(outcome.output.size(), 10'000u);
  for (size_t i = 0; i < outcome.output.size(); ++i) ASSERT_EQ(outcome.output[i].word, i / 2);
}

TEST(Run, StreamsOfManyTypes) {
  ir::Program program = Parsed(R"(func @main() {
  %a = input : i8
  %b = input : int<3>
  %c = hint : digest
  %d = input : f32
  output %d : f32
  output %c : digest
  output %b : int<3>
  output %a : i8
  %e = input : bool
  return
}
)");
  auto callable = Loaded(program);
  exec::RunContext context;
  uint64_t big[] = {1, 2, ~uint64_t{0}};
  uint64_t five[] = {5, 4, 3, 2, 1};
  context.input = {Value::Int(types::I8, -7), Value::Scalar(ir::Type::Int(3), big),
                   Value::Word(types::F32, 0x7fc12345)};
  context.hints = {Value::Scalar(types::Digest, five)};
  exec::Outcome outcome = RunOf(*callable, {}, context);
  EXPECT_EQ(TrapText(outcome), "out of bounds in input");
  ASSERT_EQ(outcome.output.size(), 4u);
  EXPECT_EQ(outcome.output[0], context.input[2]);
  EXPECT_EQ(outcome.output[1], context.hints[0]);
  EXPECT_EQ(outcome.output[2], context.input[1]);
  EXPECT_EQ(outcome.output[3], context.input[0]);
  context.input[1] = Value::Int(types::I64, 1);
  Result<exec::Outcome> mismatch = callable->Run({}, context);
  ASSERT_FALSE(mismatch);
  EXPECT_EQ(mismatch.error().diag, Diag::WrongArgument);
}

TEST(Run, BigIntegersThroughTheHost) {
  auto callable = Loaded(Parsed(R"(func @main(%n: i64, %by: int<2>) -> (i32, int<4>, bool) {
  %one = const 1 : i64
  %seven = const 7 : i32
  %start = cast.checked %one : int<4>
  %f = for %i = %one to %n step 1 carry (%acc = %start) {
    %b = cast.checked %i : int<4>
    %next = mul.checked %acc, %b : int<4>
    yield %next
  }
  %wide = cast.checked %by : int<4>
  %r = div.checked %f, %wide : int<4>
  %less = lt %r, %f : int<4>
  return %seven, %r, %less
}
)"));
  uint64_t minus_three[] = {~uint64_t{2}, ~uint64_t{0}};
  std::vector<Value> arguments = {Value::Int(types::I64, 31),
                                  Value::Scalar(ir::Type::Int(2), minus_three)};
  exec::Outcome outcome = RunOf(*callable, arguments);
  ASSERT_EQ(outcome.results.size(), 3u);
  // -30! / 3
  EXPECT_EQ(exec::PrintValue(outcome.results[1]), "-88417619937397019545436160000000");
  EXPECT_EQ(outcome.results[0].word, 7u);
  EXPECT_EQ(outcome.results[2].word, 1u);
  arguments[0] = Value::Int(types::I64, 100);
  EXPECT_EQ(TrapText(RunOf(*callable, arguments)), "overflow in mul.checked");
}

TEST(Run, IdenticalBuffersShareMemory) {
  auto callable = Loaded(Parsed(R"(func @main(%x: in buffer<i32>, %y: out buffer<i32>) -> (i32) {
  %zero = const 0 : index
  %v = const 42 : i32
  store %y, %zero, %v : i32
  %r = load %x, %zero : i32
  return %r
}
)"));
  auto a = std::make_shared<exec::Memory>(types::I32, 2);
  auto b = std::make_shared<exec::Memory>(types::I32, 2);
  EXPECT_EQ(RunOf(*callable, {Value::Buffer(a), Value::Buffer(b)}).results[0].word, 0u);
  EXPECT_EQ(RunOf(*callable, {Value::Buffer(a), Value::Buffer(a)}).results[0].word, 42u);
}

TEST(Run, ThreadsMayShareACallable) {
  auto callable = Loaded(Parsed(Recursive));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 50; ++i) {
        Value argument = Value::Int(types::I64, 10 * t + i);
        auto outcome = callable->Run(std::span(&argument, 1), {});
        if (!outcome || outcome->results[0].word != argument.word) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(RunDeathTest, AMissingLibraryIsAnEnvironmentError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto load = [] {
    setenv("FRAZIL_WASMTIME", "/nonexistent/libwasmtime.so", 1);
    auto target = MakeWasmTarget();
    auto artifact = target->Emit(Parsed("func @main() {\n  return\n}\n"), {});
    auto callable = target->Load(*artifact);
    std::fprintf(stderr, "%s", callable ? "loaded" : callable.error().ToString().c_str());
    std::exit(callable ? 0 : ExitCodeOf(ClassOf(callable.error().diag)));
  };
  EXPECT_EXIT(load(), testing::ExitedWithCode(4),
              "FRZ0704.*was not found.*/nonexistent/libwasmtime.so");
}

TEST(Work, BoundsLoopsByConstantsAndArguments) {
  ir::Program program = Parsed(R"(func @main(%n: index, %x: in buffer<i32>) {
  %zero = const 0 : index
  %len = length %x : i32
  for %i = %zero to %n step 1 {
    for %j = %zero to %i step 2 {
      for %k = %zero to %len step 1 {
        yield
      }
      yield
    }
    yield
  }
  return
}
)");
  WorkBound work(program);
  EXPECT_EQ(work.always(), WorkBound::Unbounded);
  EXPECT_FALSE(work.is_hopeless());
  Interval params[] = {{1000, 1000}, {50, 50}};
  uint64_t bound = work.Of(params);
  EXPECT_GE(bound, 1000u * 500 * 50);
  EXPECT_LE(bound, 1000u * 500 * 50 * 10);
  EXPECT_TRUE(WorkBound(Parsed(Recursive)).is_hopeless());
}

}  // namespace
}  // namespace frazil::targets::wasm
