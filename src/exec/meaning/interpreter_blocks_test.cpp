// A `parallel` in blocks is the same as one iteration after the other: results, memory, traps, fuel, choices. Hand-picked
// bodies at lengths around a block's, then random kernels and programs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <random>
#include <thread>

#include "base/sanitized.h"
#include "base/test_counts.h"
#include "exec/meaning/choices.h"
#include "exec/meaning/interpreter_program.h"
#include "exec/random_arguments.h"
#include "exec/test_parallel_kernels.h"
#include "generator/generator.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

InterpreterProgram Prepare(const std::string& text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program.has_value()) << program.error().ToString() << "\n" << text;
  Result<InterpreterProgram> prepared = InterpreterProgram::Create(*program);
  EXPECT_TRUE(prepared.has_value()) << prepared.error().ToString();
  return std::move(*prepared);
}

// Whether a `parallel` of it can run in blocks at all.
bool HasBlocks(const InterpreterProgram& prepared) {
  const ir::Function& f = prepared.program().entry_function();
  return std::ranges::any_of(f.insts, [&](const ir::Inst& inst) {
    return inst.op == ir::Op::Parallel && prepared.BlocksOf(f, inst) != nullptr;
  });
}

struct Seen {
  Outcome outcome;
  std::vector<Value> arguments;
  Choices choices;
};

Seen RunOn(const InterpreterProgram& prepared, std::span<const Value> arguments, RunContext context,
           uint64_t fewest) {
  Seen seen;
  seen.arguments.assign(arguments.begin(), arguments.end());
  context.fewest_in_blocks = fewest;
  context.choices = &seen.choices;
  Result<Outcome> outcome = prepared.Run(seen.arguments, context);
  EXPECT_TRUE(outcome.has_value()) << outcome.error().ToString();
  if (outcome) seen.outcome = std::move(*outcome);
  return seen;
}

using MakeArguments = std::function<std::vector<Value>()>;

void ExpectSame(const InterpreterProgram& prepared, const MakeArguments& make,
                const RunContext& context = {}) {
  const Seen one = RunOn(prepared, make(), context, UINT64_MAX);
  const Seen blocks = RunOn(prepared, make(), context, 1);
  EXPECT_EQ(one.outcome.trap, blocks.outcome.trap)
      << (one.outcome.trap ? one.outcome.trap->ToString() : "no trap") << " against "
      << (blocks.outcome.trap ? blocks.outcome.trap->ToString() : "no trap");
  EXPECT_EQ(one.outcome.results, blocks.outcome.results);
  EXPECT_EQ(one.outcome.output, blocks.outcome.output);
  EXPECT_EQ(one.arguments, blocks.arguments);
  for (size_t f = 0; f < prepared.program().functions.size(); ++f) {
    for (size_t i = 0; i < prepared.program().functions[f].insts.size(); ++i)
      EXPECT_EQ(one.choices.Of(f, i), blocks.choices.Of(f, i)) << "function " << f << " op " << i;
  }
}

std::shared_ptr<Memory> RandomMemory(ir::Type type, int64_t length, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto memory = std::make_shared<Memory>(type, length);
  for (int64_t i = 0; i < length; ++i)
    memory->Set(i, Value::Int(type, static_cast<int64_t>(random() % 200) - 100).scalar_words());
  return memory;
}

std::string Kernel(const std::string& body) {
  return "frz 1\nfunc @kernel(%x: buffer<i32>, %y: buffer<i32>, %n: index, %k: i32) {\n"
         "  %c0 = const 0 : index\n  %c1 = const 1 : index\n  %c2 = const 2 : index\n"
         "  %zero = const 0 : i32\n  %seven = const 7 : i32\n"
         "  parallel %i = %c0 to %n {\n" +
         body + "    yield\n  }\n  return\n}\n";
}

struct Body {
  const char* name;
  const char* text;
};

