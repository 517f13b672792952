// The batch interpreter against the interpreter: every op on every type at edge and random values,
// control flow with lanes that part ways, traps and limits, math functions.
#include "exec/batch/batch.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

#include "base/test_counts.h"
#include "exec/meaning/interpreter.h"
#include "exec/meaning/interpreter_program.h"
#include "exec/meaning/scalar_meaning.h"
#include "exec/test_rows.h"
#include "exec/test_run.h"
#include "generator/generator.h"
#include "ir/builder.h"
#include "ir/text/literal.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

using ir::Op;
using ir::Scalar;
namespace types = ir::types;

// Bits at random, half of them near an edge of the type.
Value RandomValue(std::mt19937_64& random, ir::Type type) {
  const uint64_t kind = random() % 8;
  if (ir::IsFloat(type.scalar)) {
    constexpr double Edges[] = {0.0,   -0.0,     1.0,          -1.0,      0.5,   -2.5,
                                1e30,  -1e30,    2147483648.0, 65504,     1e300, 5e-324,
                                1e-40, INFINITY, NAN,          -INFINITY, 255.5, 9.3e18};
    if (kind < 4) return Value::Float(type, Edges[random() % std::size(Edges)]);
    // Any bits, NaNs with payloads included.
    return Value::Word(type, random() & (~uint64_t{0} >> (64 - ir::BitsOf(type))));
  }
  constexpr int64_t Edges[] = {0,    1,   -1,    2,         3,         7,         127,
                               -128, 255, 32767, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  if (kind < 4) return Value::Int(type, Edges[random() % std::size(Edges)]);
  if (kind < 6) return Value::Int(type, static_cast<int64_t>(random() % 64));
  return Value::Int(type, static_cast<int64_t>(random()));
}

// All lanes of a batch against one run of the interpreter each.
void ExpectAgreement(const ir::Program& program, uint64_t seed, size_t lanes,
                     const Limits& limits = {}) {
  const ir::Function& entry = program.entry_function();
  const Result<BatchProgram> batch = BatchProgram::Create(program, limits);
  ASSERT_TRUE(batch.has_value()) << batch.error().ToString();
  const Result<InterpreterProgram> interpreter = InterpreterProgram::Create(program);
  std::mt19937_64 random(seed);
  const int64_t length = static_cast<int64_t>(lanes);
  std::vector<Memory> inputs;
  std::vector<const void*> input_data;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    Memory& memory = inputs.emplace_back(entry.param_type(i), length);
    for (int64_t lane = 0; lane < length; ++lane)
      memory.Set(lane, RandomValue(random, entry.param_type(i)).scalar_words());
    input_data.push_back(memory.data());
  }
  std::vector<Memory> outputs;
  std::vector<void*> output_data;
  for (ir::Type type : entry.results)
    output_data.push_back(outputs.emplace_back(type, length).data());
  std::vector<uint8_t> traps(lanes, 99), ops(lanes, 99);
  ASSERT_TRUE(batch->Run(lanes, input_data, output_data, traps, ops).has_value());
  RunContext context;
  context.limits = limits;
  std::vector<uint64_t> words(ir::MaxLimbs);
  const auto value_at = [&](const Memory& memory, int64_t lane) {
    memory.Get(lane, words);
    return Value::Scalar(memory.element(), std::span(words).first(ir::WordsOf(memory.element())));
  };
  for (int64_t lane = 0; lane < length; ++lane) {
    std::vector<Value> arguments;
    std::string shown;
    for (const Memory& memory : inputs) {
      arguments.push_back(value_at(memory, lane));
      shown += PrintValue(arguments.back()) + " ";
    }
    const Result<Outcome> outcome = interpreter->Run(arguments, context);
    ASSERT_TRUE(outcome.has_value());
    ASSERT_EQ(traps[static_cast<size_t>(lane)],
              outcome->trap ? meaning::CodeOf(outcome->trap->kind) : 0)
        << shown << "\n"
        << ir::PrintText(program);
    if (outcome->trap)
      ASSERT_EQ(static_cast<Op>(ops[static_cast<size_t>(lane)]), outcome->trap->op)
          << shown << "\n"
          << ir::PrintText(program);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Value expected = outcome->trap ? Value::Int(entry.results[i], 0) : outcome->results[i];
      ASSERT_EQ(value_at(outputs[i], lane), expected) << shown << "\n" << ir::PrintText(program);
    }
  }
}

