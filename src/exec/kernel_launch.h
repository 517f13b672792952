// The arguments of a kernel that the caller left out: extents from the lengths of the buffers they bound, launch
// parameters from the launch configuration; and the checks that give a sentence instead of a trap.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/launch_config.h"
#include "base/result.h"
#include "exec/value.h"
#include "ir/kernel.h"

namespace frazil::exec {

struct LaunchShape {
  std::optional<int64_t> n;                  // lanes, and every extent that the caller left out
  std::array<int64_t, 3> lanes = {1, 1, 1};  // y and z; x is n where it is given
  // Not given: as many blocks as n needs in the direction x, one in the others.
  std::array<std::optional<int64_t>, 3> grid;
  std::array<int64_t, 3> block = {256, 1, 1};
  uint64_t shared_bytes =
      0;  // of a block, for code of one lane that shares memory without declaring it

  // Blocks in the direction x; nothing where neither they nor lanes are given. Of a shape that CheckShape takes.
  std::optional<int64_t> blocks() const {
    if (grid[0] || !n) return grid[0];
    return *n / block[0] + (*n % block[0] != 0);
  }
};
// A configuration as a shape; fails where its lanes are more than can be counted.
Result<LaunchShape> ShapeOf(const LaunchConfig& config);
// Refuses numbers below 0, and blocks without lanes.
Result<void> CheckShape(const LaunchShape& shape);

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
