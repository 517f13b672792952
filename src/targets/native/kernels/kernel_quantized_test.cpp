// Products of quantized weights, as loops, against the interpreter: sizes around blocks of rows and groups of a turn, the numbers
// at the ends of their ranges, scales that are NaN or infinite, shared and short buffers, and what must not become such a
// kernel.
#include <fmt/format.h>

#include "ir/text/test_text.h"
#include "targets/native/kernels/match_quantized.h"
#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

// %row: bytes from one output's weights to the next one's; %srow: scales, likewise.
std::string Nest(bool has_nibbles) {
  const std::string_view eight = R"(
        %wi = add %wg, %e : index
        %wb = load %w, %wi : i8
        %wn = cast %wb : i32
        %ai = add %ag, %e : index
        %ab = load %a, %ai : i8
        %an = cast %ab : i32
        %p = mul %an, %wn : i32
        %d = add %dot, %p : i32
        yield %d)";
  const std::string_view four = R"(
        %wi = add %wg, %e : index
        %wb = load %w, %wi : u8
        %wn = cast %wb : i32
        %eight = const 8 : i32
        %fifteen = const 15 : i32
        %four = const 4 : i32
        %lb = and %wn, %fifteen : i32
        %lf = xor %lb, %eight : i32
        %low = sub %lf, %eight : i32
        %hb = shr %wn, %four : i32
        %hf = xor %hb, %eight : i32
        %high = sub %hf, %eight : i32
        %twice = add %e, %e : index
        %even = add %ag, %twice : index
        %one = const 1 : index
        %odd = add %even, %one : index
        %a0 = load %a, %even : i8
        %a0n = cast %a0 : i32
        %p0 = mul %a0n, %low : i32
        %d0 = add %dot, %p0 : i32
        %a1 = load %a, %odd : i8
        %a1n = cast %a1 : i32
        %p1 = mul %a1n, %high : i32
        %d1 = add %d0, %p1 : i32
        yield %d1)";
  return fmt::format(R"(frz 1
func @main(%n: index, %groups: index, %row: index, %srow: index, %a: in buffer<i8>, %as: in buffer<f32>, %w: in buffer<{0}>, %ws: in buffer<f32>, %c: buffer<f32>) {{
  %zero = const 0 : index
  %start = const 0 : f32
  %none = const 0 : i32
  %size = const 32 : index
  %steps = const {1} : index
  parallel %t = %zero to %n {{
    %wr = mul %t, %row : index
    %wsr = mul %t, %srow : index
    %s = for %g = %zero to %groups step 1 carry (%acc = %start) {{
      %ag = mul %g, %size : index
      %wgs = mul %g, %steps : index
      %wg = add %wr, %wgs : index
      %sum = for %e = %zero to %steps step 1 carry (%dot = %none) {{{2}
      }}
      %sa = load %as, %g : f32
      %wsi = add %wsr, %g : index
      %sw = load %ws, %wsi : f32
      %scale = mul %sa, %sw : f32
      %number = cast %sum : f32
      %next = fma %scale, %number, %acc : f32
      yield %next
    }}
    store %c, %t, %s : f32
    yield
  }}
  return
}}
)",
                     has_nibbles ? "u8" : "i8", has_nibbles ? 16 : 32, has_nibbles ? four : eight);
}

Case CaseOf(bool has_nibbles, int64_t n, int64_t groups, uint64_t seed) {
  const int64_t row = groups * (has_nibbles ? 16 : 32) + static_cast<int64_t>(seed % 3);
  const int64_t scales_row = groups + static_cast<int64_t>(seed % 2);
  return {{groups * 32, groups, n * row, n * scales_row, n},
          {Index(n), Index(groups), Index(row), Index(scales_row)},
          {},
          seed,
          seed % 3 != 0};
}

TEST(KernelQuantized, Sizes) {
  for (bool has_nibbles : {false, true}) {
    SCOPED_TRACE(has_nibbles);
    Differential test(Nest(has_nibbles));
    uint64_t seed = 1;
    for (int64_t n : {1, 2, 7, 8, 9, 15, 16, 17, 33})
      for (int64_t groups : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 18, 19})
        test.Check(CaseOf(has_nibbles, n, groups, ++seed));
  }
}

