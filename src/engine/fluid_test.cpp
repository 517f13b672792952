// Calls in words on the fluid path against the interpreter: results, memory, traps with their places, refusals, limits.
#include "engine/fluid.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "exec/meaning/interpreter.h"
#include "exec/native/native_run.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::engine {
namespace {

using exec::Value;

// One op on rows: the shortest way.
std::string Rows(std::string_view op, std::string_view type) {
  return ir::Lanes(fmt::format("%n: index, %x: in buffer<{0}>, %y: buffer<{0}>", type),
                   fmt::format(R"(
    %a = load %x, %i : {1}
    %b = load %y, %i : {1}
    %c = {0} %a, %b : {1}
    store %y, %i, %c : {1}
)",
                               op, type));
}

// Lanes that trap, a scalar result, an op before the lanes.
constexpr const char* Divide = R"(frz 1
func @main(%n: index, %x: in buffer<i32>, %y: buffer<i32>, %k: i8) -> (i8, i32) {
  %zero = const 0 : index
  %seven = const 7 : i32
  %k32 = cast %k : i32
  %s = mul %k32, %seven : i32
  parallel %i = %zero to %n {
    %a = load %x, %i : i32
    %c = div.trunc %s, %a : i32
    store %y, %i, %c : i32
    yield
  }
  return %k, %s
}
)";

// A function that is inlined, scratch memory in every lane.
constexpr const char* Nested = R"(frz 1
func @twice(%a: i32) -> (i32) {
  %b = add %a, %a : i32
  return %b
}
func @main(%n: index, %x: in buffer<i32>, %y: buffer<i32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %t = alloc %n : i32
    %a = load %x, %i : i32
    %b = call @twice(%a)
    store %t, %zero, %b : i32
    %c = load %t, %zero : i32
    store %y, %i, %c : i32
    yield
  }
  return
}
)";

struct Bed {
  explicit Bed(std::string_view text, const Limits& limits = {})
      : program(*ir::ParseText(text)),
        fluid(InterpreterFluid::Create(ir::SignedProgram::Of(program), limits).value()) {}
  ir::Program program;
  std::unique_ptr<InterpreterFluid> fluid;
};

std::vector<uint64_t> Words(int64_t n, std::vector<int32_t>& x, std::vector<int32_t>& y) {
  return {static_cast<uint64_t>(n), reinterpret_cast<uint64_t>(x.data()), x.size(),
          reinterpret_cast<uint64_t>(y.data()), y.size()};
}

// The same call on the interpreter, with copies of the memory.
exec::Outcome Expected(const Bed& bed, const std::vector<uint64_t>& words, std::vector<int32_t>& y,
                       const exec::RunContext& context = {}) {
  std::vector<Value> values = bed.fluid->layout().Values(words.data(), /*copy=*/true);
  exec::Outcome outcome = exec::Interpret(bed.program, values, context).value();
  const exec::Memory& memory = *values[2].memory;
  y.assign(reinterpret_cast<const int32_t*>(memory.data()),
           reinterpret_cast<const int32_t*>(memory.data()) + memory.length());
  return outcome;
}

void ExpectAgrees(const Bed& bed, const std::vector<uint64_t>& words, std::vector<int32_t>& y) {
  std::vector<int32_t> expected_y;
  const exec::Outcome expected = Expected(bed, words, expected_y);
  exec::NativeRun run;
  uint64_t results[4] = {};
  const int32_t status = bed.fluid->Call(words.data(), results, &run);
  if (expected.trap) {
    EXPECT_EQ(status, 1 + static_cast<int32_t>(expected.trap->kind));
    EXPECT_EQ(run.trap_op, static_cast<uint32_t>(expected.trap->op));
    EXPECT_EQ(run.trap_index, expected.trap->index);
    return;
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(y, expected_y);
  for (size_t i = 0; i < expected.results.size(); ++i)
    EXPECT_EQ(results[i], expected.results[i].word);
}

TEST(Fluid, WordsGiveWhatTheInterpreterGives) {
  for (const std::string& text : {Rows("add", "i32"), std::string(Divide), std::string(Nested)}) {
    Bed bed(text);
    ASSERT_TRUE(bed.fluid->has_tiles());
    // Nothing, less than a tile, several tiles; more than there is.
    for (const int64_t n : {-3, 0, 1, 64, 3000, 3001}) {
      std::vector<int32_t> x(3000), y(3000, 5);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i % 100) + 1;
      std::vector<uint64_t> words = Words(n, x, y);
      words.push_back(static_cast<uint64_t>(-3));
      ExpectAgrees(bed, words, y);
      x[17] = 0;
      ExpectAgrees(bed, words, y);
    }
    // One buffer twice.
    std::vector<int32_t> x(100, 3);
    std::vector<uint64_t> words = Words(100, x, x);
    words.push_back(2);
    ExpectAgrees(bed, words, x);
  }
}

