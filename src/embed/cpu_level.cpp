// The choice is made once and kept in one byte; two threads that make it at the same time make the same one.
#include "embed/cpu_level.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

namespace frazil::embed {
namespace {

constexpr std::array<std::string_view, CpuLevelCount> LevelNames = {"baseline", "avx2", "avx512"};

CpuLevel Detect() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") &&
                    __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
                    __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2) return avx512 ? CpuLevel::Avx512 : CpuLevel::Avx2;
#endif
  return CpuLevel::Baseline;
}

CpuLevel Choose() {
  const CpuLevel host = HostLevel();
  const char* wish = std::getenv("FRAZIL_CPU_LEVEL");
  const auto level = wish == nullptr ? std::nullopt : CpuLevelNamed(wish);
  return level ? std::min(*level, host) : host;
}

}  // namespace

std::string_view CpuLevelName(CpuLevel level) { return LevelNames[static_cast<size_t>(level)]; }

std::optional<CpuLevel> CpuLevelNamed(std::string_view name) {
  const auto found = std::ranges::find(LevelNames, name);
  if (found == LevelNames.end()) return {};
  return static_cast<CpuLevel>(found - LevelNames.begin());
}

CpuLevel HostLevel() {
  static const CpuLevel level = Detect();
  return level;
}

CpuLevel UsedLevel() {
  static constinit std::atomic<uint8_t> chosen = 0;  // 1 + the level
  uint8_t value = chosen.load(std::memory_order_relaxed);
  if (value == 0) {
    value = static_cast<uint8_t>(1 + static_cast<uint8_t>(Choose()));
    chosen.store(value, std::memory_order_relaxed);
  }
  return static_cast<CpuLevel>(value - 1);
}

}  // namespace frazil::embed
