// What machine code may rely on, and which of several forms this process uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace frazil::embed {

// Each level contains the ones before it.
enum class CpuLevel : uint8_t { Baseline, Avx2, Avx512 };  // x86-64, x86-64-v3, x86-64-v4
constexpr int CpuLevelCount = 3;
std::string_view CpuLevelName(CpuLevel level);  // "baseline", "avx2", "avx512"
std::optional<CpuLevel> CpuLevelNamed(std::string_view name);

// Of the machine that runs this.
CpuLevel HostLevel();

// What embedded kernels are launched with: the host's level, or a lower one where the environment variable
// FRAZIL_CPU_LEVEL names it. Chosen on first use, then the same for the life of the process.
CpuLevel UsedLevel();

}  // namespace frazil::embed
