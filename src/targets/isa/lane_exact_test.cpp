// The lane-exact executor on assembly: lanes, blocks, shared memory, labels, pools, Φ, and the pseudo-instructions
// against plain C++ loops.
#include "targets/isa/lane_exact.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "machines/simt/text.h"

namespace frazil::targets::isa {
namespace {

using exec::Value;
using machines::simt::Module;

Module Assembled(std::string_view text) {
  Result<Module> module = machines::simt::Assemble(text);
  EXPECT_TRUE(module) << module.error().ToString();
  return module ? *module : Module{};
}

template <typename T>
Value BufferOf(ir::Type type, const std::vector<T>& values) {
  auto memory = std::make_shared<exec::Memory>(type, static_cast<int64_t>(values.size()));
  std::memcpy(memory->data(), values.data(), values.size() * sizeof(T));
  return Value::Buffer(memory);
}
template <typename T>
std::vector<T> Contents(const Value& value) {
  std::vector<T> values(static_cast<size_t>(value.memory->length()));
  std::memcpy(values.data(), value.memory->data(), values.size() * sizeof(T));
  return values;
}

exec::Outcome RunFine(std::string_view text, std::span<const Value> arguments,
                      const LaunchShape& launch = {}) {
  Module module = Assembled(text);
  if (module.code.empty()) return {};
  Result<exec::Outcome> outcome = RunLaneExact(module, arguments, {}, launch);
  EXPECT_TRUE(outcome) << outcome.error().ToString();
  if (!outcome) return {};
  EXPECT_FALSE(outcome->trap) << outcome->trap->ToString();
  return *outcome;
}

std::optional<exec::TrapInfo> TrapOf(std::string_view text, std::span<const Value> arguments = {},
                                     const LaunchShape& launch = {},
                                     const exec::RunContext& context = {}) {
  Module module = Assembled(text);
  Result<exec::Outcome> outcome = RunLaneExact(module, arguments, context, launch);
  EXPECT_TRUE(outcome) << outcome.error().ToString();
  return outcome ? outcome->trap : std::nullopt;
}

TEST(LaneExact, TheBuildersAddWithItsGuard) {
  std::vector<float> a(1000), b(1000), c(1000);
  std::iota(a.begin(), a.end(), 0.5f);
  std::iota(b.begin(), b.end(), 100.0f);
  Value arguments[] = {BufferOf(ir::types::F32, a), BufferOf(ir::types::F32, b),
                       BufferOf(ir::types::F32, c), Value::Int(ir::types::U64, 1000)};
  RunFine(R"(.launch
.param in buffer f32 a
.param in buffer f32 b
.param buffer f32 c
.param u64 n
  ldp.u64 r4, n
  setge.u64 p0, r255, r4
  bra.p0 @end
  mov_imm.u64 r1, 0
  mov_imm.u64 r2, 1
  mov_imm.u64 r3, 2
  mov_imm.u32 r250, 2
  shl.u64 r0, r255, r250
  ldg.f32 r10, [r1 + r0]
  ldg.f32 r11, [r2 + r0]
  add.f32 r12, r10, r11
  stg.f32 [r3 + r0], r12
@end:
  exit
)",
          arguments, Linear(1000, 256));
  for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(Contents<float>(arguments[2])[i], a[i] + b[i]);
}

TEST(LaneExact, TheSeedsLoopRunsWithOrdinaryRegisters) {
  std::vector<uint32_t> count(1);
  Value arguments[] = {BufferOf(ir::types::U32, count)};
  RunFine(R"(.launch
.param buffer u32 out
  mov r1, #0; mov r2, #3072
@loop_body:
  add.u32 r1, r1, #1; setlt.u32 p0, r1, r2; bra.p0 @loop_body
  stg.u32 [out + 0], r1
  exit
)",
          arguments);
  EXPECT_EQ(Contents<uint32_t>(arguments[0])[0], 3072u);
}

