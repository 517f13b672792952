// SHA-256 by the SHA extensions: many times the speed of the plain form (the figure is in bench: readmit), which is
// what makes the MAC of a stored form cost microseconds at start.
#include "base/sha256_blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

namespace frazil {

bool HostHasSha() {
  static const bool has_sha = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    constexpr unsigned ShaBit = 1u << 29;
    return (b & ShaBit) != 0 && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1");
  }();
  return has_sha;
}

// The instructions keep a, b, e, f in one register and c, d, g, h in the other; two rounds turn one into the other.
__attribute__((target("sha,ssse3,sse4.1"))) void Sha256BlocksX86(Sha256State& state,
                                                                 const uint8_t* blocks,
                                                                 size_t count) {
  const auto word = [&](size_t i) { return static_cast<int>(state[i]); };
  __m128i abef = _mm_set_epi32(word(0), word(1), word(4), word(5));
  __m128i cdgh = _mm_set_epi32(word(2), word(3), word(6), word(7));
  const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i),
                              big_endian);
#pragma GCC unroll 16
    for (int group = 0; group < 16; ++group) {
      const int now = group % 4;
      if (group >= 4) {
        const __m128i last = w[(group + 3) % 4];
        const __m128i before_last = w[(group + 2) % 4];
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[now], w[(group + 1) % 4]),
                                          _mm_alignr_epi8(last, before_last, 4));
        w[now] = _mm_sha256msg2_epu32(sum, last);
      }
      const __m128i constants = _mm_loadu_si128(
          reinterpret_cast<const __m128i*>(&Sha256Constants[4 * static_cast<size_t>(group)]));
      const __m128i input = _mm_add_epi32(w[now], constants);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  alignas(16) uint32_t lanes[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(lanes), abef);
  _mm_store_si128(reinterpret_cast<__m128i*>(lanes + 4), cdgh);
  state = {lanes[3], lanes[2], lanes[7], lanes[6], lanes[1], lanes[0], lanes[5], lanes[4]};
}

}  // namespace frazil

#else

namespace frazil {

bool HostHasSha() { return false; }
void Sha256BlocksX86(Sha256State& state, const uint8_t* blocks, size_t count) {
  Sha256BlocksPlain(state, blocks, count);
}

}  // namespace frazil

#endif
