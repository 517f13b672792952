// The interpreter on small programs: structure, memory, streams, limits and traps.
#include "exec/meaning/interpreter.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "exec/test_run.h"
#include "ir/text/test_ops.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

using ir::Op;
namespace types = ir::types;

Value I32(int64_t v) { return Value::Int(types::I32, v); }

std::shared_ptr<Memory> MakeMemory(ir::Type element, std::vector<int64_t> values) {
  auto memory = std::make_shared<Memory>(element, static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    memory->Set(static_cast<int64_t>(i), Value::Int(element, values[i]).scalar_words());
  return memory;
}

std::string Contents(const std::shared_ptr<Memory>& memory) {
  return PrintValue(Value::Buffer(memory));
}

TEST(Interpreter, LoopsCarryInParallel) {
  // Fibonacci: both carried values change places at once.
  const std::string text = "func @main(%n: i32) -> (i32, i32) {\n" +
                           ir::FibonacciLines("i32", "i32", "%n") + "  return %a, %b\n}";
  EXPECT_EQ(Results(Execute(text, {I32(10)})), "55 89");
  EXPECT_EQ(Results(Execute(text, {I32(0)})), "0 1");
  EXPECT_EQ(Results(Execute(text, {I32(-5)})), "0 1");
}

std::string CountLoop(const std::string& type, const std::string& lo, const std::string& hi,
                      int64_t step) {
  return fmt::format(R"(
func @main() -> (index, {0}) {{
  %lo = const {1} : {0}
  %hi = const {2} : {0}
  %none = const 0 : index
  %one = const 1 : index
  %start = const 0 : {0}
  %n, %last = for %i = %lo to %hi step {3} carry (%c = %none, %l = %start) {{
    %d = add %c, %one : index
    yield %d, %i
  }}
  return %n, %last
}})",
                     type, lo, hi, step);
}

TEST(Interpreter, ForNeverWraps) {
  EXPECT_EQ(Results(Execute(CountLoop("u8", "250", "255", 3))), "2 253");
  EXPECT_EQ(Results(Execute(CountLoop("i8", "-128", "127", 100))), "3 72");
  EXPECT_EQ(Results(Execute(CountLoop("u64", "18446744073709551610", "18446744073709551615", 4))),
            "2 18446744073709551614");
  EXPECT_EQ(Results(Execute(CountLoop("i64", "-9223372036854775808", "9223372036854775807",
                                      9223372036854775807))),
            "3 9223372036854775806");
  EXPECT_EQ(Results(Execute(CountLoop("u64", "5", "5", 1))), "0 0");
  EXPECT_EQ(Results(Execute(CountLoop("u64", "18446744073709551615", "0", 1))), "0 0");
}

TEST(Interpreter, WhileGivesTheCarriedValuesOfTheFailedTest) {
  const std::string text = R"(
func @main(%n: i32) -> (i32, i32) {
  %one = const 1 : i32
  %zero = const 0 : i32
  %steps, %x = while (%s = %zero, %v = %n) {
    %t = ne %v, %one : i32
    %odd = and %v, %one : i32
    condition %t
  } do {
    %two = const 2 : i32
    %three = const 3 : i32
    %is_odd = eq %odd, %one : i32
    %next = if %is_odd -> (i32) {
      %m = mul %v, %three : i32
      %p = add %m, %one : i32
      yield %p
    } else {
      %h = div.trunc %v, %two : i32
      yield %h
    }
    %s2 = add %s, %one : i32
    yield %s2, %next
  }
  return %steps, %x
})";
  EXPECT_EQ(Results(Execute(text, {I32(27)})), "111 1");
  EXPECT_EQ(Results(Execute(text, {I32(1)})), "0 1");
}

TEST(Interpreter, Switch) {
  const std::string text = R"(
func @main(%v: i8) -> (i32) {
  %r = switch %v -> (i32) {
  case 0 {
    %a = const 10 : i32
    yield %a
  }
  case -5 {
    %b = const 20 : i32
    yield %b
  }
  default {
    %c = const 30 : i32
    yield %c
  }
  }
  return %r
})";
  EXPECT_EQ(Results(Execute(text, {Value::Int(types::I8, 0)})), "10");
  EXPECT_EQ(Results(Execute(text, {Value::Int(types::I8, -5)})), "20");
  EXPECT_EQ(Results(Execute(text, {Value::Int(types::I8, 5)})), "30");
}

const std::string Recursion = ir::RecursionText("i32", "%n");

