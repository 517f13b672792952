// How much the random tests do and where their seeds begin. scripts/test.py takes the seeds from the commit, so that
// each commit tries programs that none before it tried, and the same commit always tries the same ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/sanitized.h"

namespace frazil {

inline uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

// FRAZIL_TEST_SCALE: what counts are multiplied by (`make nightly`: 10).
inline uint64_t TestScale() {
  return std::max<uint64_t>(1, NumberFromEnvironment("FRAZIL_TEST_SCALE", 1));
}

// As many random cases as a test makes; a tenth of them where a sanitizer makes each ten times as long.
constexpr uint64_t SanitizedCount(uint64_t count) { return Sanitized ? count / 10 : count; }

// FRAZIL_TEST_SEED: what is added to a test's own first seed.
inline uint64_t TestSeed(uint64_t first) {
  return first + NumberFromEnvironment("FRAZIL_TEST_SEED", 0);
}

}  // namespace frazil