TEST(LaneExact, BlockReverseThroughSharedMemory) {
  std::vector<uint32_t> data(3 * 64);
  std::iota(data.begin(), data.end(), 0u);
  Value arguments[] = {BufferOf(ir::types::U32, data)};
  LaunchShape launch;
  launch.grid = {3, 1, 1};
  launch.block = {64, 1, 1};
  launch.shared_bytes = 256;
  RunFine(R"(.launch
.param buffer u32 x
  ldg.u32 r0, [x + r255*4]
  sts.u32 [r252*4], r0
  bar.sync 0
  sub.u32 r1, r254, r252
  sub.u32 r1, r1, #1
  lds.u32 r2, [r1*4]
  stg.u32 [x + r255*4], r2
  exit
)",
          arguments, launch);
  std::vector<uint32_t> got = Contents<uint32_t>(arguments[0]);
  for (uint32_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i / 64 * 64 + 63 - i % 64);
}

TEST(LaneExact, LanesInThreeDimensions) {
  std::vector<uint32_t> out(2 * 3 * 2 * 4 * 2 * 2);
  Value arguments[] = {BufferOf(ir::types::U32, out)};
  LaunchShape launch;
  launch.grid = {2, 3, 2};
  launch.block = {4, 2, 2};
  RunFine(R"(.launch
.param buffer u32 x
  sreg.u32 r0, lane.x
  sreg.u32 r1, lane.y
  sreg.u32 r2, lane.z
  sreg.u32 r3, block.x
  sreg.u32 r4, block.y
  sreg.u32 r5, block.z
  sreg.u32 r6, blockdim.y
  sreg.u32 r7, griddim.y
  mov_imm.u32 r8, 10
  mad.u32 r9, r5, r8, r4
  mad.u32 r9, r9, r8, r3
  mad.u32 r9, r9, r8, r2
  mad.u32 r9, r9, r8, r1
  mad.u32 r9, r9, r8, r0
  mad.u32 r9, r9, r8, r6
  mad.u32 r9, r9, r8, r7
  stg.u32 [x + r255*4], r9
  exit
)",
          arguments, launch);
  size_t at = 0;
  std::vector<uint32_t> got = Contents<uint32_t>(arguments[0]);
  for (uint32_t bz = 0; bz < 2; ++bz)
    for (uint32_t by = 0; by < 3; ++by)
      for (uint32_t bx = 0; bx < 2; ++bx)
        for (uint32_t z = 0; z < 2; ++z)
          for (uint32_t y = 0; y < 2; ++y)
            for (uint32_t x = 0; x < 4; ++x)
              EXPECT_EQ(
                  got[at++],
                  ((((((bz * 10 + by) * 10 + bx) * 10 + z) * 10 + y) * 10 + x) * 10 + 2) * 10 + 3);
}

TEST(LaneExact, LanesTogether) {
  std::vector<int32_t> in = {5, -3, 7, 7, 100, 2, -9}, out(7 * 6);
  Value arguments[] = {BufferOf(ir::types::I32, in), BufferOf(ir::types::I32, out)};
  RunFine(R"(.param in buffer i32 x
.param buffer i32 y
  mov_imm.idx r0, 0
  len.i32 r1, x
  par r2, r0, r1
    ldg.i32 r3, [x + r2*4]
    mov_imm.u32 r4, 1
    mov_imm.idx r5, 6
    mul.idx r6, r2, r5
    shfl.down.i32 r7, r3, r4
    stg.i32 [y + r6*4], r7
    shfl.xor.i32 r7, r3, r4
    add.idx r6, r6, #1
    stg.i32 [y + r6*4], r7
    lane.reduce.add.i32 r7, r3
    add.idx r6, r6, #1
    stg.i32 [y + r6*4], r7
    lane.scan.add.i32 r7, r3
    add.idx r6, r6, #1
    stg.i32 [y + r6*4], r7
    lane.scan.max.exclusive.i32 r7, r3
    add.idx r6, r6, #1
    stg.i32 [y + r6*4], r7
    setgt.i32 p0, r3, #6
    ballot r8, p0
    vote.all p1, p0
    vote.any p2, p0
    cvt.i32.u64 r7, r8
    mov_imm.i32 r9, 1000
    add.i32 r10, r7, r9
    sel.i32 r7, p1, r9, r10
    sel.i32 r7, p2, r7, r9
    add.idx r6, r6, #1
    stg.i32 [y + r6*4], r7
  end
  exit
)",
          arguments);
  std::vector<int32_t> got = Contents<int32_t>(arguments[1]);
  int32_t sum = 0, most = INT32_MIN, all = std::accumulate(in.begin(), in.end(), 0);
  for (size_t i = 0; i < in.size(); ++i) {
    const int32_t* row = &got[i * 6];
    EXPECT_EQ(row[0], i + 1 < in.size() ? in[i + 1] : in[i]);
    EXPECT_EQ(row[1], (i ^ 1) < in.size() ? in[i ^ 1] : in[i]);
    EXPECT_EQ(row[2], all);
    EXPECT_EQ(row[3], sum += in[i]);
    EXPECT_EQ(row[4], most);
    most = std::max(most, in[i]);
    EXPECT_EQ(row[5], 1000 + 0b11100);
  }
}

