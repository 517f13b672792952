// Compiled programs as callables: traps, limits, streams, wrong use, and arithmetic at its edges against the
// interpreter.
#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "exec/random_arguments.h"
#include "ir/text/test_text.h"
#include "targets/c/test_support.h"

namespace frazil::targets::c {
namespace {

using exec::Value;
using testing::ExpectSame;
using testing::Parse;

std::unique_ptr<exec::Callable> Load(const ir::Program& program, bool metered = false) {
  const auto target = MakeCTarget();
  exec::EmitOptions options;
  options.metered = metered;
  Result<exec::Artifact> artifact = target->Emit(program, options);
  EXPECT_TRUE(artifact.has_value()) << artifact.error().ToString();
  if (!artifact) return nullptr;
  auto callable = target->Load(*artifact);
  EXPECT_TRUE(callable.has_value()) << callable.error().ToString();
  return callable ? std::move(*callable) : nullptr;
}

TEST(CCallable, MissingCompilerIsASentence) {
  const auto target = MakeCTarget("no-such-compiler");
  auto artifact = target->Emit(Parse("frz 1\nfunc @main() {\n  return\n}\n"), {});
  ASSERT_TRUE(artifact.has_value());
  auto callable = target->Load(*artifact);
  ASSERT_FALSE(callable.has_value());
  EXPECT_EQ(callable.error().diag, Diag::MissingTool);
}

TEST(CCallable, NothingAndEverythingIsAProgram) {
  auto callable = Load(Parse("frz 1\nfunc @main() {\n  return\n}\n"));
  ASSERT_NE(callable, nullptr);
  auto outcome = callable->Run({}, {});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->trap.has_value());
  EXPECT_TRUE(outcome->results.empty());
}

// The body of a function of two i32 for each kind of trap, and arguments that reach it.
TEST(CCallable, EveryTrapKind) {
  const std::vector<std::string> bodies = {
      "%r = div.trunc %a, %b : i32\n return %r",
      "%r = add.checked %a, %b : i32\n return %r",
      "%r = div.checked %a, %b : i32\n return %r",
      "%x = cast %a : index\n %one = const 1 : index\n %m = alloc %one : i32\n %r = load %m, %x : "
      "i32\n return %r",
      "%t = lt %a, %b : i32\n assert %t\n return %a",
      "%f = cast %b : field\n %i = invert %f : field\n %u = cast %i : u64\n %r = cast %u : i32\n "
      "return %r",
      "%t = lt %a, %b : i32\n if %t {\n unreachable\n yield\n }\n return %a",
      "%n = cast %a : index\n %m = alloc %n : f64\n return %a",
      "%z = const 0 : index\n %n = cast %b : index\n parallel %i = %z to %n {\n %x = cast %i : "
      "i32\n"
      " %t = ne %x, %a : i32\n assert %t\n yield\n }\n return %a",
      "%v = input : i32\n return %v",
      "%z = const 0 : i32\n %r = for %i = %z to %b step 3 carry (%p = %a) {\n yield %i\n }\n "
      "return %r",
  };
  std::vector<ir::Program> programs;
  for (const std::string& body : bodies)
    programs.push_back(
        Parse(fmt::format("frz 1\nfunc @main(%a: i32, %b: i32) -> (i32) {{\n{}\n}}\n", body)));
  for (bool metered : {false, true}) {
    Result<CBatch> batch = CBatch::Compile(programs, "", {}, metered);
    ASSERT_TRUE(batch.has_value()) << batch.error().ToString();
    for (size_t i = 0; i < programs.size(); ++i) {
      auto callable = batch->Get(i);
      ASSERT_TRUE(callable.has_value());
      for (int64_t a :
           {int64_t{0}, int64_t{-1}, int64_t{3}, int64_t{INT32_MIN}, int64_t{INT32_MAX}}) {
        for (int64_t b : {0, -1, 1, 5}) {
          exec::RunContext context;
          context.limits.memory_bytes = 1000;
          if (metered) context.limits.fuel = 4;
          // The interpreter always counts.
          if (!metered && i == 10) continue;
          const std::vector<Value> arguments = {Value::Int(ir::types::I32, a),
                                                Value::Int(ir::types::I32, b)};
          ExpectSame(programs[i], **callable, arguments, context,
                     fmt::format("body {} ({}, {})", i, a, b));
        }
      }
    }
  }
}

const std::string Countdown = "frz 1\n" + ir::RecursionText("i64", "%n");

TEST(CCallable, DepthAndDeepRecursion) {
  const ir::Program program = Parse(Countdown);
  auto callable = Load(program);
  ASSERT_NE(callable, nullptr);
  for (int64_t n : {0, 998, 999, 1000, 5000}) {
    const std::vector<Value> arguments = {Value::Int(ir::types::I64, n)};
    ExpectSame(program, *callable, arguments, {}, fmt::format("depth {}", n));
  }
  exec::RunContext deep;
  deep.limits.depth = 1'000'000;
  const std::vector<Value> arguments = {Value::Int(ir::types::I64, 900'000)};
  auto outcome = callable->Run(arguments, deep);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().ToString();
  ASSERT_FALSE(outcome->trap.has_value());
  EXPECT_EQ(outcome->results[0].word, 405000450000u);
  // More than any stack: a trap, not a crash.
  deep.limits.depth = UINT64_MAX;
  deep.limits.memory_bytes = 16 << 20;
  const std::vector<Value> endless = {Value::Int(ir::types::I64, INT64_MAX)};
  auto ended = callable->Run(endless, deep);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->trap, (exec::TrapInfo{ir::Trap::Depth, ir::Op::Call, -1}));
}

TEST(CCallable, FuelIsCounted) {
  const ir::Program program = Parse(Countdown);
  auto callable = Load(program, true);
  ASSERT_NE(callable, nullptr);
  for (uint64_t fuel = 0; fuel < 8; ++fuel) {
    exec::RunContext context;
    context.limits.fuel = fuel;
    const std::vector<Value> arguments = {Value::Int(ir::types::I64, 5)};
    ExpectSame(program, *callable, arguments, context, fmt::format("fuel {}", fuel));
  }
}

TEST(CCallable, EndlessLoopsEnd) {
  const ir::Program program = Parse(R"(frz 1
func @main() {
  %true = const true : bool
  while () {
    condition %true
  } do {
    yield
  }
  return
})");
  auto callable = Load(program);
  ASSERT_NE(callable, nullptr);
  const exec::TrapInfo expected = {ir::Trap::Fuel, ir::Op::While, -1};
  exec::RunContext context;
  context.limits.run_ms = 30;
  auto timed = callable->Run({}, context);
  ASSERT_TRUE(timed.has_value());
  EXPECT_EQ(timed->trap, (exec::TrapInfo{ir::Trap::Fuel, ir::Op::While, -1, 30}));
  const std::atomic<bool> stop = true;
  exec::RunContext stopped;
  stopped.stop = &stop;
  auto outcome = callable->Run({}, stopped);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->trap, expected);
}

TEST(CCallable, StreamsHaveTypes) {
  const ir::Program program = Parse(R"(frz 1
func @main() -> (int<2>, f16) {
  %a = input : int<2>
  %b = input : f16
  %h = hint : digest
  output %h : digest
  output %b : f16
  output %a : int<2>
  return %a, %b
})");
  auto callable = Load(program);
  ASSERT_NE(callable, nullptr);
  exec::RunContext context;
  context.input = {Value::Int(ir::Type::Int(2), -5), Value::Word(ir::types::F16, 0x7d01)};
  context.hints = {exec::RandomScalar(ir::types::Digest, 3)};
  ExpectSame(program, *callable, {}, context, "streams");
  context.input[1] = Value::Word(ir::types::BF16, 1);
  auto outcome = callable->Run({}, context);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().diag, Diag::WrongArgument);
  context.input.resize(1);
  ExpectSame(program, *callable, {}, context, "end of input");
}