// -128 by -128 in every place is what an instruction would saturate at.
TEST(KernelQuantized, EndsOfRanges) {
  for (bool has_nibbles : {false, true}) {
    const std::string text = Nest(has_nibbles);
    for (exec::CpuLevel level : Levels()) {
      NativeOptions options;
      options.level = level;
      auto target = MakeNativeTarget(options);
      auto artifact = target->Emit(Parse(text));
      ASSERT_TRUE(artifact.has_value()) << artifact.error().ToString();
      auto callable = target->Load(*artifact);
      ASSERT_TRUE(callable.has_value());
      constexpr int64_t N = 18, Groups = 6;
      for (int a : {-128, 127, -1, 0})
        for (int w : {-128, 127, 0, 0x77, 0x78, 0x87, 0xff}) {
          const int64_t row = Groups * (has_nibbles ? 16 : 32);
          auto make = [](ir::Type type, int64_t count, uint64_t word) {
            auto memory = std::make_shared<exec::Memory>(type, count);
            for (int64_t i = 0; i < count; ++i) memory->Set(i, std::span(&word, 1));
            return exec::Value::Buffer(memory);
          };
          const uint64_t one = 0x3f800000;
          const auto wide = [](int byte) {
            return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(byte)));
          };
          std::vector<exec::Value> arguments = {
              Index(N),
              Index(Groups),
              Index(row),
              Index(Groups),
              make(ir::types::I8, Groups * 32, wide(a)),
              make(ir::types::F32, Groups, one),
              has_nibbles ? make(ir::types::U8, N * row, static_cast<uint8_t>(w))
                          : make(ir::types::I8, N * row, wide(w)),
              make(ir::types::F32, N * Groups, one),
              make(ir::types::F32, N, 0)};
          auto outcome = (*callable)->Run(arguments, {});
          ASSERT_TRUE(outcome.has_value() && !outcome->trap);
          auto nibble = [](int bits) { return (bits ^ 8) - 8; };
          const int pair =
              has_nibbles ? nibble(w & 15) + nibble((w >> 4) & 15) : 2 * static_cast<int8_t>(w);
          const auto expected = static_cast<float>(a * pair * 16 * Groups);
          const auto* c = reinterpret_cast<const float*>(arguments[8].memory->data());
          for (int64_t t = 0; t < N; ++t)
            ASSERT_EQ(c[t], expected) << exec::CpuLevelName(level) << " " << a << " " << w;
        }
    }
  }
}

TEST(KernelQuantized, WhatTheTestsRefuse) {
  for (bool has_nibbles : {false, true}) {
    Differential test(Nest(has_nibbles));
    for (auto [n, groups] : {std::pair{0, 3}, {17, 0}, {-1, 3}, {17, -2}}) {
      Case c = CaseOf(has_nibbles, n, groups, 5);
      c.lengths = {96, 3, 96, 3, 17};
      test.Check(c);
    }
    for (size_t b = 0; b < 5; ++b) {
      Case c = CaseOf(has_nibbles, 17, 3, 6);
      c.lengths[b] -= 1;
      test.Check(c);
    }
    Case overlapping = CaseOf(has_nibbles, 17, 3, 7);
    overlapping.scalars[2] = Index(1);
    overlapping.scalars[3] = Index(0);
    test.Check(overlapping);
    // c is what scales are read from.
    for (int scales : {1, 3}) {
      Case same = CaseOf(has_nibbles, 17, 3, 8);
      same.lengths = {96, 68, same.lengths[2], 68, 68};
      same.same_as = {-1, -1, -1, -1, scales};
      test.Check(same);
    }
  }
}

TEST(MatchQuantized, KnowsWhatIsNone) {
  auto matches = [](const std::string& text) {
    const ir::Program program = Parse(text);
    const ProgramFacts facts = FindFacts(program, false);
    const ir::Function& main = program.entry_function();
    for (const ir::Inst& inst : main.insts)
      if (inst.op == ir::Op::Parallel &&
          MatchQuantized(main, facts.functions[program.entry.index], inst))
        return true;
    return false;
  };
  auto with = [](std::string text, std::string_view from, std::string_view to) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    return text.replace(text.find(from), from.size(), to);
  };
  for (bool has_nibbles : {false, true}) {
    const std::string good = Nest(has_nibbles);
    EXPECT_TRUE(matches(good));
    EXPECT_FALSE(matches(with(good, "const 0 : f32", "const -0.0 : f32")));
    EXPECT_FALSE(matches(with(good, "const 0 : i32", "const 1 : i32")));
    EXPECT_FALSE(matches(with(good, "const 32 : index", "const 31 : index")));
    EXPECT_FALSE(matches(with(good, "load %as, %g", "load %as, %wg")));
    EXPECT_FALSE(matches(with(good, "mul %sa, %sw", "add %sa, %sw")));
    EXPECT_FALSE(matches(with(good, "fma %scale, %number, %acc", "fma %scale, %acc, %number")));
    EXPECT_FALSE(matches(with(good, "for %g = %zero", "for %g = %t")));
  }
  const std::string four = Nest(true);
  EXPECT_FALSE(matches(with(four, "mul %a0n, %low", "mul %a0n, %high")));
  EXPECT_FALSE(matches(with(four, "const 15 : i32", "const 7 : i32")));
  EXPECT_FALSE(matches(with(four, "const 1 : index", "const 2 : index")));
  EXPECT_FALSE(matches(with(four, "sub %hf, %eight", "sub %hf, %four")));
}

}  // namespace
}  // namespace frazil::targets::native