TEST(Batch, EveryOpOnEveryType) {
  int tested = 0;
  for (const ir::OpInfo& info : ScalarRows()) {
    for (int s = 0; s < ir::ScalarCount; ++s) {
      const ir::Type type = ir::Type::Of(static_cast<Scalar>(s));
      if (!ir::Contains(info.types, type.scalar) || ir::WordsOf(type) != 1 ||
          type.scalar == Scalar::Int)
        continue;
      std::vector<ir::Type> sources = {type};
      if (info.op == Op::Cast || info.op == Op::CastChecked || info.op == Op::Bitcast) {
        sources.clear();
        for (int from = 0; from < ir::ScalarCount; ++from) {
          if (static_cast<Scalar>(from) != Scalar::Int)
            sources.push_back(ir::Type::Of(static_cast<Scalar>(from)));
        }
      }
      for (ir::Type source : sources) {
        std::string params;
        std::string operands;
        const std::string_view signature = info.signature.substr(0, info.signature.find("->"));
        int count = 0;
        for (char c : signature) {
          if (c == ',') continue;
          const ir::Type operand = c == 'B' ? types::Bool : c == 'S' ? source : type;
          params += fmt::format("{}%p{}: {}", count > 0 ? ", " : "", count,
                                ir::ScalarOrBufferName(operand));
          operands += fmt::format("{}%p{}", count > 0 ? ", " : "", count);
          ++count;
        }
        const std::string result =
            info.signature.ends_with('B') ? "bool" : ir::ScalarOrBufferName(type);
        const Result<ir::Program> program = ir::ParseText(
            fmt::format("frz 1\nfunc @main({}) -> ({}) {{\n  %r = {} {} : {}\n  return %r\n}}\n",
                        params, result, info.mnemonic, operands, ir::ScalarOrBufferName(type)));
        // Conversions that do not exist are refused by the reader.
        if (!program && sources.size() > 1) continue;
        ASSERT_TRUE(program.has_value()) << program.error().ToString();
        EXPECT_EQ(BatchProgram::Create(*program)->lane_by_lane(), "") << info.mnemonic;
        ExpectAgreement(*program, 1000 + static_cast<uint64_t>(tested), SanitizedCount(2000));
        ++tested;
      }
    }
  }
  EXPECT_GT(tested, 400);
}

const char* const Branches = R"(
func @main(%a: i32, %b: i32, %s: u8) -> (i32, i32, i32) {
  %t = lt %a, %b : i32
  %c = const 10 : i32
  %x, %y = if %t -> (i32, i32) {
    %q = div.trunc %c, %a : i32
    %n = const 0 : i32
    %u = gt %q, %n : i32
    %r = if %u -> (i32) {
      %k = add.checked %q, %b : i32
      yield %k
    } else {
      yield %b
    }
    yield %r, %q
  } else {
    yield %a, %c
  }
  %z = switch %s -> (i32) {
  case 0 {
    %e = rem.trunc %x, %y : i32
    yield %e
  }
  case 1 {
    yield %x
  }
  case 255 {
    %v = const 7 : i32
    yield %v
  }
  default {
    unreachable
    yield %y
  }
  }
  return %x, %y, %z
})";

TEST(Batch, Branches) {
  const ir::Program program = Parse(Branches);
  EXPECT_EQ(BatchProgram::Create(program)->lane_by_lane(), "");
  for (size_t lanes : {0, 1, 7, 1023, 1024, 1025, 5000}) ExpectAgreement(program, lanes, lanes);
}

const char* const Loops = R"(
func @main(%a: u8, %b: u8, %x: i32) -> (i32, i32, i64, i64) {
  %one = const 1 : i32
  %p, %q = for %i = %a to %b step 3 carry (%u = %x, %v = %one) {
    %w = cast %i : i32
    %d = sub %w, %u : i32
    %e = div.floor %u, %d : i32
    yield %v, %e
  }
  %lim = const 40 : u8
  %c = min %a, %lim : u8
  %n = cast %c : i64
  %zero = const 0 : i64
  %m, %o = while (%k = %n, %r = %zero) {
    %z = ne %k, %zero : i64
    %double = add %k, %k : i64
    condition %z
  } do {
    %l = const 1 : i64
    %j = sub %k, %l : i64
    %s = add %r, %double : i64
    %f = for %t = %zero to %j step 1 carry (%g = %s) {
      %h = xor %g, %t : i64
      yield %h
    }
    yield %j, %f
  }
  return %p, %q, %m, %o
})";

TEST(Batch, LoopsOfDifferentLengths) {
  const ir::Program program = Parse(Loops);
  EXPECT_EQ(BatchProgram::Create(program)->lane_by_lane(), "");
  for (size_t lanes : {1, 5, 1024, 3000}) ExpectAgreement(program, lanes, lanes);
}

TEST(Batch, FuelOfEachLane) {
  Limits limits;
  for (uint64_t fuel : {0, 1, 20, 60, 100, 200, 1000}) {
    limits.fuel = fuel;
    ExpectAgreement(Parse(Loops), fuel, 1500, limits);
  }
}

const char* const Calls = R"(
data @squares : i32 [0, 1, 4, 9, 16, 25, 36, 49]
func @leaf(%i: index, %d: i32) -> (i32, i32) {
  %v = lookup @squares, %i : i32
  %q = div.checked %v, %d : i32
  return %q, %v
}
func @middle(%i: index, %d: i32) -> (i32) {
  %zero = const 0 : i32
  %t = gt %d, %zero : i32
  %r = if %t -> (i32) {
    %a, %b = call @leaf(%i, %d)
    yield %b
  } else {
    yield %d
  }
  return %r
}
func @main(%x: u8, %d: i32) -> (i32, i32) {
  %c = const 9 : u8
  %m = rem.trunc %x, %c : u8
  %i = cast %m : index
  %r = call @middle(%i, %d)
  %a, %b = call @leaf(%i, %r)
  %t = ne %a, %b : i32
  assert %t
  return %a, %r
})";