const Body Bodies[] = {
    {"in place",
     "    %a = load %x, %i : i32\n    %b = load %y, %i : i32\n    %p = mul %a, %k : i32\n"
     "    %s = add %p, %b : i32\n    store %y, %i, %s : i32\n"},
    {"the element before",
     "    %j = add %i, %c1 : index\n    %a = load %x, %i : i32\n    %b = add %a, %k : i32\n"
     "    store %x, %j, %b : i32\n"},
    {"the element after",
     "    %j = add %i, %c1 : index\n    %a = load %x, %j : i32\n    %b = add %a, %k : i32\n"
     "    store %x, %i, %b : i32\n"},
    {"a load behind a store",
     "    store %x, %i, %k : i32\n    %a = load %x, %i : i32\n    %b = add %a, %k : i32\n"
     "    store %y, %i, %b : i32\n"},
    {"everybody to one place",
     "    %a = load %x, %i : i32\n    store %y, %c2, %a : i32\n    store %y, %c1, %k : i32\n"
     "    store %y, %c1, %a : i32\n"},
    {"two stores that cross",
     "    %t = sub %n, %i : index\n    %m = sub %t, %c1 : index\n    %a = load %x, %i : i32\n"
     "    store %y, %i, %a : i32\n    store %y, %m, %k : i32\n"},
    {"branches that store",
     "    %a = load %x, %i : i32\n    %p = lt %a, %k : i32\n    if %p {\n"
     "      store %y, %i, %a : i32\n      yield\n    } else {\n"
     "      %j = div.floor %i, %c2 : index\n      store %y, %j, %k : i32\n      yield\n    }\n"},
    {"select",
     "    %a = load %x, %i : i32\n    %p = lt %a, %k : i32\n    %b = select %p, %a, %k : i32\n"
     "    store %y, %i, %b : i32\n"},
    {"a loop of its own length",
     "    %a = load %x, %i : i32\n    %m = and %a, %seven : i32\n    %l = cast %m : index\n"
     "    %s = for %j = %c0 to %l step 1 carry (%acc = %a) {\n"
     "      %v = load %x, %j : i32\n      %w = add %acc, %v : i32\n      store %y, %j, %w : i32\n"
     "      yield %w\n    }\n    store %y, %i, %s : i32\n"},
    {"division",
     "    %a = load %x, %i : i32\n    %b = load %y, %i : i32\n    %q = div.trunc %b, %a : i32\n"
     "    store %y, %i, %q : i32\n"},
    {"lengths", "    %l = length %x : i32\n    %t = cast %l : i32\n    store %y, %i, %t : i32\n"},
};

class BodiesInBlocks : public testing::TestWithParam<Body> {};

TEST_P(BodiesInBlocks, MeanTheSame) {
  const InterpreterProgram prepared = Prepare(Kernel(GetParam().text));
  ASSERT_TRUE(HasBlocks(prepared));
  for (int64_t n : {0, 1, 7, 8, 9, 1023, 1024, 1025, 2048, 3000}) {
    for (const bool is_same : {false, true}) {
      SCOPED_TRACE(fmt::format("{} iterations, {}", n, is_same ? "x is y" : "two buffers"));
      ExpectSame(prepared, [&] {
        const int64_t length = std::max<int64_t>(n + 1, 4);
        auto x = RandomMemory(ir::types::I32, length, static_cast<uint64_t>(n) + 1);
        auto y = is_same ? x : RandomMemory(ir::types::I32, length, static_cast<uint64_t>(n) + 2);
        return std::vector{Value::Buffer(x), Value::Buffer(y), Value::Int(ir::types::Index, n),
                           Value::Int(ir::types::I32, 3)};
      });
    }
  }
}