TEST(Interpreter, DepthCountsNestedCalls) {
  // main calls down(n), which makes n more calls inside of it.
  EXPECT_EQ(Results(Execute(Recursion, {I32(999)})), "499500");
  EXPECT_EQ(Results(Execute(Recursion, {I32(1000)})), "depth in call");
  RunContext context;
  context.limits.depth = 0;
  EXPECT_EQ(Results(Execute(Recursion, {I32(0)}, context)), "depth in call");
  context.limits.depth = 1;
  EXPECT_EQ(Results(Execute(Recursion, {I32(0)}, context)), "0");
  // Far deeper than a stack of C++ frames would go.
  context.limits.depth = 300'000;
  EXPECT_EQ(Results(Execute(Recursion, {I32(200'000)}, context)),
            std::to_string(int32_t(200'000ll * 200'001 / 2)));
}

TEST(Interpreter, DeepNesting) {
  std::string text = "func @main(%t: bool) -> (i32) {\n%c = const 7 : i32\n";
  constexpr int Depth = 190;
  for (int i = 0; i < Depth; ++i) text += fmt::format("%r{} = if %t -> (i32) {{\n", i);
  text += "yield %c\n";
  for (int i = Depth; i-- > 0;) {
    text += "} else {\nyield %c\n}\n";
    text += i > 0 ? fmt::format("yield %r{}\n", i) : "return %r0\n";
  }
  text += "}";
  EXPECT_EQ(Results(Execute(text, {Value::Int(types::Bool, 1)})), "7");
}

TEST(Interpreter, FuelOfLoops) {
  const std::string text = R"(
func @main(%n: index) -> () {
  %zero = const 0 : index
  for %i = %zero to %n step 2 {
    yield
  }
  parallel %i = %zero to %n {
    yield
  }
  return
})";
  RunContext context;
  context.limits.fuel = 15;
  EXPECT_EQ(Results(Execute(text, {Index(10)}, context)), "");
  context.limits.fuel = 14;
  EXPECT_EQ(Results(Execute(text, {Index(10)}, context)), "fuel in parallel");
  context.limits.fuel = 4;
  EXPECT_EQ(Results(Execute(text, {Index(10)}, context)), "fuel in for");
  EXPECT_EQ(Results(Execute(text, {Index(0)}, context)), "");
}

const char* const Countdown = R"(
func @main(%n: i64) -> (i64) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %r = while (%v = %n) {
    %t = ne %v, %zero : i64
    condition %t
  } do {
    %w = sub %v, %one : i64
    yield %w
  }
  return %r
})";

TEST(Interpreter, FuelOfWhileAndCall) {
  RunContext context;
  context.limits.fuel = 5;
  EXPECT_EQ(Results(Execute(Countdown, {Value::Int(types::I64, 5)}, context)), "0");
  EXPECT_EQ(Results(Execute(Countdown, {Value::Int(types::I64, 6)}, context)), "fuel in while");
  context.limits.fuel = 3;
  EXPECT_EQ(Results(Execute(Recursion, {I32(2)}, context)), "3");
  EXPECT_EQ(Results(Execute(Recursion, {I32(3)}, context)), "fuel in call");
}

TEST(Interpreter, MathTakesNoFuelAndNoDepth) {
  const std::string text = R"(
func @main(%x: f32) -> (f32) {
  %y = exp %x : f32
  return %y
})";
  RunContext context;
  context.limits.fuel = 0;
  context.limits.depth = 0;
  EXPECT_EQ(Results(Execute(text, {Value::Float(types::F32, 0)}, context)), "1");
}

TEST(Interpreter, StopFlagAndDeadline) {
  RunContext context;
  std::atomic<bool> stop = true;
  context.stop = &stop;
  EXPECT_EQ(Results(Execute(Countdown, {Value::Int(types::I64, -1)}, context)), "fuel in while");
  context.stop = nullptr;
  context.limits.run_ms = 30;
  EXPECT_EQ(Results(Execute(Countdown, {Value::Int(types::I64, -1)}, context)),
            "time-out after 30 ms in while");
  EXPECT_EQ(Results(Execute(CountLoop("u64", "0", "1000000000000000000", 1), {}, context)),
            "time-out after 30 ms in for");
  // The flag may be set while the program runs.
  stop = false;
  context.stop = &stop;
  context.limits.run_ms = 60'000;
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  EXPECT_EQ(Results(Execute(Countdown, {Value::Int(types::I64, -1)}, context)), "fuel in while");
  setter.join();
}

