// When a compiled form may be used: a conjunction of at most eight tests of the arguments and the
// machine. A guard is data; exec/guard_eval.h decides whether it holds for a call.
//
//   arg0 == 5 && 1 <= arg1 <= 100 && len(arg2) % 8 == 0 && align(arg2) >= 32 && disjoint(arg2,
//   arg3) && cpu(avx2)
//
//   apart(arg2, arg3; arg0, arg1) && cover(arg4; arg0, arg1, arg2, arg3) && 1 <= arg4 <= 1000
//
// The second line is one test of many buffers each: pairs would be more atoms than a guard holds.
// `true` is the guard without atoms. Constants are written as in the text form of programs; `==`
// compares bits, so that a NaN or -0 may be asked for; `<=` compares values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/type.h"

namespace frazil::ir {

// A call tests every atom, so a slot has room for few.
constexpr size_t MaxGuardAtoms = 8;
constexpr int64_t MaxGuardAlignment = 4096;

enum class GuardKind : uint8_t {
  Equals,          // argN == constant
  Between,         // lo <= argN <= hi
  LengthIs,        // len(argN) == n, in elements
  LengthMultiple,  // len(argN) % n == 0
  LengthAtLeast,   // len(argN) >= n
  Alignment,       // align(argN) >= n: the address is a multiple of n bytes, a power of two
  Stride,          // stride(argN) == n: distance of neighboring elements, in elements
  Same,            // same(argN, argM): one buffer
  Disjoint,        // disjoint(argN, argM): no byte in common
  Cpu,             // cpu(feature)
  // Added later, hence behind the others: an atom's number is part of digests.
  Apart,  // apart(argA, ..; argB, ..): none of the first has a byte in common with any other one named
  Cover,  // cover(argN; argA, ..): none of these buffers has fewer elements than the index argN says
};

enum class CpuFeature : uint8_t {
#define FRAZIL_CPU(name, text) name,
#include "ir/cpu_features.def"
#undef FRAZIL_CPU
};
std::string_view CpuFeatureName(CpuFeature feature);
std::optional<CpuFeature> CpuFeatureNamed(std::string_view name);

struct GuardAtom {
  GuardKind kind = GuardKind::Cpu;
  uint32_t arg = 0;
  uint32_t other = 0;                      // Same, Disjoint
  int64_t number = 0;                      // lengths, alignment, stride
  CpuFeature feature = CpuFeature::Sse42;  // Cpu
  Type type = {};                          // Equals, Between: of the constants
  // Equals: the constant; Between: the lower bound; Apart: ordinals of those that are apart from all; Cover: of buffers
  std::vector<uint64_t> low;
  std::vector<uint64_t> high;  // Between: the upper bound; Apart: ordinals of the others
  Location location = {};      // in the text it was read from; no part of its meaning
};

struct Guard {
  std::vector<GuardAtom> atoms;
};

// The pairs of which an atom says that they have no byte in common, each in ascending order: of Disjoint and Apart, else none.
std::vector<std::pair<uint32_t, uint32_t>> DisjointPairs(const GuardAtom& atom);

// Reads a guard for the program's entry function, whose parameter types say how constants are
// written. The result passes CheckGuard.
Result<Guard> ParseGuard(std::string_view text, const Program& program);
std::string PrintGuard(const Guard& guard);

// At most MaxGuardAtoms; arguments exist and have the form and type that their atom needs;
// constants are canonical; lo <= hi; lengths, multiples, alignments and strides are in range; a list names no
// buffer twice.
Result<void> CheckGuard(const Guard& guard, const Program& program);

// Sorted, without repetition, pairs in ascending order: equal guards have equal canonical forms.
Guard CanonicalGuard(const Guard& guard);
// What a guard adds to a digest; the same for guards with the same canonical form.
std::string GuardBytes(const Guard& guard);

}  // namespace frazil::ir