TEST(LaneExact, LabelsCallsAndLoops) {
  std::vector<uint32_t> out(2);
  Value arguments[] = {BufferOf(ir::types::U32, out)};
  RunFine(R"(.launch
.param buffer u32 x
  mov_imm.u32 r0, 9
  mov_imm.u32 r1, 0
@again:
  call @twice
  loop r0, @again
  stg.u32 [x + 0], r1
  @!p0 mov_imm.u32 r1, 5
  exit
@twice:
  add.u32 r1, r1, #2
  setlt.u32 p0, r1, #5
  @p0 add.u32 r1, r1, #100
  ret
)",
          arguments);
  EXPECT_EQ(Contents<uint32_t>(arguments[0])[0], 120u);
  EXPECT_EQ(TrapOf(".launch\n@f: call @f\nexit")->kind, ir::Trap::Depth);
  exec::RunContext little;
  little.limits.fuel = 1000;
  EXPECT_EQ(TrapOf(".launch\n@f: bra @f", {}, {}, little)->kind, ir::Trap::Fuel);
  EXPECT_EQ(TrapOf(".launch\nret")->kind, ir::Trap::Depth);
  // A launch takes fuel as a PAR does; one without lanes is over at once.
  LaunchShape vast;
  vast.grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  EXPECT_EQ(TrapOf(".launch\nexit", {}, vast)->kind, ir::Trap::Fuel);
  vast.block[1] = 0;
  EXPECT_FALSE(TrapOf(".launch\nexit", {}, vast));
}

TEST(LaneExact, ABarrierThatNotAllReachTraps) {
  auto trap = TrapOf(".launch\nsetlt.u32 p0, r252, #3\nbra.p0 @skip\nbar.sync 0\n@skip: exit", {},
                     Linear(8, 8));
  ASSERT_TRUE(trap);
  EXPECT_EQ(trap->kind, ir::Trap::Unreachable);
  EXPECT_EQ(trap->op, ir::Op::Barrier);
}

TEST(LaneExact, PoolsAndPhi) {
  std::vector<uint64_t> out(3);
  Value arguments[] = {BufferOf(ir::types::U64, out)};
  RunFine(R"(.launch
.param buffer u64 x
  mov_imm.u64 r0, 64
  poolalloc r1, r0
  mov_imm.u64 r2, 77
  mov_imm.u64 r3, 56
  poolstore.u64 [r1 + r3], r2
  poolload.u64 r4, [r1 + 56]
  stg.u64 [x + 0], r4
  stg.u64 [Φ(95, 47, 248)], r4
  ldg.u64 r5, [Φ(95, 47, 248)]
  stg.u64 [x + 8], r5
  mov_imm.u64 r7, 5
  boundmap.u64 r6, r2, r7, r3
  stg.u64 [x + 16], r6
  poolfree r1
  exit
)",
          arguments);
  EXPECT_EQ(Contents<uint64_t>(arguments[0])[0], 77u);
  EXPECT_EQ(Contents<uint64_t>(arguments[0])[1], 77u);
  EXPECT_EQ(Contents<uint64_t>(arguments[0])[2], 77u * 12288 + 5 * 256 + 56);
  EXPECT_EQ(TrapOf(".launch\nmov_imm.u64 r0, 300\npoolfree r0\nexit")->kind, ir::Trap::OutOfBounds);
  EXPECT_EQ(TrapOf(".launch\nmov_imm.u64 r0, 0\nldg.u8 r1, [r0]\nexit")->kind,
            ir::Trap::OutOfBounds);
}