TEST(Interpreter, ScratchEndsWithItsRegion) {
  const std::string text = R"(
func @main(%n: index, %size: index) -> (index) {
  %zero = const 0 : index
  %one = const 1 : index
  %r = for %i = %zero to %n step 1 carry (%sum = %zero) {
    %b = alloc %size : u8
    %x = load %b, %zero : u8
    %seven = const 7 : u8
    store %b, %zero, %seven : u8
    %y = cast %x : index
    %s = add %sum, %y : index
    yield %s
  }
  return %r
})";
  RunContext context;
  context.limits.memory_bytes = 1000;
  // Zeroed anew each time, and never two at once.
  EXPECT_EQ(Results(Execute(text, {Index(100), Index(1000)}, context)), "0");
  EXPECT_EQ(Results(Execute(text, {Index(100), Index(1001)}, context)), "memory in alloc");
  EXPECT_EQ(Results(Execute(text, {Index(1), Index(-1)}, context)), "memory in alloc");
  EXPECT_EQ(Results(Execute(text, {Index(1), Index(INT64_MAX)}, context)), "memory in alloc");
  const std::string two = R"(
func @main(%a: index, %b: index) -> (index) {
  %x = alloc %a : i64
  %y = alloc %b : i64
  %n = length %y : i64
  return %n
})";
  EXPECT_EQ(Results(Execute(two, {Index(100), Index(25)}, context)), "25");
  EXPECT_EQ(Results(Execute(two, {Index(100), Index(26)}, context)), "memory in alloc");
}

TEST(Interpreter, BoundsOfBuffersAndTables) {
  const std::string text = R"(
data @t : i16 [5, -6, 7]
func @main(%b: buffer<i16>, %i: index, %j: index) -> (i16, index) {
  %v = lookup @t, %i : i16
  %old = load %b, %j : i16
  store %b, %j, %v : i16
  %n = length %b : i16
  return %old, %n
})";
  auto memory = MakeMemory(types::I16, {100, 200});
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory), Index(1), Index(1)})), "200 2");
  EXPECT_EQ(Contents(memory), "[100, -6]");
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory), Index(3), Index(1)})),
            "out of bounds in lookup");
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory), Index(-1), Index(1)})),
            "out of bounds in lookup");
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory), Index(0), Index(2)})),
            "out of bounds in load");
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory), Index(0), Index(-1)})),
            "out of bounds in load");
}

TEST(Interpreter, Atomics) {
  const std::string text = R"(
func @main(%b: buffer<i32>) -> (i32, i32, i32, i32) {
  %zero = const 0 : index
  %one = const 1 : index
  %five = const 5 : i32
  %nine = const 9 : i32
  %a = atomic %b, %zero, %five {kind = add} : i32
  %m = atomic %b, %zero, %nine {kind = max} : i32
  %c = atomic.cas %b, %one, %five, %nine : i32
  %x = atomic %b, %one, %five {kind = exchange} : i32
  return %a, %m, %c, %x
})";
  auto memory = MakeMemory(types::I32, {1, 5});
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory)})), "1 6 5 9");
  EXPECT_EQ(Contents(memory), "[9, 5]");
}

TEST(Interpreter, StreamsAreOrdered) {
  const std::string text = R"(
func @main() -> () {
  %a = input : i32
  %h = hint : i32
  %b = input : i32
  %d = sub %a, %b : i32
  output %d : i32
  output %h : i32
  %c = input : i32
  output %c : i32
  return
})";
  RunContext context;
  context.input = {I32(10), I32(3)};
  context.hints = {I32(77)};
  const Outcome outcome = Execute(text, {}, context);
  EXPECT_EQ(Results(outcome), "out of bounds in input");
  ASSERT_EQ(outcome.output.size(), 2u);
  EXPECT_EQ(outcome.output[0], I32(7));
  EXPECT_EQ(outcome.output[1], I32(77));
  context.input = {Value::Int(types::I64, 1)};
  const Result<Outcome> wrong = Interpret(Parse(text), {}, context);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().diag, Diag::WrongArgument);
}