TEST(Batch, CallsTablesAndLimits) {
  const ir::Program program = Parse(Calls);
  EXPECT_EQ(BatchProgram::Create(program)->lane_by_lane(), "");
  ExpectAgreement(program, 1, 4000);
  Limits limits;
  for (uint64_t depth : {0, 1, 2}) {
    limits.depth = depth;
    ExpectAgreement(program, depth, 1200, limits);
  }
  limits = {};
  for (uint64_t fuel : {0, 1, 2, 3}) {
    limits.fuel = fuel;
    ExpectAgreement(program, fuel, 1200, limits);
  }
}

TEST(Batch, MathFunctions) {
  for (const char* op :
       {"exp", "log", "sin", "cos", "tan", "tanh", "sigmoid", "erf", "gelu", "cbrt", "log1p"}) {
    for (const char* type : {"f32", "bf16"}) {
      const ir::Program program = Parse(fmt::format(
          "func @main(%x: {1}) -> ({1}) {{\n  %r = {0} %x : {1}\n  return %r\n}}\n", op, type));
      EXPECT_EQ(BatchProgram::Create(program)->lane_by_lane(), "") << op;
      ExpectAgreement(program, 5, 2500);
    }
  }
  ExpectAgreement(
      Parse("func @main(%x: f32, %y: f32) -> (f32) {\n  %r = pow %x, %y : f32\n  return %r\n}\n"),
      6, 3000);
}

// An endless loop in some lanes only.
TEST(Batch, Deadline) {
  Limits limits;
  limits.run_ms = 50;
  const ir::Program program = Parse(R"(
func @main(%x: i32) -> (i32) {
  %zero = const 0 : i32
  %r = while (%v = %x) {
    %t = ne %v, %zero : i32
    condition %t
  } do {
    %two = const 2 : i32
    %w = sub %v, %two : i32
    yield %w
  }
  return %r
})");
  const BatchProgram batch = *BatchProgram::Create(program, limits);
  const std::vector<int32_t> x = {0, 1, 2, 3, 100};
  std::vector<int32_t> r(x.size());
  std::vector<uint8_t> traps(x.size());
  const void* inputs[] = {x.data()};
  void* outputs[] = {r.data()};
  ASSERT_TRUE(batch.Run(x.size(), inputs, outputs, traps).has_value());
  const uint8_t fuel = meaning::CodeOf(ir::Trap::Fuel);
  EXPECT_EQ(traps, (std::vector<uint8_t>{0, fuel, 0, fuel, 0}));
}

TEST(Batch, LaneByLane) {
  const ir::Program big = Parse(R"(
func @main(%x: int<2>, %y: i64) -> (int<2>, bool) {
  %b = cast.checked %y : int<2>
  %r = mul.checked %x, %b : int<2>
  %t = lt %r, %x : int<2>
  return %r, %t
})");
  EXPECT_EQ(BatchProgram::Create(big)->lane_by_lane(), "it has values that are not one word");
  ExpectAgreement(big, 3, 300);
  const ir::Program recursive = Parse(ir::RecursionText("u8", "%n"));
  EXPECT_EQ(BatchProgram::Create(recursive)->lane_by_lane(), "it is recursive");
  ExpectAgreement(recursive, 4, 300);
  const ir::Program scratch = Parse(R"(
func @main(%n: i32, %i: index) -> (i32) {
  %eight = const 8 : index
  %b = alloc %eight : i32
  store %b, %i, %n : i32
  %r = load %b, %i : i32
  return %r
})");
  EXPECT_NE(BatchProgram::Create(scratch)->lane_by_lane(), "");
  ExpectAgreement(scratch, 5, 300);
  EXPECT_FALSE(
      BatchProgram::Create(Parse("func @main(%b: buffer<i32>) -> () {\nreturn\n}\n")).has_value());
}

TEST(Batch, RandomPrograms) {
  constexpr ir::ScalarSet OneWord =
      ir::sets::Fixed | ir::sets::Float | ir::sets::Bool | ir::Only(Scalar::Field);
  constexpr uint64_t Count = SanitizedCount(400);
  uint64_t in_blocks = 0;
  for (uint64_t seed = 0; seed < Count; ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed;
    options.allow_tensors = options.allow_buffers = options.allow_streams = options.allow_parallel =
        false;
    options.types = OneWord;
    const ir::Program program = generator::Generate(options);
    const Result<BatchProgram> batch = BatchProgram::Create(program);
    ASSERT_TRUE(batch.has_value()) << batch.error().ToString();
    in_blocks += batch->lane_by_lane().empty();
    ExpectAgreement(program, seed, 60);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(in_blocks, Count / 2);
}

}  // namespace
}  // namespace frazil::exec
