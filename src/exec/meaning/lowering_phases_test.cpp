// Barriers become loops over phases, and random programs stay what they are; as lowering_test.cpp does it.
#include "base/test_counts.h"
#include "exec/meaning/test_lowering.h"
#include "generator/generator.h"
#include "ir/text/test_text.h"

namespace frazil::exec {
namespace {

TEST(Lowering, Barriers) {
  ExpectSameText(R"(frz 1
func @sum(%b: buffer<i64>) -> (i64) {
  %lo = const 0 : index
  %n = length %b : i64
  %z = const 0 : i64
  %s = for %i = %lo to %n step 1 carry (%a = %z) {
    %v = load %b, %i : i64
    store %b, %i, %a : i64
    %c = add %a, %v : i64
    yield %c
  }
  return %s
}
func @main(%n: index, %m: u8, %flag: bool, %x: buffer<i64>) {
  %zero = const 0 : index
  %one = const 1 : i64
  %len = length %x : i64
  %lo = const -3 : index
  %hi = add %lo, %len : index
  %seven = const 7 : u8
  %zero8 = const 0 : u8
  %turns = and %m, %seven : u8
  parallel %i = %lo to %hi {
    %four = const 4 : index
    %s = alloc %four : i64
    %at = sub %i, %lo : index
    %v = load %x, %at : i64
    %place = rem.floor %i, %four : index
    store %s, %place, %v : i64
    barrier
    %w = load %s, %place : i64
    %slen = length %s : i64
    %old = atomic %s, %zero, %w {kind = add} : i64
    %r, %q, %b = for %k = %zero8 to %turns step 2 carry (%a = %v, %b = %one, %flip = %flag) {
      store %x, %at, %a : i64
      %again = alloc %four : i64
      store %again, %zero, %b : i64
      barrier
      %k64 = cast %k : index
      %j = add %at, %k64 : index
      %c = rem.floor %j, %len : index
      %d = load %x, %c : i64
      %from = load %again, %zero : i64
      %fresh = load %again, %place : i64
      %e = add %d, %from : i64
      %g = add %e, %fresh : i64
      %nf = not %flip : bool
      %h = if %flag -> (i64) {
        barrier
        %other = load %x, %zero : i64
        %sum = add %other, %g : i64
        yield %sum
      } else {
        %twice = add %g, %g : i64
        barrier
        store %x, %at, %twice : i64
        yield %twice
      }
      barrier
      yield %b, %h, %nf
    }
    %total = call @sum(%s)
    barrier
    %t1 = load %s, %place : i64
    %r1 = add %r, %total : i64
    %r2 = add %r1, %t1 : i64
    %r3 = add %r2, %q : i64
    %r4 = select %b, %r3, %old : i64
    store %x, %at, %r4 : i64
    yield
  }
  return
}
)",
                 80);
}

// Division by zero in some iteration of some phase, scratch that cannot be had in a later one; what
// earlier iterations wrote stays.
TEST(Lowering, TrapsInPhases) {
  ir::Program program = *ir::ParseText(ir::Lanes("%d: i32, %k: index, %x: buffer<i32>", R"(
  %n = length %x : i32
)",
                                                 R"(
    %v = load %x, %i : i32
    barrier
    %w = div.trunc %d, %v : i32
    store %x, %i, %w : i32
    barrier
    store %x, %i, %v : i32
    %b = alloc %k : i32
    store %x, %i, %d : i32
    barrier
    %y = load %b, %i : i32
    store %x, %i, %y : i32
)"));
  for (int64_t k :
       {int64_t{-1}, int64_t{0}, int64_t{2}, int64_t{4}, int64_t{1} << 45, int64_t{1} << 62}) {
    for (int64_t divisor : {0, 1}) {
      auto make = [&] {
        auto memory = std::make_shared<Memory>(ir::types::I32, 4);
        for (int64_t i = 0; i < 4; ++i)
          memory->Set(i, Value::Int(ir::types::I32, i == 2 ? divisor : 3).scalar_words());
        return std::vector<Value>{Value::Int(ir::types::I32, 12), Value::Int(ir::types::Index, k),
                                  Value::Buffer(memory)};
      };
      ExpectSame(program, make, {}, fmt::format("k {} divisor {}", k, divisor));
    }
  }
}

TEST(Lowering, NestedParallels) {
  ExpectSameText(ir::Lanes("%m: u8, %x: buffer<i64>", R"(
  %n = length %x : i64
  %mask = const 3 : u8
  %small = and %m, %mask : u8
  %lanes = cast %small : index
)",
                           R"(
    %v = load %x, %zero : i64
    %scratch = alloc %lanes : i64
    barrier
    parallel %j = %zero to %n {
      %w = load %x, %j : i64
      %mine = alloc %lanes : i64
      store %mine, %i, %w : i64
      barrier
      %s = add %v, %w : i64
      store %scratch, %i, %s : i64
      barrier
      %u = load %mine, %i : i64
      %y = load %scratch, %i : i64
      %z = add %u, %y : i64
      store %x, %j, %z : i64
      yield
    }
    barrier
    %q = load %scratch, %i : i64
    store %x, %i, %q : i64
)",
                           "%zero to %lanes"),
                 60);
}

TEST(Lowering, RandomPrograms) {
  uint64_t refused = 0;
  uint64_t trapped = 0;
  const uint64_t count = SanitizedCount(3000);
  for (uint64_t seed = 0; seed < count; ++seed) {
    ir::Program program = generator::Generate({.seed = seed});
    auto make = [&] { return RandomArguments(program, seed); };
    Compared compared =
        ExpectSame(program, make, RandomContext(program, seed), fmt::format("seed {}", seed));
    refused += compared.refused;
    trapped += compared.trapped;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_LT(trapped, count / 2);
  // Scratch of unequal length across a barrier, and tensors that SplitBarriers meets alone.
  EXPECT_LT(refused, count / 20);
}

}  // namespace
}  // namespace frazil::exec