// Limits that no machine has: the machine says no, and that is a trap like any other.
TEST(LaneExact, WhatTheMachineDoesNotHaveIsTheTrapMemory) {
  if (Sanitized) GTEST_SKIP() << "the sanitizer ends a program that asks for so much";
  exec::RunContext context;
  for (uint64_t limit : {uint64_t{1} << 62, UINT64_MAX}) {
    context.limits.memory_bytes = limit;
    for (std::string_view bytes : {"4000000000000000000", "18446744073709551600"}) {
      auto trap = TrapOf(fmt::format(".launch\nmov_imm.u64 r0, {}\npoolalloc r1, r0\nexit", bytes),
                         {}, {}, context);
      ASSERT_TRUE(trap) << bytes;
      EXPECT_EQ(trap->kind, ir::Trap::Memory);
    }
    auto trap = TrapOf(".launch\nexit", {}, {.block = {1u << 31, 1u << 18, 1}}, context);
    ASSERT_TRUE(trap);
    EXPECT_EQ(trap->kind, ir::Trap::Memory);
  }
}

// Each level stays below the limit; together they do not.
TEST(LaneExact, LanesThatWaitAreCountedOverAllLevels) {
  constexpr std::string_view Nested = R"(
  mov_imm.idx r0, 0
  mov_imm.idx r1, 100
  mov_imm.u32 r9, 1
  par r2, r0, r1
    shfl.down.u32 r8, r9, r9
    par r3, r0, r1
      shfl.down.u32 r8, r9, r9
    end
  end
  exit
)";
  exec::RunContext context;
  context.limits.memory_bytes = 400'000;  // a lane is more than 2048 bytes
  auto trap = TrapOf(Nested, {}, {}, context);
  ASSERT_TRUE(trap);
  EXPECT_EQ(trap->kind, ir::Trap::Memory);
  context.limits.memory_bytes = 800'000;
  EXPECT_FALSE(TrapOf(Nested, {}, {}, context));
}

std::vector<float> Random(size_t count, uint32_t seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int32_t>(seed >> 8) % 2000 - 1000) / 256.0f;
  }
  return values;
}
Value Floats(const std::vector<float>& values) { return BufferOf(ir::types::F32, values); }
Value Idx(int64_t value) { return Value::Int(ir::types::Index, value); }

TEST(Pseudo, Gemm) {
  constexpr int M = 5, K = 7, N = 3;
  std::vector<float> a = Random(M * K, 1), b = Random(K * N, 2);
  Value arguments[] = {
      Floats(std::vector<float>(M * N)), Floats(a), Floats(b), Idx(M), Idx(K), Idx(N)};
  RunFine(R"(.param buffer f32 c
.param in buffer f32 a
.param in buffer f32 b
.param idx m
.param idx k
.param idx n
  ldp.idx r0, m
  ldp.idx r1, k
  ldp.idx r2, n
  gemm.f32 c, a, b, r0, r1, r2
  exit
)",
          arguments);
  std::vector<float> got = Contents<float>(arguments[0]);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum = std::fma(a[i * K + k], b[k * N + j], sum);
      EXPECT_EQ(got[i * N + j], sum);
    }
}

TEST(Pseudo, LayerNormAndBatchNorm) {
  constexpr int Rows = 3, Features = 5;
  std::vector<float> x = Random(Rows * Features, 3), gamma = Random(Features, 4),
                     beta = Random(Features, 5);
  std::vector<float> variance = {1, 2, 3, 4, 5};
  Value arguments[] = {Floats(std::vector<float>(Rows * Features)),
                       Floats(x),
                       Floats(gamma),
                       Floats(beta),
                       Idx(Rows),
                       Idx(Features),
                       Floats(std::vector<float>(Rows * Features)),
                       Floats(variance),
                       Idx(1)};
  RunFine(R"(.param buffer f32 y
.param in buffer f32 x
.param in buffer f32 gamma
.param in buffer f32 beta
.param idx rows
.param idx features
.param buffer f32 z
.param in buffer f32 variance
.param idx one
  ldp.idx r0, rows
  ldp.idx r1, features
  ldp.idx r2, one
  layernorm.f32 y, x, gamma, beta, r0, r1, 0.5
  batchnorm.f32 z, x, gamma, beta, beta, variance, r0, r1, r2, 0.25
  exit
)",
          arguments);
  std::vector<float> y = Contents<float>(arguments[0]), z = Contents<float>(arguments[6]);
  for (int r = 0; r < Rows; ++r) {
    float sum = 0, var = 0;
    for (int k = 0; k < Features; ++k) sum += x[r * Features + k];
    float mean = sum / Features;
    for (int k = 0; k < Features; ++k)
      var += (x[r * Features + k] - mean) * (x[r * Features + k] - mean);
    float deviation = std::sqrt(var / Features + 0.5f);
    for (int k = 0; k < Features; ++k) {
      EXPECT_EQ(y[r * Features + k], (x[r * Features + k] - mean) / deviation * gamma[k] + beta[k]);
      EXPECT_EQ(
          z[r * Features + k],
          (x[r * Features + k] - beta[k]) / std::sqrt(variance[k] + 0.25f) * gamma[k] + beta[k]);
    }
  }
}

