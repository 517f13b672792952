// How many lanes a launch has, in blocks, in up to three directions: one form for executors, embedded kernels and what
// completes a launch (exec/kernel_launch.h). Kernels that are guarded by `if i < n` need none.
#pragma once

#include <cstdint>
#include <optional>

namespace frazil {

struct Dim3 {
  int64_t x = 1, y = 1, z = 1;
  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

class LaunchConfig {
 public:
  constexpr LaunchConfig() = default;
  // So many lanes, each a block of its own.
  static constexpr LaunchConfig Lanes(int64_t x, int64_t y = 1, int64_t z = 1) {
    return Blocks({x, y, z}, {});
  }
  static constexpr LaunchConfig Blocks(Dim3 grid, Dim3 block) {
    LaunchConfig config;
    config.grid = grid;
    config.block = block;
    return config;
  }
  // As many blocks as n lanes need; kernels without blocks get exactly n lanes.
  static constexpr LaunchConfig Linear(int64_t n, int64_t block = 256) {
    LaunchConfig config;
    config.block.x = block;
    config.grid.x = block > 0 && n > 0 ? (n - 1) / block + 1 : 0;
    config.lanes_ = n;
    return config;
  }

  Dim3 grid;   // blocks
  Dim3 block;  // lanes of a block

  // Lanes in the direction x; nothing: more than can be counted.
  constexpr std::optional<int64_t> lanes() const {
    return lanes_ ? lanes_ : LanesOf(grid.x, block.x);
  }
  static constexpr std::optional<int64_t> LanesOf(int64_t blocks, int64_t block) {
    int64_t lanes = 0;
    if (__builtin_mul_overflow(blocks, block, &lanes)) return std::nullopt;
    return lanes;
  }
  // 1 or more in each direction, and at most 2^62 lanes in all: what embedded kernels take.
  constexpr bool is_valid() const {
    int64_t lanes = 1;
    for (const int64_t size : {grid.x, grid.y, grid.z, block.x, block.y, block.z}) {
      if (size < 1 || __builtin_mul_overflow(lanes, size, &lanes)) return false;
    }
    return lanes <= int64_t{1} << 62;
  }

 private:
  std::optional<int64_t> lanes_;  // those that Linear was asked for
};

}  // namespace frazil
