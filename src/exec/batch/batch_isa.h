// Which instruction sets the batch loops are compiled for, besides the one the whole program is.
// The choice is made at run time, from what the machine has.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#define FRAZIL_BATCH_HAS_AVX2 1
#define FRAZIL_BATCH_AVX2_TARGET __attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt")))
#else
#define FRAZIL_BATCH_HAS_AVX2 0
#endif

namespace frazil::exec {

enum class BatchIsa : uint8_t { Baseline, Avx2 };

inline bool MachineHas(BatchIsa isa) {
  if (isa == BatchIsa::Baseline) return true;
#if FRAZIL_BATCH_HAS_AVX2
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt");
#else
  return false;
#endif
}

inline BatchIsa BestIsa() {
  return MachineHas(BatchIsa::Avx2) ? BatchIsa::Avx2 : BatchIsa::Baseline;
}

}  // namespace frazil::exec