// A trap in any place, with the stores before it made and none behind it.
TEST_P(BodiesInBlocks, TrapAtTheSamePlace) {
  const InterpreterProgram prepared = Prepare(Kernel(GetParam().text));
  for (int64_t place : {0, 1, 500, 1023, 1024, 1500}) {
    for (int64_t short_by : {0, 1, 600}) {
      SCOPED_TRACE(fmt::format("a zero at {}, short by {}", place, short_by));
      ExpectSame(prepared, [&] {
        auto x = RandomMemory(ir::types::I32, 1600 - short_by, 1);
        auto y = RandomMemory(ir::types::I32, 1600 - short_by, 2);
        for (int64_t i = 0; i < x->length(); ++i) {
          const uint64_t word = i < place ? 1 : 0;
          x->Set(i, std::span(&word, 1));
        }
        return std::vector{Value::Buffer(x), Value::Buffer(y), Value::Int(ir::types::Index, 1599),
                           Value::Int(ir::types::I32, 3)};
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Interpreter, BodiesInBlocks, testing::ValuesIn(Bodies),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

// Every amount of fuel ends the run in the same place.
TEST(Blocks, TakeTheSameFuel) {
  const InterpreterProgram prepared = Prepare(
      "frz 1\nfunc @twice(%a: i32) -> (i32) {\n  %b = add %a, %a : i32\n  return %b\n}\n"
      "func @kernel(%x: buffer<i32>, %n: index) {\n  %c0 = const 0 : index\n  %c3 = const 3 : i32\n"
      "  parallel %i = %c0 to %n {\n    %a = load %x, %i : i32\n    %m = and %a, %c3 : i32\n"
      "    %l = cast %m : index\n"
      "    %s = for %j = %c0 to %l step 1 carry (%acc = %a) {\n"
      "      %w = call @twice(%acc)\n      yield %w\n    }\n"
      "    store %x, %i, %s : i32\n    yield\n  }\n  return\n}\n");
  ASSERT_TRUE(HasBlocks(prepared));
  for (uint64_t fuel = 0; fuel < 160; ++fuel) {
    SCOPED_TRACE(fuel);
    RunContext context;
    context.limits.fuel = fuel;
    ExpectSame(
        prepared,
        [] {
          return std::vector{Value::Buffer(RandomMemory(ir::types::I32, 40, 5)),
                             Value::Int(ir::types::Index, 40)};
        },
        context);
  }
}

TEST(Blocks, EndWhenToldTo) {
  const InterpreterProgram prepared = Prepare(
      Kernel("    %s = while (%a = %k) {\n      %p = eq %zero, %zero : i32\n"
             "      condition %p\n    } do {\n      %b = add %a, %k : i32\n      yield %b\n    }\n"
             "    store %y, %i, %s : i32\n"));
  ASSERT_TRUE(HasBlocks(prepared));
  RunContext context;
  context.limits.run_ms = 20;
  context.limits.fuel = UINT64_MAX;
  const std::vector<Value> arguments = {Value::Buffer(RandomMemory(ir::types::I32, 10, 1)),
                                        Value::Buffer(RandomMemory(ir::types::I32, 10, 1)),
                                        Value::Int(ir::types::Index, 10),
                                        Value::Int(ir::types::I32, 3)};
  const Result<Outcome> outcome = prepared.Run(arguments, context);
  ASSERT_TRUE(outcome.has_value() && outcome->trap);
  EXPECT_EQ(outcome->trap->timeout_ms, 20);
}

TEST(Blocks, OfRandomKernels) {
  size_t in_blocks = 0;
  constexpr uint64_t Count = SanitizedCount(3000);
  for (uint64_t seed = 0; seed < Count; ++seed) {
    SCOPED_TRACE(seed);
    const InterpreterProgram prepared = Prepare(KernelWriter(seed).Write());
    in_blocks += HasBlocks(prepared) ? 1 : 0;
    for (uint64_t aliases = 0; aliases < 4; ++aliases) {
      ExpectSame(prepared, [&] {
        std::mt19937_64 random(seed);
        std::vector<std::shared_ptr<Memory>> memories;
        for (uint64_t i = 0; i < 3; ++i)
          memories.push_back(RandomMemory(ir::types::I32, 400, seed + i));
        if (aliases & 1) memories[1] = memories[0];
        if (aliases & 2) memories[2] = memories[1];
        std::vector<Value> arguments;
        for (auto& memory : memories) arguments.push_back(Value::Buffer(memory));
        for (int i = 0; i < 2; ++i)
          arguments.push_back(
              Value::Int(ir::types::U32, 1 + static_cast<int64_t>(random() % (i == 0 ? 40 : 9))));
        arguments.push_back(Value::Int(ir::types::Index, static_cast<int64_t>(random() % 12)));
        return arguments;
      });
    }
    if (HasFailure()) break;
  }
  EXPECT_GE(in_blocks, Count * 19 / 30);
}

TEST(Blocks, OfRandomPrograms) {
  for (uint64_t seed = 0; seed < SanitizedCount(1500); ++seed) {
    SCOPED_TRACE(seed);
    generator::GeneratorOptions options;
    options.seed = seed;
    const ir::Program program = generator::Generate(options);
    Result<InterpreterProgram> prepared = InterpreterProgram::Create(program);
    ASSERT_TRUE(prepared.has_value());
    for (uint64_t run = 0; run < 2; ++run) {
      RunContext context = RandomContext(program, seed + run);
      // Small enough that it often ends a run in the middle of a block.
      context.limits.fuel = run == 0 ? 100000 : 50 + seed % 400;
      ExpectSame(*prepared, [&] { return RandomArguments(program, seed + run); }, context);
    }
    if (HasFailure()) break;
  }
}

// What follows was made to hurt: bodies whose blocks would take more time, stack or memory than one by one does.

double Seconds(const std::function<void()>& what) {
  const auto start = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<Value> OneBuffer(int64_t length) {
  return {Value::Buffer(RandomMemory(ir::types::I32, length, 1)),
          Value::Int(ir::types::Index, length)};
}

// A kernel of one buffer, which each iteration replaces by what the body makes of %v.
std::string InPlace(const std::string& functions, const std::string& body,
                    const std::string& result) {
  return "frz 1\n" + functions +
         "func @kernel(%x: buffer<i32>, %n: index) {\n  %c0 = const 0 : index\n"
         "  %yes = const true : bool\n  parallel %i = %c0 to %n {\n    %v = load %x, %i : i32\n" +
         body + "    store %x, %i, " + result + " : i32\n    yield\n  }\n  return\n}\n";
}

// f0 adds, each other one calls the one before, so often.
std::string ChainOfCalls(int length, int calls) {
  std::string text = "func @f0(%a0: i32) -> (i32) {\n  %b = add %a0, %a0 : i32\n  return %b\n}\n";
  for (int i = 1; i < length; ++i) {
    text += fmt::format("func @f{}(%a0: i32) -> (i32) {{\n", i);
    for (int c = 0; c < calls; ++c)
      text += fmt::format("  %a{} = call @f{}(%a{})\n", c + 1, i - 1, c);
    text += fmt::format("  return %a{}\n}}\n", calls);
  }
  return text;
}

// So many regions one in the other, each with that in it; `{0}` is the level.
std::string NestedIfs(int levels, const std::string& each) {
  std::string text;
  for (int level = 0; level < levels; ++level)
    text += fmt::format(fmt::runtime(each), level) + "if %yes {\n";
  for (int level = 0; level < levels; ++level) text += "yield\n} else {\nyield\n}\n";
  return text;
}

TEST(Blocks, OfChainsOfCallsThatAreTooLong) {
  const InterpreterProgram shorter =
      Prepare(InPlace(ChainOfCalls(300, 1), "    %r = call @f299(%v)\n", "%r"));
  EXPECT_TRUE(HasBlocks(shorter));
  ExpectSame(shorter, [] { return OneBuffer(20); });
  const InterpreterProgram longer =
      Prepare(InPlace(ChainOfCalls(5'000, 1), "    %r = call @f4999(%v)\n", "%r"));
  // On a stack that is too small for as much recursion.
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 1 << 20), 0);
  pthread_t thread;
  const auto run = [](void* program) -> void* {
    EXPECT_FALSE(HasBlocks(*static_cast<const InterpreterProgram*>(program)));
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<InterpreterProgram*>(&longer)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  ExpectSame(longer, [] { return OneBuffer(20); });
}

TEST(Blocks, EndInsideOfCalls) {
  const InterpreterProgram prepared =
      Prepare(InPlace(ChainOfCalls(40, 2), "    %r = call @f39(%v)\n", "%r"));
  ASSERT_TRUE(HasBlocks(prepared));
  RunContext context;
  context.limits.run_ms = 300;
  Result<Outcome> outcome = Outcome();
  EXPECT_LT(Seconds([&] { outcome = prepared.Run(OneBuffer(20), context); }), 5);
  ASSERT_TRUE(outcome.has_value() && outcome->trap);
  EXPECT_EQ(outcome->trap->ToString(), "time-out after 300 ms in call (parallel iteration 0)");
  context.limits.run_ms = 600'000;
  std::atomic<bool> stop = false;
  context.stop = &stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  EXPECT_LT(Seconds([&] { outcome = prepared.Run(OneBuffer(20), context); }), 5);
  ASSERT_TRUE(outcome.has_value() && outcome->trap);
  EXPECT_EQ(outcome->trap->ToString(), "fuel in call (parallel iteration 0)");
}

struct Waste {
  const char* name;
  const char* text;
};

// One by one each is over at once; the iterations of a block would count to a trillion.
const Waste Wastes[] = {
    {"behind a trap",
     "    %s = if %first -> (index) {\n      %q = div.trunc %n, %c0 : index\n      yield %q\n"
     "    } else {\n      %r = for %j = %c0 to %m step 1 carry (%a = %c0) {\n"
     "        %t = add %a, %j : index\n        yield %t\n      }\n      yield %r\n    }\n"},
    {"before a trap",
     "    %s = if %first -> (index) {\n      yield %c0\n    } else {\n"
     "      %r = for %j = %c0 to %m step 1 carry (%a = %c0) {\n        %t = add %a, %j : index\n"
     "        yield %t\n      }\n      yield %r\n    }\n    assert %no\n"},
    {"on old values",
     "    %b = if %first -> (index) {\n      store %y, %c0, %c5 : index\n      yield %c1\n"
     "    } else {\n      %l = load %y, %c0 : index\n      yield %l\n    }\n"
     "    %s = for %j = %c0 to %b step 1 carry (%a = %c0) {\n      %far = gt %j, %c5 : index\n"
     "      %u = select %far, %c1, %j : index\n      %t = add %a, %u : index\n      yield %t\n"
     "    }\n"},
};

class WasteInBlocks : public testing::TestWithParam<Waste> {};

TEST_P(WasteInBlocks, IsBounded) {
  const InterpreterProgram prepared =
      Prepare(std::string("frz 1\nfunc @kernel(%y: buffer<index>, %z: buffer<index>, %n: index, "
                          "%m: index) {\n  %c0 = const 0 : index\n  %c1 = const 1 : index\n"
                          "  %c5 = const 5 : index\n  %no = const false : bool\n"
                          "  for %round = %c0 to %c5 step 1 {\n    store %y, %c0, %m : index\n"
                          "    parallel %i = %c0 to %n {\n    %first = eq %i, %c0 : index\n") +
              GetParam().text +
              "    store %z, %i, %s : index\n    yield\n  }\n    yield\n  }\n  return\n}\n");
  ASSERT_TRUE(HasBlocks(prepared));
  const auto arguments = [] {
    return std::vector{Value::Buffer(RandomMemory(ir::types::Index, 1, 1)),
                       Value::Buffer(RandomMemory(ir::types::Index, 100, 1)),
                       Value::Int(ir::types::Index, 100),
                       Value::Int(ir::types::Index, 1'000'000'000'000)};
  };
  EXPECT_LT(Seconds([&] { ExpectSame(prepared, arguments); }), 5);
}

INSTANTIATE_TEST_SUITE_P(Interpreter, WasteInBlocks, testing::ValuesIn(Wastes),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

// 1,024 iterations need more than the first 50 ms; what is dropped takes no fuel.
TEST(Blocks, ThatTakeLongAreTriedSmaller) {
  constexpr int64_t Turns = Sanitized ? 15'000 : 150'000;
  const InterpreterProgram prepared =
      Prepare(InPlace("",
                      fmt::format("    %c = const {} : index\n", Turns) +
                          "    %one = const 1 : i32\n"
                          "    %r = for %j = %c0 to %c step 1 carry (%a = %v) {\n"
                          "      %b = xor %a, %one : i32\n      %d = add %b, %one : i32\n"
                          "      yield %d\n    }\n",
                      "%r"));
  ASSERT_TRUE(HasBlocks(prepared));
  constexpr int64_t Length = 1100;
  RunContext context;
  context.limits.run_ms = 600'000;
  context.limits.fuel = Length * (1 + Turns);
  const std::vector<Value> arguments = OneBuffer(Length);
  const Result<Outcome> outcome = prepared.Run(arguments, context);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->trap);
  for (int64_t i = 0; i < Length; ++i) {
    uint64_t before = 0, after = 0;
    OneBuffer(Length)[0].memory->Get(i, std::span(&before, 1));
    arguments[0].memory->Get(i, std::span(&after, 1));
    // Even ones go up by two, odd ones stay.
    const auto expected =
        static_cast<int32_t>(before) + static_cast<int32_t>(before % 2 == 0 ? 2 * Turns : 0);
    ASSERT_EQ(static_cast<int32_t>(after), expected) << i;
  }
}

// Frames of 2^17 words and more: at that depth the call in the parallel is one too many.
TEST(Blocks, EndWhereFramesTakeTooMuch) {
  constexpr int Wide = 8192;
  std::string text =
      "frz 1\nfunc @tiny(%a: i32) -> (i32) {\n  return %a\n}\n"
      "func @kernel(%x: buffer<i32>, %d: index) {\n  %c0 = const 0 : index\n"
      "  %c1 = const 1 : index\n  %c9 = const 9 : index\n";
  for (int i = 0; i < Wide; ++i) text += fmt::format("  %w{} = const {} : int<64>\n", i, i);
  text +=
      "  %last = eq %d, %c0 : index\n  if %last {\n    parallel %i = %c0 to %c9 {\n"
      "      %a = load %x, %i : i32\n      %b = call @tiny(%a)\n      store %x, %i, %b : i32\n"
      "      yield\n    }\n    yield\n  } else {\n    %e = sub %d, %c1 : index\n"
      "    call @kernel(%x, %e)\n    yield\n  }\n  return\n}\n";
  const InterpreterProgram prepared = Prepare(text);
  ASSERT_TRUE(HasBlocks(prepared));
  const uint64_t words = prepared.layout(prepared.program().entry).word_count;
  const auto depth = static_cast<int64_t>((uint64_t{1} << 27) / words);
  const Result<Outcome> outcome =
      prepared.Run(std::vector{Value::Buffer(RandomMemory(ir::types::I32, 9, 1)),
                               Value::Int(ir::types::Index, depth)},
                   {});
  ASSERT_TRUE(outcome.has_value() && outcome->trap);
  EXPECT_EQ(outcome->trap->ToString(), "depth in call (parallel iteration 0)");
}

TEST(Blocks, CompileInLinearTime) {
  std::string adds = "%a{0}_0 = add %v, %v : i32\n";
  for (int i = 1; i < 600; ++i)
    adds += fmt::format("%a{{0}}_{} = add %a{{0}}_{}, %v : i32\n", i, i - 1);
  const InterpreterProgram prepared = Prepare(InPlace("", NestedIfs(180, adds), "%v"));
  bool has_blocks = false;
  EXPECT_LT(Seconds([&] { has_blocks = HasBlocks(prepared); }), 1.5);
  EXPECT_TRUE(has_blocks);
}

// Each of them would take a great deal of memory.
TEST(Blocks, ThatAreTooLargeAreRefused) {
  const auto sums = [](int count, int first, const char* type = "i64") {
    std::string text = fmt::format("    %s{} = cast %v : {}\n", first, type);
    for (int i = first; i < first + count; ++i)
      text += fmt::format("    %k{0} = const {3} : {2}\n    %s{1} = add %s{0}, %k{0} : {2}\n", i,
                          i + 1, type, type == std::string("i8") ? i % 100 : i);
    return text + fmt::format("    %r = cast %s{} : i32\n", first + count);
  };
  EXPECT_TRUE(HasBlocks(Prepare(InPlace("", sums(4000, 0), "%r"))));
  EXPECT_FALSE(HasBlocks(Prepare(InPlace("", sums(4200, 0), "%r"))));
  EXPECT_FALSE(HasBlocks(Prepare(InPlace("", sums(70'000, 0, "i8"), "%r"))));
  // Arrays: values that go through many regions.
  std::string values;
  std::string uses;
  for (int i = 0; i < 50; ++i) {
    values += fmt::format("    %p{} = add %v, %v : i32\n", i);
    uses += fmt::format("%u{{0}}_{0} = add %p{0}, %v : i32\n", i);
  }
  EXPECT_TRUE(HasBlocks(Prepare(InPlace("", values + NestedIfs(30, uses), "%v"))));
  EXPECT_FALSE(HasBlocks(Prepare(InPlace("", values + NestedIfs(90, uses), "%v"))));
  // Many of them in one program.
  std::string many = "frz 1\nfunc @kernel(%x: buffer<i32>, %n: index) {\n  %c0 = const 0 : index\n";
  for (int p = 0; p < 20; ++p)
    many += fmt::format(
        "  parallel %i = %c0 to %n {{\n    %v = load %x, %i : i32\n{}"
        "    store %x, %i, %r : i32\n    yield\n  }}\n",
        sums(400, 1000 * p));
  const InterpreterProgram prepared = Prepare(many + "  return\n}\n");
  const ir::Function& f = prepared.program().entry_function();
  const auto with_blocks = std::ranges::count_if(f.insts, [&](const ir::Inst& inst) {
    return inst.op == ir::Op::Parallel && prepared.BlocksOf(f, inst) != nullptr;
  });
  EXPECT_EQ(with_blocks, 10);
  ExpectSame(prepared, [] { return OneBuffer(20); });
}

TEST(Blocks, ShareTablesWithTheProgram) {
  const InterpreterProgram prepared =
      Prepare(InPlace("data @t : i32 [7, -1, 5]\n",
                      "    %c3 = const 3 : index\n    %j = rem.trunc %i, %c3 : index\n"
                      "    %a = lookup @t, %j : i32\n    %b = lookup @t, %j : i32\n"
                      "    %r = add %a, %b : i32\n",
                      "%r"));
  const ir::Function& f = prepared.program().entry_function();
  const auto parallel = std::ranges::find(f.insts, ir::Op::Parallel, &ir::Inst::op);
  const ParallelCode* code = prepared.BlocksOf(f, *parallel);
  ASSERT_NE(code, nullptr);
  size_t lookups = 0;
  for (const BatchInst& inst : code->body.insts) {
    if (inst.kind != BatchInst::Kind::Lookup) continue;
    EXPECT_EQ(inst.structure->table.data(), prepared.program().data[0].words.data());
    ++lookups;
  }
  EXPECT_EQ(lookups, 2);
  ExpectSame(prepared, [] { return OneBuffer(20); });
}

}  // namespace
}  // namespace frazil::exec