TEST(Interpreter, TrapsInsideParallelNameTheOutermostIteration) {
  const std::string text = R"(
func @inner(%b: buffer<i32>, %k: index) -> () {
  %zero = const 0 : index
  %n = const 100 : index
  parallel %j = %zero to %n {
    %s = add %j, %k : index
    %v = load %b, %s : i32
    yield
  }
  return
}
func @main(%b: buffer<i32>, %lo: index) -> () {
  %hi = const 50 : index
  parallel %i = %lo to %hi {
    call @inner(%b, %i)
    yield
  }
  %at = const 9999 : index
  %v = load %b, %at : i32
  return
})";
  auto memory = std::make_shared<Memory>(types::I32, 120);
  Outcome outcome = Execute(text, {Value::Buffer(memory), Index(-3)});
  EXPECT_EQ(outcome.trap, (TrapInfo{ir::Trap::OutOfBounds, Op::Load, -3}));
  outcome = Execute(text, {Value::Buffer(memory), Index(0)});
  EXPECT_EQ(outcome.trap, (TrapInfo{ir::Trap::OutOfBounds, Op::Load, 21}));
  EXPECT_EQ(outcome.trap->ToString(), "out of bounds in load (parallel iteration 21)");
  memory = std::make_shared<Memory>(types::I32, 1000);
  outcome = Execute(text, {Value::Buffer(memory), Index(0)});
  EXPECT_EQ(outcome.trap, (TrapInfo{ir::Trap::OutOfBounds, Op::Load, -1}));
}

TEST(Interpreter, BarriersSplitPhases) {
  // Reverses in place through scratch, then rotates once for each round of a uniform loop.
  const std::string text = R"(
func @main(%b: buffer<i32>, %rounds: index) -> () {
  %zero = const 0 : index
  %one = const 1 : index
  %n = length %b : i32
  parallel %i = %zero to %n {
    %last = sub %n, %one : index
    %from = sub %last, %i : index
    %own = alloc %one : i32
    %v = load %b, %from : i32
    store %own, %zero, %v : i32
    barrier
    %w = load %own, %zero : i32
    store %b, %i, %w : i32
    barrier
    %r = for %k = %zero to %rounds step 1 carry (%acc = %w) {
      %next = add %i, %one : index
      %to = rem.floor %next, %n : index
      %x = load %b, %to : i32
      barrier
      store %b, %i, %x : i32
      %sum = add %acc, %x : i32
      barrier
      yield %sum
    }
    output %r : i32
    yield
  }
  return
})";
  auto memory = MakeMemory(types::I32, {1, 2, 3, 4, 5});
  const Outcome outcome = Execute(text, {Value::Buffer(memory), Index(2)});
  EXPECT_EQ(Results(outcome), "");
  // 5 4 3 2 1, rotated to 4 3 2 1 5, to 3 2 1 5 4.
  EXPECT_EQ(Contents(memory), "[3, 2, 1, 5, 4]");
  std::string output;
  for (const Value& value : outcome.output) output += PrintValue(value) + " ";
  EXPECT_EQ(output, "12 9 6 8 10 ");
  RunContext context;
  context.limits.memory_bytes = 500;
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory), Index(2)}, context)),
            "memory in barrier (parallel iteration 1)");
}

TEST(Interpreter, NestedParallelWithBarriers) {
  const std::string text = R"(
func @main(%b: buffer<i32>) -> () {
  %zero = const 0 : index
  %two = const 2 : index
  %three = const 3 : index
  %ten = const 10 : index
  parallel %i = %zero to %two {
    %s = alloc %three : i32
    parallel %j = %zero to %three {
      %ii = mul %i, %ten : index
      %ij = add %ii, %j : index
      %v = cast %ij : i32
      store %s, %j, %v : i32
      barrier
      %one = const 1 : index
      %k = add %j, %one : index
      %m = rem.floor %k, %three : index
      %w = load %s, %m : i32
      output %w : i32
      yield
    }
    barrier
    %x = load %s, %zero : i32
    output %x : i32
    yield
  }
  return
})";
  const Outcome outcome = Execute(text, {Value::Buffer(MakeMemory(types::I32, {}))});
  std::string output;
  for (const Value& value : outcome.output) output += PrintValue(value) + " ";
  EXPECT_EQ(output, "1 2 0 11 12 10 0 10 ");
}

TEST(Interpreter, AssertUnreachableAndMoves) {
  EXPECT_EQ(Results(Execute("func @main(%t: bool) -> () {\nassert %t\nreturn\n}",
                            {Value::Int(types::Bool, 0)})),
            "assert in assert");
  EXPECT_EQ(Results(Execute("func @main() -> () {\nunreachable\nreturn\n}")),
            "unreachable in unreachable");
  // A NaN with a payload passes calls, branches and memory unchanged.
  const std::string text = R"(
func @id(%x: f32) -> (f32) {
  return %x
}
func @main(%x: f32, %t: bool) -> (f32, f32) {
  %one = const 1 : index
  %zero = const 0 : index
  %y = call @id(%x)
  %b = alloc %one : f32
  store %b, %zero, %y : f32
  %z = load %b, %zero : f32
  %s = select %t, %z, %z : f32
  %r = if %t -> (f32) {
    yield %s
  } else {
    yield %x
  }
  %n = neg %r : f32
  return %r, %n
})";
  const Value nan = Value::Word(types::F32, 0xffa12345);
  EXPECT_EQ(Results(Execute(text, {nan, Value::Int(types::Bool, 1)})), "bits(0xffa12345) nan");
}