TEST(CCallable, TensorsComeAndGoAsValues) {
  const ir::Program program = Parse(R"(frz 1
func @main(%n: index, %t: tensor<f32, [%n]>) -> (f32, tensor<f32, [%n]>) {
  %d = map (%x = %t) -> tensor<f32, [%n]> {
    %y = add %x, %x : f32
    yield %y
  }
  %s = reduce %t {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  %r = extract %s : f32
  return %r, %d
})");
  auto callable = Load(program);
  ASSERT_NE(callable, nullptr);
  for (uint64_t seed = 0; seed < 5; ++seed)
    ExpectSame(program, *callable, exec::RandomArguments(program, seed), {},
               fmt::format("tensor {}", seed));
}

// Regions as deep as a text may have them; clang has a limit of its own.
TEST(CCallable, DeepNesting) {
  std::string body = "%one = const 1 : i32\n";
  std::string value = "%a";
  for (int i = 0; i < 150; ++i) body += fmt::format("%r{0} = if %t -> (i32) {{\n", i);
  body += "%x = add %a, %one : i32\nyield %x\n";
  for (int i = 149; i >= 0; --i) {
    body += "} else {\nyield %one\n}\n";
    body += fmt::format("{} %r{}\n", i == 0 ? "return" : "yield", i);
  }
  const ir::Program program =
      Parse(fmt::format("frz 1\nfunc @main(%a: i32, %t: bool) -> (i32) {{\n{}}}\n", body));
  for (const char* compiler : {"gcc-12", "clang-22"}) {
    Result<CBatch> batch = CBatch::Compile(std::span(&program, 1), compiler);
    ASSERT_TRUE(batch.has_value()) << batch.error().ToString();
    auto callable = batch->Get(0);
    ASSERT_TRUE(callable.has_value());
    const std::vector<Value> arguments = {Value::Int(ir::types::I32, 6),
                                          Value::Int(ir::types::Bool, 1)};
    ExpectSame(program, **callable, arguments, {}, compiler);
  }
}

// Vectorized and scalar, with fma hardware and with the flags under which gcc contracts.
TEST(CCallable, NoContraction) {
  const ir::Program program = Parse(R"(frz 1
func @main(%n: index, %x: in buffer<f32>, %y: in buffer<f32>, %z: buffer<f32>, %a: f64, %b: f64, %c: f64) -> (f64) {
  %zero = const 0 : index
  for %i = %zero to %n step 1 {
)" +
                                    ir::OwnElements("f32", {"x", "y", "z"}, R"(
    %p = mul %xi, %yi : f32
    %r = sub %zi, %p : f32
)",
                                                    "z") +
                                    R"(
    yield
  }
  %p = mul %a, %b : f64
  %s = add %p, %c : f64
  return %s
})");
  const std::vector<std::string> flags = {"-std=gnu11", "-O3", "-march=native"};
  for (const char* compiler : {"gcc-12", "clang-22"}) {
    Result<CBatch> batch = CBatch::Compile(std::span(&program, 1), compiler, flags);
    ASSERT_TRUE(batch.has_value()) << batch.error().ToString();
    auto callable = batch->Get(0);
    ASSERT_TRUE(callable.has_value());
    for (int run = 0; run < 20; ++run) {
      std::vector<Value> arguments = {Value::Int(ir::types::Index, 64)};
      for (int k = 0; k < 3; ++k) {
        auto memory = std::make_shared<exec::Memory>(ir::types::F32, 64);
        for (int64_t i = 0; i < 64; ++i) {
          const uint64_t word =
              Value::Float(ir::types::F32, 1.0 / (3 + k + 7 * run + double(i))).word;
          memory->Set(i, std::span(&word, 1));
        }
        arguments.push_back(Value::Buffer(memory));
      }
      for (double d : {1.0 / (3 + run), 1.0 / (7 + run), -1.0 / ((3.0 + run) * (7 + run))})
        arguments.push_back(Value::Float(ir::types::F64, d));
      ExpectSame(program, **callable, arguments, {}, compiler);
    }
  }
}