// Results as words of their types, whatever an op left above them.
TEST(Fluid, ScalarsGiveWhatTheInterpreterGives) {
  for (const char* body : {"  %r = add %a, %b : {}\n  return %r\n",
                           "  %p = mul %a, %b : {}\n  %r = sub %p, %a : {}\n  return %r\n",
                           "  %q = lt %a, %b : {}\n  %r = select %q, %a, %b : {}\n  return %r\n"}) {
    for (const auto [name, type] :
         {std::pair("i8", ir::types::I8), std::pair("u8", ir::types::U8),
          std::pair("i16", ir::types::I16), std::pair("u32", ir::types::U32),
          std::pair("i64", ir::types::I64), std::pair("f32", ir::types::F32)}) {
      std::string text = fmt::format("frz 1\nfunc @main(%a: {0}, %b: {0}) -> ({0}) {{\n", name);
      for (const char* at = body; *at != 0; ++at) {
        if (at[0] == '{')
          text += name, ++at;
        else
          text += *at;
      }
      Bed bed(text + "}\n");
      ASSERT_TRUE(bed.fluid->has_tiles());
      for (const int64_t a : {-128, -1, 0, 3, 127, 255})
        for (const int64_t b : {-77, 0, 2, 127}) {
          const std::vector<Value> values = {Value::Int(type, a), Value::Int(type, b)};
          const uint64_t words[] = {values[0].word, values[1].word};
          uint64_t result = 0;
          EXPECT_EQ(bed.fluid->Call(words, &result, nullptr), 0);
          EXPECT_EQ(result, exec::Interpret(bed.program, values).value().results[0].word) << text;
        }
    }
  }
}

TEST(Fluid, WhatIsNoCallIsRefusedInWords) {
  Bed bed(Divide);
  std::vector<int32_t> x(64, 1), y(64, 0);
  auto refuses = [&](uint64_t k, size_t word, uint64_t value, std::string_view why) {
    std::vector<uint64_t> words = Words(64, x, y);
    words.push_back(k);
    words[word] = value;
    uint64_t results[4] = {};
    EXPECT_EQ(bed.fluid->Call(words.data(), results, nullptr), LaunchFailed) << why;
    EXPECT_NE(InterpreterFluid::LastLaunchError().find(why), std::string::npos)
        << InterpreterFluid::LastLaunchError();
    EXPECT_EQ(y, std::vector<int32_t>(64, 0));
  };
  refuses(200, 0, 64, "argument 4: its words are no value of type i8");
  refuses(1, 1, 0, "argument 2: its memory is missing");
  refuses(1, 2, UINT64_MAX, "no memory has -1 elements");
  refuses(1, 3, reinterpret_cast<uint64_t>(x.data() + 1),
          "arguments 2 and 3 overlap, and one of them is written");
}

TEST(Fluid, ContentsThatAreNoValuesAreRefused) {
  Bed bed(Rows("xor", "bool"));
  ASSERT_TRUE(bed.fluid->has_tiles());
  std::vector<uint8_t> x(64, 1), y(64, 1);
  const uint64_t words[] = {64, reinterpret_cast<uint64_t>(x.data()), 64,
                            reinterpret_cast<uint64_t>(y.data()), 64};
  EXPECT_EQ(bed.fluid->Call(words, nullptr, nullptr), 0);
  EXPECT_EQ(y, std::vector<uint8_t>(64, 0));
  x[63] = 2;
  EXPECT_EQ(bed.fluid->Call(words, nullptr, nullptr), LaunchFailed);
  EXPECT_NE(InterpreterFluid::LastLaunchError().find("argument 2: an element is no value"),
            std::string::npos);
  EXPECT_EQ(y, std::vector<uint8_t>(64, 0));
}

// Depth and memory of the run, and of the site where a call brings none. Calls that tiles have inlined count too.
TEST(Fluid, LimitsAreThoseOfTheInterpreter) {
  std::vector<int32_t> x(64, 1), y(64, 0);
  const std::vector<uint64_t> words = Words(64, x, y);
  Bed bed(Nested);
  for (const uint64_t depth : {0, 1, 2}) {
    for (const uint64_t memory : {100, 1000, 100'000}) {
      exec::RunContext context;
      context.limits.depth = depth;
      context.limits.memory_bytes = memory;
      std::vector<int32_t> expected_y;
      const exec::Outcome expected = Expected(bed, words, expected_y, context);
      exec::NativeRun run;
      run.depth_left = depth;
      run.memory_left = memory;
      const int32_t status = bed.fluid->Call(words.data(), nullptr, &run);
      EXPECT_EQ(status, expected.trap ? 1 + static_cast<int32_t>(expected.trap->kind) : 0)
          << depth << " " << memory;
    }
  }
  Limits shallow;
  shallow.depth = 0;
  Bed other(Nested, shallow);
  ASSERT_TRUE(other.fluid->has_tiles());
  EXPECT_EQ(other.fluid->Call(words.data(), nullptr, nullptr),
            1 + static_cast<int32_t>(ir::Trap::Depth));
}

TEST(Fluid, AStoppedRunEndsWithFuel) {
  Bed bed(R"(frz 1
func @main(%n: index, %x: in buffer<i32>, %y: buffer<i32>) {
  %zero = const 0 : index
  %yes = const true : bool
  %w = while (%k = %zero) {
    condition %yes
  } do {
    parallel %i = %zero to %n {
      %a = load %x, %i : i32
      store %y, %i, %a : i32
      yield
    }
    yield %k
  }
  return
}
)");
  ASSERT_TRUE(bed.fluid->has_tiles());
  std::vector<int32_t> x(64, 1), y(64, 0);
  const std::vector<uint64_t> words = Words(64, x, y);
  std::atomic<uint8_t> stop = 0;
  exec::NativeRun run;
  run.stop = reinterpret_cast<const uint8_t*>(&stop);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = 1;
  });
  EXPECT_EQ(bed.fluid->Call(words.data(), nullptr, &run), 1 + static_cast<int32_t>(ir::Trap::Fuel));
  stopper.join();
  EXPECT_EQ(y, x);
}

}  // namespace
}  // namespace frazil::engine
