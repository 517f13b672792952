// TIR executed as ops.def says: slow and obvious, the measure of every lowering. It knows no assembly; the hash's
// permutation comes from the caller, so that no folder has to be below this one for it.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>

#include "machines/tir/tir.h"

namespace frazil::machines::tir {

enum class CrashKind : uint8_t {
#define FRAZIL_CRASH(name, words) name,
#include "machines/crashes.def"
#undef FRAZIL_CRASH
  Steps,  // the limit of this run, not a crash of the program
};
std::string_view CrashName(CrashKind kind);

struct Crash {
  CrashKind kind;
  Kind op;
  Location location;
  int64_t error_id = -1;
};

// `ram` is what the prover put there; what is not in it and was not written reads as 0.
struct Inputs {
  std::vector<uint64_t> input, secret;
  std::vector<std::array<uint64_t, 5>> digests;
  std::unordered_map<uint64_t, uint64_t> ram;
  std::vector<uint64_t> stack = std::vector<uint64_t>(16);  // at the start, top last
};

struct RunResult {
  std::optional<Crash> crash;
  std::vector<uint64_t> output;  // up to the crash
  std::vector<uint64_t> stack;   // at the end, top last
  std::unordered_map<uint64_t, uint64_t> ram;
  size_t inputs_read = 0, secrets_read = 0, digests_read = 0;
  uint64_t steps = 0;
};

// Tip5's permutation of sixteen elements: ten of the rate, six of the capacity.
using Permutation = void (*)(std::array<uint64_t, 16>& state);

// An error if the program is not well-formed (Check) or holds `asm`, whose meaning is not TIR's.
Result<RunResult> Interpret(const Program& program, const Inputs& inputs, Permutation permutation,
                            uint64_t max_steps = 10'000'000);

}  // namespace frazil::machines::tir
