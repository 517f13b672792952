// The choice of a level, and the scalar one. The sum of products keeps 192 bits and reduces once.
#include "base/number/goldilocks_vector.h"

#include "base/check.h"
#include "base/number/goldilocks_lanes.h"

namespace frazil::goldilocks {
namespace {

void AddScalar(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = Add(a[i], b[i]);
}
void SubScalar(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = Sub(a[i], b[i]);
}
void MulScalar(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = Mul(a[i], b[i]);
}
void MulAddScalar(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* out,
                  size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = MulAdd(a[i], b[i], c[i]);
}

// Four sums at once: one would wait for its own carries.
uint64_t DotScalar(const uint64_t* a, const uint64_t* b, size_t count) {
  __extension__ using uint128 = unsigned __int128;
  uint128 sums[4] = {};
  uint64_t carries[4] = {};
  size_t i = 0;
  auto add = [&](size_t chain, size_t at) {
    carries[chain] += __builtin_add_overflow(sums[chain], uint128{a[at]} * b[at], &sums[chain]);
  };
  for (; i + 4 <= count; i += 4)
    for (size_t chain = 0; chain < 4; ++chain) add(chain, i + chain);
  for (; i < count; ++i) add(0, i);
  uint64_t total = 0;
  for (size_t chain = 0; chain < 4; ++chain) {
    const uint64_t low =
        ReduceAny(static_cast<uint64_t>(sums[chain]), static_cast<uint64_t>(sums[chain] >> 64));
    // 2^128 = -2^32.
    total = Add(total, Sub(low, Mul(FromUint64(carries[chain]), uint64_t{1} << 32)));
  }
  return total;
}

const LaneFunctions& LanesOf(VectorLevel level) {
  const LaneFunctions* lanes = level == VectorLevel::Avx512 ? Avx512Lanes()
                               : level == VectorLevel::Avx2 ? Avx2Lanes()
                                                            : &ScalarLanes;
  CHECK(lanes != nullptr && level <= HostVectorLevel());
  return *lanes;
}

}  // namespace

const LaneFunctions ScalarLanes = {AddScalar, SubScalar, MulScalar, MulAddScalar, DotScalar};

VectorLevel HostVectorLevel() {
  static const VectorLevel level = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512ifma"))
      return VectorLevel::Avx512;
    if (__builtin_cpu_supports("avx2")) return VectorLevel::Avx2;
#endif
    return VectorLevel::Scalar;
  }();
  return level;
}

void AddEach(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count, VectorLevel level) {
  LanesOf(level).add(a, b, out, count);
}
void SubEach(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count, VectorLevel level) {
  LanesOf(level).sub(a, b, out, count);
}
void MulEach(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count, VectorLevel level) {
  LanesOf(level).mul(a, b, out, count);
}
void MulAddEach(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* out,
                size_t count, VectorLevel level) {
  LanesOf(level).mul_add(a, b, c, out, count);
}
uint64_t Dot(const uint64_t* a, const uint64_t* b, size_t count, VectorLevel level) {
  return LanesOf(level).dot(a, b, count);
}

}  // namespace frazil::goldilocks