TEST(Pseudo, GroupNormIsLayerNormOfGroups) {
  constexpr int N = 2, C = 4, Hw = 3, Groups = 2, Count = C / Groups * Hw;
  std::vector<float> x = Random(N * C * Hw, 6), gamma = Random(C, 7), beta = Random(C, 8);
  Value arguments[] = {Floats(std::vector<float>(x.size())),
                       Floats(x),
                       Floats(gamma),
                       Floats(beta),
                       Idx(N),
                       Idx(C),
                       Idx(Hw),
                       Idx(Groups)};
  RunFine(R"(.param buffer f32 y
.param in buffer f32 x
.param in buffer f32 gamma
.param in buffer f32 beta
.param idx n
.param idx c
.param idx hw
.param idx groups
  ldp.idx r0, n
  ldp.idx r1, c
  ldp.idx r2, hw
  ldp.idx r3, groups
  groupnorm.f32 y, x, gamma, beta, r0, r1, r2, r3, 0.125
  exit
)",
          arguments);
  std::vector<float> y = Contents<float>(arguments[0]);
  for (int g = 0; g < N * Groups; ++g) {
    float sum = 0, var = 0;
    for (int k = 0; k < Count; ++k) sum += x[g * Count + k];
    float mean = sum / Count;
    for (int k = 0; k < Count; ++k) var += (x[g * Count + k] - mean) * (x[g * Count + k] - mean);
    float deviation = std::sqrt(var / Count + 0.125f);
    for (int k = 0; k < Count; ++k) {
      int e = g * Count + k, c = e / Hw % C;
      EXPECT_EQ(y[e], (x[e] - mean) / deviation * gamma[c] + beta[c]);
    }
  }
}

TEST(Pseudo, Conv2dWithStridePadDilationGroups) {
  constexpr int N = 2, C = 4, H = 7, W = 6, O = 6, Kh = 3, Kw = 2, Stride = 2, Pad = 1,
                Dilation = 2, Groups = 2;
  constexpr int Oh = (H + 2 * Pad - Dilation * (Kh - 1) - 1) / Stride + 1,
                Ow = (W + 2 * Pad - Dilation * (Kw - 1) - 1) / Stride + 1;
  constexpr int Cpg = C / Groups, Opg = O / Groups;
  std::vector<float> x = Random(N * C * H * W, 9), w = Random(O * Cpg * Kh * Kw, 10);
  Value arguments[] = {Floats(std::vector<float>(N * O * Oh * Ow)),
                       Floats(x),
                       Floats(w),
                       Idx(N),
                       Idx(C),
                       Idx(H),
                       Idx(W),
                       Idx(O),
                       Idx(Kh),
                       Idx(Kw)};
  RunFine(R"(.param buffer f32 y
.param in buffer f32 x
.param in buffer f32 w
.param idx n
.param idx c
.param idx h
.param idx wd
.param idx o
.param idx kh
.param idx kw
  ldp.idx r0, n
  ldp.idx r1, c
  ldp.idx r2, h
  ldp.idx r3, wd
  ldp.idx r4, o
  ldp.idx r5, kh
  ldp.idx r6, kw
  conv2d.f32 y, x, w, r0, r1, r2, r3, r4, r5, r6, 2, 1, 2, 2
  exit
)",
          arguments);
  std::vector<float> y = Contents<float>(arguments[0]);
  size_t at = 0;
  for (int n = 0; n < N; ++n)
    for (int o = 0; o < O; ++o)
      for (int i = 0; i < Oh; ++i)
        for (int j = 0; j < Ow; ++j) {
          float sum = 0;
          for (int c = 0; c < Cpg; ++c)
            for (int a = 0; a < Kh; ++a)
              for (int b = 0; b < Kw; ++b) {
                int r = i * Stride + a * Dilation - Pad, s = j * Stride + b * Dilation - Pad;
                if (r < 0 || r >= H || s < 0 || s >= W) continue;
                sum = std::fma(x[((n * C + o / Opg * Cpg + c) * H + r) * W + s],
                               w[((o * Cpg + c) * Kh + a) * Kw + b], sum);
              }
          EXPECT_EQ(y[at++], sum);
        }
}

