// Kernels by hand on the tile interpreter: divergence, addresses of all kinds, aliases, traps, blocks, threads, modules.
#include <gtest/gtest.h>

#include "ir/text/test_text.h"
#include "targets/isa/isa.h"
#include "targets/isa/lane_exact.h"
#include "targets/tiles/test_tile.h"

namespace frazil::targets::tiles {
namespace {

using exec::Value;

Value Index(int64_t value) { return Value::Int(ir::types::Index, value); }

Value Ramp(ir::Type element, int64_t length, int64_t first, int64_t step) {
  auto memory = std::make_shared<exec::Memory>(element, length);
  for (int64_t i = 0; i < length; ++i)
    memory->Set(i, Value::Int(element, first + i * step).scalar_words());
  return Value::Buffer(std::move(memory));
}

bool IsTiled(const Prepared& prepared) {
  return Describe(prepared.plan()).find(": tiles") != std::string::npos;
}

constexpr int64_t Lengths[] = {0, 1, 2, 7, 255, 256, 257, 1023, 1024, 1025, 4099};

const std::string Saxpy =
    ir::Lanes("%n: index, %a: f32, %x: in buffer<f32>, %y: buffer<f32>", ir::SaxpyLanes);

TEST(TileKernels, SaxpyOfAllLengthsAndOneBuffer) {
  const Prepared prepared(ReadProgram(Saxpy));
  EXPECT_TRUE(IsTiled(prepared));
  for (int64_t n : Lengths) {
    const Value x = RandomBuffer(ir::types::F32, n, 1), y = RandomBuffer(ir::types::F32, n, 2);
    const Value a = exec::RandomScalar(ir::types::F32, 9);
    prepared.ExpectSame({Index(n), a, x, y});
    prepared.ExpectSame({Index(n), a, y, y});
    // One element too many traps in that lane.
    prepared.ExpectSame({Index(n + 1), a, x, y});
    prepared.ExpectSame({Index(n), a, RandomBuffer(ir::types::F32, n / 2, 1), y});
  }
}

TEST(TileKernels, OtherOrdersNeedOtherBuffers) {
  const Prepared prepared(ReadProgram(
      ir::DifferencesText("%n: index, %x: buffer<i32>, %y: buffer<i32>", "i32", "%x", "%y")));
  for (int64_t n : {1, 100, 1500}) {
    const Value x = Ramp(ir::types::I32, n + 1, 3, 7), y = Ramp(ir::types::I32, n + 1, 0, 0);
    prepared.ExpectSame({Index(n), x, y});
    prepared.ExpectSame({Index(n), x, x});
    prepared.ExpectSame({Index(n + 5), x, y});
  }
}

TEST(TileKernels, TwoStoresOfOneLoad) {
  const Prepared prepared(
      ReadProgram(ir::Lanes("%n: index, %x: buffer<f32>, %y: buffer<f32>, %z: buffer<f32>", R"(
    %t = load %x, %i : f32
    %m = mul %t, %t : f32
    %k = add %t, %t : f32
    %k2 = add %k, %t : f32
    store %y, %i, %m : f32
    store %z, %i, %k2 : f32
    %w = load %y, %i : f32
    store %x, %i, %w : f32
)")));
  const Value x = RandomBuffer(ir::types::F32, 2500, 1), y = RandomBuffer(ir::types::F32, 2500, 2);
  const Value z = RandomBuffer(ir::types::F32, 2500, 3);
  prepared.ExpectSame({Index(2500), x, y, z});
  prepared.ExpectSame({Index(2500), x, x, z});
  prepared.ExpectSame({Index(2500), x, x, x});
  prepared.ExpectSame({Index(2500), x, y, x});
}

// Lanes leave the loop one by one; some lanes never enter.
TEST(TileKernels, DivergentWhile) {
  const Prepared prepared(
      ReadProgram(ir::Lanes("%n: index, %x: in buffer<i64>, %y: buffer<i64>", R"(
    %v = load %x, %i : i64
    %one = const 1 : i64
    %two = const 2 : i64
    %three = const 3 : i64
    %nil = const 0 : i64
    %even = gt %v, %nil : i64
    if %even {
      %last, %steps = while (%c = %v, %s = %nil) {
        %more = gt %c, %one : i64
        condition %more
      } do {
        %low = and %c, %one : i64
        %odd = eq %low, %one : i64
        %next = if %odd -> (i64) {
          %t = mul %c, %three : i64
          %t1 = add %t, %one : i64
          yield %t1
        } else {
          %h = div.trunc %c, %two : i64
          yield %h
        }
        %s1 = add %s, %one : i64
        yield %next, %s1
      }
      store %y, %i, %steps : i64
      yield
    }
)")));
  EXPECT_TRUE(IsTiled(prepared));
  for (int64_t n : {1, 64, 700})
    prepared.ExpectSame({Index(n), Ramp(ir::types::I64, n, -5, 1), Ramp(ir::types::I64, n, 0, 0)});
}

TEST(TileKernels, LoopsOfDifferentLengthsAndSwitches) {
  const Prepared prepared(
      ReadProgram(ir::Lanes("%n: index, %x: in buffer<i32>, %y: buffer<i32>", R"(
    %v = load %x, %i : i32
    %nil = const 0 : i32
    %sum, %other = for %k = %nil to %v step 3 carry (%s = %nil, %t = %v) {
      %r = add %t, %k : i32
      yield %r, %s
    }
    %three = const 3 : i32
    %sel = rem.trunc %v, %three : i32
    %r = switch %sel -> (i32) {
    case 0 {
      yield %sum
    }
    case 1 {
      %d = sub %other, %sum : i32
      yield %d
    }
    default {
      yield %v
    }
    }
    store %y, %i, %r : i32
)")));
  EXPECT_TRUE(IsTiled(prepared));
  for (int64_t n : {1, 65, 300})
    prepared.ExpectSame({Index(n), Ramp(ir::types::I32, n, -7, 1), Ramp(ir::types::I32, n, 0, 0)});
}

TEST(TileKernels, RowsGathersStridesAndUniformLoads) {
  const Prepared prepared(ReadProgram(ir::Lanes(
      "%n: index, %f: index, %x: in buffer<f32>, %pick: in buffer<index>, %y: buffer<f32>", R"(
  %three = const 3 : index
)",
      "    %base = mul %i, %f : index\n" +
          ir::DotLoop("%f", "      %at = add %base, %k : index\n", "%x", "%x") + R"(
    %j = load %pick, %i : index
    %g = load %x, %j : f32
    %i3 = mul %i, %three : index
    %h = load %x, %i3 : f32
    %r = add %sum, %g : f32
    %r1 = sub %r, %h : f32
    store %y, %i, %r1 : f32
)")));
  EXPECT_TRUE(IsTiled(prepared));
  for (int64_t n : {1, 63, 600}) {
    const Value x = RandomBuffer(ir::types::F32, n * 5, 4), y = RandomBuffer(ir::types::F32, n, 5);
    prepared.ExpectSame({Index(n), Index(5), x, Ramp(ir::types::Index, n, n - 1, -1), y});
    // The lowest lane that leaves the buffer is the one that counts, whichever access it is.
    prepared.ExpectSame({Index(n), Index(5), x, Ramp(ir::types::Index, n, n * 4, 2), y});
    prepared.ExpectSame({Index(n), Index(6), x, Ramp(ir::types::Index, n, 0, 1), y});
    prepared.ExpectSame({Index(n), Index(2), RandomBuffer(ir::types::F32, n * 2, 4),
                         Ramp(ir::types::Index, n, 3, -1), y});
  }
}

TEST(TileKernels, TrapOfTheLowestLane) {
  const Prepared prepared(
      ReadProgram(ir::Lanes("%n: index, %x: in buffer<i32>, %z: in buffer<i32>, %y: buffer<i32>",
                            ir::OwnElements("i32", {"x", "z"}, R"(
    %q = div.trunc %xi, %zi : i32
    %c = add.checked %xi, %zi : i32
    %nil = const 0 : i32
    %ok = ge %xi, %nil : i32
    assert %ok
    %r = add %q, %c : i32
)",
                                            "y"))));
  const int64_t n = 1500;
  for (int64_t zero_at : {0, 700, 1499, 5000})
    for (int64_t huge_at : {1, 699, 701, 1498, 5000}) {
      const Value x = Ramp(ir::types::I32, n, 1, 1), z = Ramp(ir::types::I32, n, 1, 0),
                  y = Ramp(ir::types::I32, n, 0, 0);
      const uint64_t nil = 0, huge = 2147483647, negative = static_cast<uint64_t>(-5);
      if (zero_at < n) z.memory->Set(zero_at, std::span(&nil, 1));
      if (huge_at < n) x.memory->Set(huge_at, std::span(&huge, 1));
      x.memory->Set(1400, std::span(&negative, 1));
      prepared.ExpectSame({Index(n), x, z, y});
    }
}

const std::string Blocks = BlockKernel("barrier", "store %shared, %l, %v : f32",
                                       "%r = add %w, %v : f32\nstore %y, %i, %r : f32");

TEST(TileKernels, BlocksWithBarriers) {
  const Prepared prepared(ReadProgram(Blocks));
  for (int64_t block : {1, 7, 64, 300, 2000})
    for (int64_t grid : {1, 5}) {
      const Value x = RandomBuffer(ir::types::F32, grid * block, 1),
                  y = RandomBuffer(ir::types::F32, grid * block, 2);
      prepared.ExpectSame({Index(grid), Index(block), x, y});
      prepared.ExpectSame(
          {Index(grid), Index(block), x, RandomBuffer(ir::types::F32, grid * block - 1, 2)});
    }
}

TEST(TileKernels, AtomicsAndDependentLanes) {
  const Prepared histogram(
      ReadProgram(ir::Lanes("%n: index, %x: in buffer<index>, %y: buffer<u32>", R"(
    %k = load %x, %i : index
    %one = const 1 : u32
    %old = atomic %y, %k, %one {kind = add} : u32
)")));
  auto picks = Ramp(ir::types::Index, 20000, 0, 1);
  for (int64_t i = 0; i < 20000; ++i) {
    const uint64_t at = static_cast<uint64_t>(i * i % 13);
    picks.memory->Set(i, std::span(&at, 1));
  }
  histogram.ExpectSame({Index(20000), picks, Ramp(ir::types::U32, 13, 0, 0)});
  histogram.ExpectSame({Index(20000), picks, Ramp(ir::types::U32, 12, 0, 0)});
  const Prepared prefix(
      ReadProgram(ir::Lanes("%n: index, %x: buffer<f32>", "  %one = const 1 : index\n", R"(
    %before = sub %i, %one : index
    %u = load %x, %before : f32
    %v = load %x, %i : f32
    %s = add %u, %v : f32
    store %x, %i, %s : f32
)",
                            "%one to %n")));
  EXPECT_FALSE(IsTiled(prefix));
  prefix.ExpectSame({Index(3000), RandomBuffer(ir::types::F32, 3000, 3)});
}

// Enough work for threads; traps in pieces of both.
TEST(TileKernels, ThreadsGiveTheSame) {
  const Prepared prepared(ReadProgram(Saxpy));
  const int64_t n = 200'003;
  const Value x = RandomBuffer(ir::types::F32, n, 1), y = RandomBuffer(ir::types::F32, n, 2);
  prepared.ExpectSame({Index(n), exec::RandomScalar(ir::types::F32, 9), x, y});
  prepared.ExpectSame({Index(n + 1), exec::RandomScalar(ir::types::F32, 9), x, y});
}

TEST(TileKernels, ScarceFuelIsTakenInOrder) {
  const Prepared prepared(ReadProgram(Saxpy));
  exec::RunContext context;
  context.limits.fuel = 99;
  prepared.ExpectSame({Index(100), exec::RandomScalar(ir::types::F32, 9),
                       RandomBuffer(ir::types::F32, 100, 1), RandomBuffer(ir::types::F32, 100, 2)},
                      context);
}

TEST(TileKernels, AnEndlessLoopEnds) {
  const auto plan = Prepare(ReadProgram(ir::Lanes("%n: index, %x: buffer<i32>", R"(
    %v = load %x, %i : i32
    %r = while (%c = %v) {
      %nil = const 0 : i32
      %more = ge %c, %nil : i32
      condition %more
    } do {
      yield %v
    }
    store %x, %i, %r : i32
)")));
  ASSERT_TRUE(plan.has_value());
  exec::RunContext context;
  context.limits.run_ms = 20;
  const std::vector<Value> arguments = {Index(10), Ramp(ir::types::I32, 10, -3, 1)};
  const auto outcome = tiles::Run(**plan, arguments, context);
  ASSERT_TRUE(outcome.has_value() && outcome->trap.has_value());
  EXPECT_EQ(outcome->trap->ToString(), "time-out after 20 ms in while (parallel iteration 3)");
}

// The clock is looked at every 256 turns: no limit at all must not lie in the past by then.
TEST(TileKernels, NoLimitOfTimeIsNone) {
  const ir::Program program =
      ReadProgram(ir::Lanes("%n: index, %turns: index, %x: in buffer<i32>, %y: buffer<i32>", R"(
    %v = load %x, %i : i32
    %s = for %j = %zero to %turns step 1 carry (%a = %v) {
      %b = add %a, %v : i32
      yield %b
    }
    store %y, %i, %s : i32
)"));
  const auto plan = Prepare(program);
  const auto module = isa::Lower(program);
  ASSERT_TRUE(plan.has_value() && module.has_value());
  for (const uint64_t run_ms : {UINT64_MAX, uint64_t{1} << 62, uint64_t{60'000}}) {
    exec::RunContext context;
    context.limits.run_ms = run_ms;
    const std::vector<Value> arguments = {Index(4), Index(1023), Ramp(ir::types::I32, 4, 1, 1),
                                          Ramp(ir::types::I32, 4, 0, 0)};
    for (const auto& outcome :
         {tiles::Run(**plan, arguments, context), isa::RunLaneExact(*module, arguments, context)}) {
      ASSERT_TRUE(outcome.has_value());
      EXPECT_FALSE(outcome->trap) << outcome->trap->ToString();
      EXPECT_EQ(arguments[3], Ramp(ir::types::I32, 4, 1024, 1024)) << run_ms;
    }
  }
}

TEST(TileKernels, ByTheModule) {
  for (const std::string& text : {Saxpy, Blocks}) {
    const ir::Program program = ReadProgram(text);
    const auto module = isa::ProvedModule::OfProgram(program);
    ASSERT_TRUE(module.has_value()) << module.error().ToString();
    const auto plan = Prepare(*module);
    ASSERT_TRUE(plan.has_value());
    EXPECT_EQ(LaneByLane(**plan), "");
    EXPECT_NE(Describe(**plan).find(": tiles"), std::string::npos);
  }
}

}  // namespace
}  // namespace frazil::targets::tiles
