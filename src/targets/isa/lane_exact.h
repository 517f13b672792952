// The lane-exact executor: what the SIMT machine means. Slow and obvious: one lane after the other, ascending; lanes of a
// PAR or block that meet (BAR.SYNC, SHFL ..) are put aside and go on in order when all have come. Fuel, depth, memory
// and time are limited as everywhere (exec/outcome.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "exec/outcome.h"
#include "machines/simt/module.h"

namespace frazil::targets::isa {

// Of a module in launch mode: blocks, lanes of a block (x fastest), and shared bytes of each block. Zero lanes: nothing.
struct LaunchShape {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint64_t shared_bytes = 0;
  // More than fit in 64 bits are as many as fit.
  uint64_t lanes_of_block() const {
    uint64_t lanes = uint64_t{block[0]} * block[1];
    return __builtin_mul_overflow(lanes, uint64_t{block[2]}, &lanes) ? UINT64_MAX : lanes;
  }
};
// As many blocks as `lanes` need.
LaunchShape Linear(uint64_t lanes, uint32_t block = 256);

// The module's parameters as arguments, in order. `phi`: the context's arena (machines::simt::PhiBytes), kept between
// runs by the caller; empty: a zeroed one for this run. Launch mode traps carry the number of the lane.
Result<exec::Outcome> RunLaneExact(const machines::simt::Module& module,
                                   std::span<const exec::Value> arguments,
                                   const exec::RunContext& context = {},
                                   const LaunchShape& launch = {}, std::span<std::byte> phi = {});

}  // namespace frazil::targets::isa