// Edge values through every op of a type, compared to the bit.
void CompareOps(const std::string& type, const std::vector<std::string>& binary,
                const std::vector<std::string>& unary, int runs) {
  std::vector<ir::Program> programs;
  for (const std::string& op : binary) {
    programs.push_back(Parse(
        fmt::format("frz 1\nfunc @main(%a: {0}, %b: {0}) -> ({0}) {{\n  %r = {1} %a, %b : {0}\n"
                    "  return %r\n}}\n",
                    type, op)));
  }
  for (const std::string& op : unary) {
    programs.push_back(Parse(fmt::format(
        "frz 1\nfunc @main(%a: {0}) -> ({0}) {{\n  %r = {1} %a : {0}\n  return %r\n}}\n", type,
        op)));
  }
  for (const char* compiler : {"gcc-12", "clang-22"}) {
    const std::vector<std::string> flags = {"-O3", "-march=native"};
    Result<CBatch> batch = CBatch::Compile(programs, compiler, flags);
    ASSERT_TRUE(batch.has_value()) << batch.error().ToString();
    for (size_t i = 0; i < programs.size(); ++i) {
      auto callable = batch->Get(i);
      ASSERT_TRUE(callable.has_value());
      for (int run = 0; run < runs; ++run) {
        const auto arguments = exec::RandomArguments(programs[i], static_cast<uint64_t>(run));
        ExpectSame(programs[i], **callable, arguments, {},
                   fmt::format("{} {} run {}", compiler, type, run));
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(COps, Wide) {
  const std::vector<std::string> binary = {
      "add.checked", "sub.checked", "mul.checked", "div.checked", "rem.checked", "min", "max"};
  for (const char* type : {"int<1>", "int<2>", "int<5>", "int<64>"})
    CompareOps(type, binary, {"neg.checked", "abs.checked"}, 200);
}

TEST(COps, Fields) {
  for (const char* type : {"field", "xfield"})
    CompareOps(type, {"add", "sub", "mul", "field.div"}, {"neg", "invert"}, 200);
}

TEST(COps, Floats) {
  const std::vector<std::string> binary = {"add", "sub",     "mul",     "div",     "min",
                                           "max", "minimum", "maximum", "copysign"};
  const std::vector<std::string> unary = {"neg",  "abs",   "sqrt",   "floor",
                                          "ceil", "trunc", "nearest"};
  for (const char* type : {"f16", "bf16", "f32", "f64"}) CompareOps(type, binary, unary, 300);
}

TEST(COps, Integers) {
  const std::vector<std::string> binary = {
      "add",         "sub",       "mul",         "mul.hi",      "div.trunc",   "div.floor",
      "rem.trunc",   "rem.floor", "add.checked", "sub.checked", "mul.checked", "div.checked",
      "rem.checked", "min",       "max",         "and",         "or",          "xor",
      "shl",         "shr",       "rotl",        "rotr"};
  const std::vector<std::string> unary = {"neg", "neg.checked", "not", "clz", "ctz", "popcnt"};
  for (const char* type : {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "index"})
    CompareOps(type, binary, unary, 60);
}

}  // namespace
}  // namespace frazil::targets::c