TEST(Interpreter, BigIntegersAndDigests) {
  const std::string text = R"(
func @main(%n: i32) -> (int<2>, field) {
  %one = const 1 : int<2>
  %lo = const 1 : i32
  %r = for %i = %lo to %n step 1 carry (%p = %one) {
    %b = cast.checked %i : int<2>
    %q = mul.checked %p, %b : int<2>
    yield %q
  }
  %d = const (1, 2, 3, 4, 5) : digest
  %x = digest.part %d {part = 4} : digest
  return %r, %x
})";
  EXPECT_EQ(Results(Execute(text, {I32(31)})), "265252859812191058636308480000000 5");
  EXPECT_EQ(Results(Execute(text, {I32(35)})), "overflow in mul.checked");
}

TEST(Launch, Refusals) {
  const ir::Program program = Parse(R"(
func @main(%n: index, %a: in buffer<i32>, %b: out buffer<i32>, %t: tensor<bool, [%n, 2]>) -> () {
  return
})");
  auto a = MakeMemory(types::I32, {1, 2, 3, 4});
  auto t = MakeMemory(types::Bool, {0, 1, 1, 0});
  const auto launch = [&](int64_t n, std::shared_ptr<Memory> first, std::shared_ptr<Memory> second,
                          std::vector<int64_t> dims) -> std::string {
    const std::vector<Value> arguments = {Index(n), Value::Buffer(first), Value::Buffer(second),
                                          Value::Tensor(t, std::move(dims))};
    const Result<void> result = CheckLaunch(program, arguments);
    return result ? "ok" : DiagId(result.error().diag);
  };
  auto b = MakeMemory(types::I32, {0, 0});
  EXPECT_EQ(launch(2, a, b, {2, 2}), "ok");
  EXPECT_EQ(launch(2, a, a, {2, 2}), "ok");
  EXPECT_EQ(launch(3, a, b, {2, 2}), DiagId(Diag::WrongArgument));
  EXPECT_EQ(launch(2, a, b, {4}), DiagId(Diag::WrongArgument));
  EXPECT_EQ(launch(1, a, b, {1, 2}), DiagId(Diag::WrongArgument));
  auto overlapping = std::make_shared<Memory>(types::I32, 2, a->data() + 4);
  EXPECT_EQ(launch(2, a, overlapping, {2, 2}), DiagId(Diag::OverlappingBuffers));
  auto beside = std::make_shared<Memory>(types::I32, 0, a->data() + 4);
  EXPECT_EQ(launch(2, a, beside, {2, 2}), "ok");
  EXPECT_EQ(launch(2, MakeMemory(types::U32, {1}), b, {2, 2}), DiagId(Diag::WrongArgument));
  t->data()[1] = std::byte{2};
  EXPECT_EQ(launch(2, a, b, {2, 2}), DiagId(Diag::WrongArgument));
  EXPECT_EQ(CheckLaunch(program, {}).error().diag, Diag::WrongArgumentCount);
  const std::vector<Value> bad_bool = {Value::Word(types::Bool, 2)};
  EXPECT_FALSE(CheckLaunch(Parse("func @main(%t: bool) -> () {\nreturn\n}"), bad_bool).has_value());
}

TEST(Target, ArtifactIsTheText) {
  const std::unique_ptr<Target> target = MakeInterpreterTarget();
  EXPECT_EQ(target->name(), "interp");
  const ir::Program program = Parse(Countdown);
  Artifact artifact = *target->Emit(program, {});
  EXPECT_EQ(artifact.bytes, ir::PrintText(program));
  EXPECT_EQ(target->Refuses(program), "");
  for (bool with_source : {true, false}) {
    if (!with_source) artifact.source = nullptr;
    const auto callable = target->Load(artifact);
    ASSERT_TRUE(callable.has_value());
    const std::vector<Value> arguments = {Value::Int(types::I64, 3)};
    EXPECT_EQ(Results(*(*callable)->Run(arguments, {})), "0");
  }
}

}  // namespace
}  // namespace frazil::exec
