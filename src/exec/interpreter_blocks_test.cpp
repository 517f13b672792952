// A `parallel` in blocks is the same as one iteration after the other: results, memory, traps, fuel, choices. Hand-picked
// bodies at lengths around a block's, then random kernels and programs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "exec/choices.h"
#include "exec/generator.h"
#include "exec/interpreter_program.h"
#include "exec/test_parallel_kernels.h"
#include "ir/text.h"

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
  for (uint64_t seed = 0; seed < 3000; ++seed) {
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
  EXPECT_GT(in_blocks, 1900);
}

TEST(Blocks, OfRandomPrograms) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    GeneratorOptions options;
    options.seed = seed;
    const ir::Program program = Generate(options);
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

}  // namespace
}  // namespace frazil::exec
