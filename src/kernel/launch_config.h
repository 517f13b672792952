// How many lanes a launch has, in blocks, in up to three directions. Kernels that are guarded by `if i < n` need none.
#pragma once

#include <cstdint>
#include <optional>

namespace frazil::kernel {

struct Dim3 {
  int64_t x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct LaunchConfig {
  Dim3 grid;   // blocks
  Dim3 block;  // lanes of a block

  // As many blocks as n lanes need; kernels without blocks get exactly n lanes.
  static LaunchConfig Linear(int64_t n, int64_t block = 256) {
    LaunchConfig config;
    config.block.x = block;
    config.grid.x = block > 0 && n > 0 ? (n - 1) / block + 1 : 0;
    config.lanes_ = n;
    return config;
  }
  // Lanes in the x direction; nothing: more than can be counted.
  std::optional<int64_t> lanes() const { return lanes_ ? lanes_ : LanesOf(grid.x, block.x); }
  static std::optional<int64_t> LanesOf(int64_t blocks, int64_t block) {
    int64_t lanes;
    if (__builtin_mul_overflow(blocks, block, &lanes)) return std::nullopt;
    return lanes;
  }

 private:
  std::optional<int64_t> lanes_;  // those that Linear was asked for
};

}  // namespace frazil::kernel
