// Heights that hold for every input: a lower and an upper bound of each table, from the program alone.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "machines/tasm/vm.h"

namespace frazil::machines::tasm {

constexpr uint64_t Unbounded = std::numeric_limits<uint64_t>::max();

struct HeightBounds {
  // Of every run that ends by halt. `upper` is Unbounded where a loop's number of turns is not known.
  TableProfile lower, upper;
  bool halts = true;  // false: no path that was found ends by halt, and the bounds say nothing
  std::string
      reason;  // why something is unbounded: "the loop at `f` turns an unknown number of times"

  bool Exact() const { return lower == upper; }
};

// Walks the program with unknown inputs. Values that are known (constants, counters) decide branches; both sides of
// other branches are walked and joined. `steps` limits the walk; what is not reached counts as unbounded.
HeightBounds StaticBounds(const Program& program, uint64_t steps = 2'000'000);

}  // namespace frazil::machines::tasm
