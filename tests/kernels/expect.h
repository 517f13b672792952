// Comparing floats with doubles, and inputs worth comparing.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace frazil::kernels_test {

// Every length that an off-by-one or a vector's tail could get wrong.
inline const std::vector<size_t> Lengths = {1, 7, 255, 256, 257, 3071, 3072, 3073, 1'000'003};
constexpr size_t SmallEnough = 3073;  // for the interpreter

inline double UlpOf(float value) {
  const float size = std::fabs(value);
  if (size >= std::numeric_limits<float>::max()) return std::ldexp(1.0, 104);
  return static_cast<double>(std::nextafterf(size, std::numeric_limits<float>::infinity())) - size;
}

// Within so many units in the last place of the exact result, or within `absolute` of it.
inline bool IsClose(float got, double want, double ulps, double absolute = 0) {
  if (std::isnan(want)) return std::isnan(got);
  const auto rounded = static_cast<float>(want);
  if (ulps == 0 && absolute == 0)
    return got == rounded && std::signbit(got) == std::signbit(rounded);
  if (got == rounded) return true;
  if (std::isinf(rounded) || std::isinf(got) || std::isnan(got)) return false;
  return std::fabs(got - want) <= ulps * UlpOf(rounded) + absolute;
}

// Stops at the first difference: one sentence instead of a million.
inline bool ExpectAllClose(const std::vector<float>& got, const std::function<double(size_t)>& want,
                           double ulps, double absolute, const std::string& what) {
  for (size_t i = 0; i < got.size(); ++i) {
    const double exact = want(i);
    if (IsClose(got[i], exact, ulps, absolute)) continue;
    ADD_FAILURE() << what << ": element " << i << " of " << got.size() << " is " << got[i]
                  << ", but should be " << exact;
    return false;
  }
  return true;
}

// Uniform, always the same ones.
inline std::vector<float> Uniform(size_t n, float lo, float hi, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> values(n);
  for (float& value : values) value = lo + (hi - lo) * static_cast<float>(random() >> 8) * 0x1p-24f;
  return values;
}

// Uniform, with every kind of special number strewn in.
inline std::vector<float> Wild(size_t n, float lo, float hi, uint32_t seed = 1) {
  constexpr float Inf = std::numeric_limits<float>::infinity();
  static const float special[] = {
      -1.0f,    0.0f,    -0.0f,    1.0f, Inf,     -Inf,  std::nanf(""), 1e-40f, -1e-40f,     88.0f,
      -103.97f, 3.4e38f, -3.4e38f, 0.5f, -100.0f, 1e10f, 0x1p-126f,     0.1f,   16777217.0f, -2.5f};
  std::vector<float> values = Uniform(n, lo, hi, seed);
  std::mt19937 random(seed + 99);
  for (size_t i = 0; i < n; ++i)
    if (i < 64 || random() % 64 == 0) values[i] = special[random() % std::size(special)];
  return values;
}

}  // namespace frazil::kernels_test
