// The arguments of a kernel that the caller left out: extents from the lengths of the buffers they bound, launch
// parameters from the launch configuration; and the checks that give a sentence instead of a trap.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "exec/value.h"
#include "ir/kernel.h"

namespace frazil::exec {

struct LaunchShape {
  std::optional<int64_t> n;                  // lanes, and every extent that the caller left out
  std::array<int64_t, 3> lanes = {1, 1, 1};  // y and z; x is n where it is given
  std::array<int64_t, 3> grid = {0, 1, 1};   // x of 0: as many blocks as n needs
  std::array<int64_t, 3> block = {256, 1, 1};
};

// Two scalars that are integers (i8 .. u64, index): one may be given for the other where it fits.
bool AreIntegers(ir::Type a, ir::Type b);
// The integers that a type has: i8 .. u64, index, field.
struct IntegerRange {
  int64_t least = 0;
  uint64_t most = 0;
};
IntegerRange RangeOf(ir::Scalar scalar);
// Whether an integer of one type (i8 .. u64, index) is one of another type too, `field` among them; its word is the same.
bool FitsInteger(ir::Scalar from, uint64_t word, ir::Scalar to);

// One value for each parameter of the signature; `given` has as many entries. Integers of another type than the
// parameter's are taken where they fit.
Result<std::vector<Value>> CompleteLaunch(const ir::KernelSignature& signature,
                                          std::span<const std::optional<Value>> given,
                                          const LaunchShape& shape);

}  // namespace frazil::exec
