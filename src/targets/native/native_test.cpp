// The target from outside: images, what they need of a run, limits, and the text forms.
#include "targets/native/native.h"
#include "ir/text/test_text.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "exec/meaning/interpreter.h"
#include "exec/native/native_callable.h"
#include "ir/text/text.h"

namespace frazil::targets::native {
namespace {

using exec::CpuLevel;
using exec::Value;

ir::Program Parse(const std::string& body) { return ir::Parsed("frz 1\n" + body); }

const char* const MulAdd = R"(func @main(%a: i32, %b: i32) -> (i32) {
  %p = mul %a, %b : i32
  %r = add %p, %a : i32
  return %r
})";

const std::string Count = ir::RecursionText("i64", "%one");

const char* const Forever = R"(func @main(%n: i64) -> (i64) {
  %r = while (%x = %n) {
    %t = const true : bool
    condition %t
  } do {
    %one = const 1 : i64
    %y = add %x, %one : i64
    yield %y
  }
  return %r
})";

std::vector<CpuLevel> Levels() {
  std::vector<CpuLevel> levels;
  for (int i = 0; i <= static_cast<int>(exec::HostLevel()); ++i)
    levels.push_back(static_cast<CpuLevel>(i));
  return levels;
}

Result<exec::Outcome> RunNative(const ir::Program& program, std::vector<Value> arguments,
                                const exec::RunContext& context = {}, NativeOptions options = {},
                                bool metered = false) {
  const auto target = MakeNativeTarget(options);
  exec::EmitOptions emit;
  emit.metered = metered;
  const exec::Artifact artifact = TRY(target->Emit(program, emit));
  return TRY(target->Load(artifact))->Run(arguments, context);
}

TEST(NativeTest, RunsAtEveryLevelAndOptimization) {
  const ir::Program program = Parse(MulAdd);
  for (CpuLevel level : Levels()) {
    for (bool optimize : {false, true}) {
      NativeOptions options;
      options.level = level;
      options.optimize = optimize;
      const auto outcome = RunNative(
          program, {Value::Int(ir::types::I32, 6), Value::Int(ir::types::I32, 7)}, {}, options);
      ASSERT_TRUE(outcome.has_value()) << outcome.error().ToString();
      EXPECT_EQ(outcome->results[0], Value::Int(ir::types::I32, 48));
    }
  }
}

TEST(NativeTest, CodeThatCannotTrapNeedsNoRun) {
  const auto image = EmitImage(Parse(MulAdd));
  ASSERT_TRUE(image.has_value()) << image.error().ToString();
  EXPECT_FALSE(image->uses_run);
  const auto code = exec::NativeCode::Map(*image);
  ASSERT_TRUE(code.has_value()) << code.error().ToString();
  const uint64_t arguments[] = {5, 6};
  uint64_t result = 0;
  EXPECT_EQ((*code)->entry()(arguments, &result, nullptr), 0);
  EXPECT_EQ(result, 35u);
}

TEST(NativeTest, WordsInAndOutWithoutARun) {
  const auto image = EmitImage(Parse(R"(func @main(%a: i64, %b: i64) -> (i64) {
  %q = div.trunc %a, %b : i64
  return %q
})"));
  ASSERT_TRUE(image.has_value());
  EXPECT_TRUE(image->uses_run);
  const auto code = exec::NativeCode::Map(*image);
  ASSERT_TRUE(code.has_value());
  uint64_t arguments[] = {42, static_cast<uint64_t>(-6)};
  uint64_t result = 0;
  EXPECT_EQ(exec::CallNative(**code, arguments, &result, nullptr), 0);
  EXPECT_EQ(result, static_cast<uint64_t>(-7));
  arguments[1] = 0;
  EXPECT_EQ(exec::CallNative(**code, arguments, &result, nullptr),
            1 + static_cast<int>(ir::Trap::DivisionByZero));
  exec::NativeRun run;
  EXPECT_EQ(exec::CallNative(**code, arguments, &result, &run),
            1 + static_cast<int>(ir::Trap::DivisionByZero));
  EXPECT_EQ(static_cast<ir::Op>(run.trap_op), ir::Op::DivTrunc);
  EXPECT_EQ(run.trap_index, -1);
}

// A run that is used again has all of its memory again, even after a trap with scratch alive.
TEST(NativeTest, ARunIsUsedAgain) {
  const auto image = EmitImage(Parse(R"(func @main(%n: index, %i: index) -> (u8) {
  %scratch = alloc %n : u8
  %v = load %scratch, %i : u8
  return %v
})"));
  ASSERT_TRUE(image.has_value()) << image.error().ToString();
  const auto code = exec::NativeCode::Map(*image);
  ASSERT_TRUE(code.has_value());
  exec::NativeRun run;
  run.memory_left = 1000;
  uint64_t result = 7;
  for (int i = 0; i < 5; ++i) {
    const uint64_t outside[] = {900, 900};
    EXPECT_EQ(exec::CallNative(**code, outside, &result, &run),
              1 + static_cast<int>(ir::Trap::OutOfBounds));
    const uint64_t inside[] = {1000, 999};
    EXPECT_EQ(exec::CallNative(**code, inside, &result, &run), 0);
    EXPECT_EQ(result, 0u);
    const uint64_t large[] = {1001, 0};
    EXPECT_EQ(exec::CallNative(**code, large, &result, &run),
              1 + static_cast<int>(ir::Trap::Memory));
  }
}