TEST(Pseudo, MapsReduceUpsample) {
  std::vector<float> x = Random(12, 11), y = Random(12, 12);
  x[3] = 0, y[3] = -0.0f, x[4] = -0.0f, y[4] = 2, x[5] = 0, y[5] = 0, x[6] = 3, y[6] = 0;
  Value arguments[] = {Floats(x),
                       Floats(y),
                       Floats(std::vector<float>(12)),
                       Floats(std::vector<float>(12)),
                       Floats(std::vector<float>(1)),
                       Floats(std::vector<float>(48)),
                       Idx(12)};
  RunFine(R"(.param in buffer f32 x
.param in buffer f32 y
.param buffer f32 relu
.param buffer f32 angle
.param buffer f32 sum
.param buffer f32 big
.param idx n
  ldp.idx r0, n
  parmap.relu.f32 relu, x, r0
  parmap2.atan2.f32 angle, x, y, r0
  parreduce.add.f32 r1, x, r0
  stg.f32 [sum + 0], r1
  mov_imm.idx r2, 2
  mov_imm.idx r3, 3
  upsample2d.f32 big, x, r2, r2, r3, 2
  exit
)",
          arguments);
  float sum = 0;
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(Contents<float>(arguments[2])[i], std::max(x[i], 0.0f));
    float angle = Contents<float>(arguments[3])[i];
    EXPECT_NEAR(angle, std::atan2(x[i], y[i]), 1e-6) << i;
    EXPECT_EQ(std::signbit(angle), std::signbit(std::atan2(x[i], y[i]))) << i;
  }
  // 12 chains of one element each, folded by halves: 8, 4, 2, 1 apart.
  std::vector<float> chains = x;
  for (size_t half : {8u, 4u, 2u, 1u})
    for (size_t i = 0; i + half < chains.size() && i < half; ++i) chains[i] += chains[i + half];
  sum = chains[0];
  EXPECT_EQ(Contents<float>(arguments[4])[0], sum);
  std::vector<float> big = Contents<float>(arguments[5]);
  for (int p = 0; p < 2; ++p)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 6; ++j)
        EXPECT_EQ(big[(p * 4 + i) * 6 + j], x[(p * 2 + i / 2) * 3 + j / 2]);
}

TEST(Pseudo, Classes) {
  std::vector<uint32_t> out(6);
  Value arguments[] = {BufferOf(ir::types::U32, out)};
  RunFine(R"(.class 4
.param buffer u32 x
  clsget.u32 r0
  mirror.u32 r1, r0
  nbrcount.u32 r2, r1
  nbrget.u32 r3, r1, 2
  phaseadv 700
  phaseadv 100
  phaseget.u32 r5
  unitytest p0, 0.001
  mov_imm.u32 r6, 1
  mov_imm.u32 r7, 0
  sel.u32 r8, p0, r6, r7
  stg.u32 [x + 0], r0
  stg.u32 [x + 4], r1
  stg.u32 [x + 8], r2
  stg.u32 [x + 12], r3
  stg.u32 [x + 16], r5
  stg.u32 [x + 20], r8
  exit
)",
          arguments);
  EXPECT_EQ(Contents<uint32_t>(arguments[0]), (std::vector<uint32_t>{4, 1, 4, 2, 32, 1}));
}

}  // namespace
}  // namespace frazil::targets::isa
