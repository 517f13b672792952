// How many lanes a launch has, in blocks, in up to three directions. Kernels that are guarded by `if i < n` need none.
#pragma once

#include <cstdint>

namespace frazil::kernel {

struct Dim3 {
  int64_t x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct LaunchConfig {
  Dim3 grid;   // blocks
  Dim3 block;  // lanes of a block
  // What the kernel declares as shared memory is allocated by itself; this only bounds it. 0: no bound.
  uint64_t shared_bytes = 0;

  // As many blocks as n lanes need; kernels without blocks get exactly n lanes.
  static LaunchConfig Linear(int64_t n, int64_t block = 256) {
    LaunchConfig config;
    config.block.x = block;
    config.grid.x = block > 0 && n > 0 ? (n - 1) / block + 1 : 0;
    config.lanes_ = n;
    return config;
  }
  // Lanes in the x direction.
  int64_t lanes() const { return lanes_ >= 0 ? lanes_ : grid.x * block.x; }

 private:
  int64_t lanes_ = -1;
};

}  // namespace frazil::kernel