TEST(NativeTest, DeepRecursionEndsWithATrap) {
  const ir::Program program = Parse(Count);
  exec::RunContext context;
  const auto fits = RunNative(program, {Value::Int(ir::types::I64, 998)}, context);
  ASSERT_TRUE(fits.has_value());
  EXPECT_FALSE(fits->trap.has_value());
  EXPECT_EQ(fits->results[0], Value::Int(ir::types::I64, 998));
  const auto deep = RunNative(program, {Value::Int(ir::types::I64, 1000)}, context);
  ASSERT_TRUE(deep.has_value());
  ASSERT_TRUE(deep->trap.has_value());
  EXPECT_EQ(deep->trap->kind, ir::Trap::Depth);
  // Without a limit the stack is the limit: a trap, never a fault.
  context.limits.depth = UINT64_MAX;
  context.limits.memory_bytes = 32 << 20;
  const auto deepest = RunNative(program, {Value::Int(ir::types::I64, INT64_MAX)}, context);
  ASSERT_TRUE(deepest.has_value());
  ASSERT_TRUE(deepest->trap.has_value());
  EXPECT_EQ(deepest->trap->kind, ir::Trap::Depth);
}

// The depth that the run allows, and not one call more or less, whatever stack the caller has.
TEST(NativeTest, RecursionDoesNotDependOnTheCallersStack) {
  const auto image = EmitImage(Parse(Count));
  ASSERT_TRUE(image.has_value());
  EXPECT_TRUE(image->stack.recursive);
  EXPECT_GE(image->stack.frame_bytes, 512u);
  EXPECT_LE(image->stack.frame_bytes, 1024u);
  const auto code = exec::NativeCode::Map(*image);
  ASSERT_TRUE(code.has_value());
  auto check = [&](uint64_t depth) {
    exec::NativeRun run;
    for (const uint64_t n : {depth - 2, depth + 1, depth - 2}) {
      run.depth_left = depth;
      uint64_t result = 0;
      const auto status = exec::CallNative((*code)->function(), &n, &result, &run);
      EXPECT_EQ(status, n < depth ? 0 : 1 + static_cast<int>(ir::Trap::Depth)) << depth;
      if (n < depth) EXPECT_EQ(result, n);
      EXPECT_EQ(run.depth_left, depth) << "a trap leaves the run as it was";
    }
  };
  for (const uint64_t depth : {1000, 100'000}) {
    check(depth);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_t thread;
    std::function<void()> run = [&] { check(depth); };
    ASSERT_EQ(pthread_create(
                  &thread, &attributes,
                  [](void* self) -> void* {
                    (*static_cast<std::function<void()>*>(self))();
                    return nullptr;
                  },
                  &run),
              0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }
  // More than any stack is not begun.
  exec::NativeRun run;
  run.depth_left = UINT64_MAX;
  const uint64_t n = uint64_t{1} << 60;
  uint64_t result = 0;
  EXPECT_EQ(exec::CallNative((*code)->function(), &n, &result, &run), std::nullopt);
}

TEST(NativeTest, AnEndlessLoopIsStopped) {
  const ir::Program program = Parse(Forever);
  exec::RunContext context;
  context.limits.run_ms = 20;
  const auto timed = RunNative(program, {Value::Int(ir::types::I64, 0)}, context);
  ASSERT_TRUE(timed.has_value());
  EXPECT_EQ(timed->trap, (exec::TrapInfo{ir::Trap::Fuel, ir::Op::While, -1, 20}));
  std::atomic<bool> stop = false;
  context.limits.run_ms = 10'000;
  context.stop = &stop;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  const auto stopped = RunNative(program, {Value::Int(ir::types::I64, 0)}, context);
  stopper.join();
  ASSERT_TRUE(stopped.has_value());
  EXPECT_EQ(stopped->trap, (exec::TrapInfo{ir::Trap::Fuel, ir::Op::While, -1}));
}

TEST(NativeTest, FuelIsCountedWhenMetered) {
  exec::RunContext context;
  context.limits.fuel = 100;
  const auto outcome =
      RunNative(Parse(Forever), {Value::Int(ir::types::I64, 0)}, context, {}, true);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->trap, (exec::TrapInfo{ir::Trap::Fuel, ir::Op::While, -1}));
}

TEST(NativeTest, TextForms) {
  NativeOptions options;
  options.level = CpuLevel::Baseline;
  const auto llvm = EmitLlvm(Parse(MulAdd), options);
  ASSERT_TRUE(llvm.has_value());
  EXPECT_NE(llvm->find("define hidden i32 @frazil_entry(ptr"), std::string::npos) << *llvm;
  const auto assembly = EmitAssembly(Parse(MulAdd), options);
  ASSERT_TRUE(assembly.has_value());
  EXPECT_NE(assembly->find("imull"), std::string::npos) << *assembly;
  EXPECT_TRUE(CompilerName().starts_with("LLVM 22."));
}

TEST(NativeTest, TheSameProgramGivesTheSameBytes) {
  const ir::Program program = Parse(Count);
  EXPECT_EQ(*EmitImage(program), *EmitImage(program));
}

TEST(NativeTest, ManyThreadsCompileAtOnce) {
  const ir::Program program = Parse(Count);
  const exec::NativeImage expected = *EmitImage(program);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        const auto image = EmitImage(program);
        if (!image || *image != expected) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(NativeTest, RefusesForeignArtifacts) {
  exec::Artifact artifact;
  artifact.target = "wasm";
  EXPECT_EQ(MakeNativeTarget()->Load(artifact).error().diag, Diag::BadArtifact);
  artifact.target = "native";
  artifact.source = std::make_shared<ir::Program>(Parse(MulAdd));
  artifact.bytes = "no image";
  EXPECT_EQ(MakeNativeTarget()->Load(artifact).error().diag, Diag::BadArtifact);
}

}  // namespace
}  // namespace frazil::targets::native
