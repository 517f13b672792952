// What the parts of a measurement share.
#pragma once

#include <algorithm>
#include <vector>

#include "runner.h"

namespace frazil::gpu {

constexpr uint64_t Elements = uint64_t{1}
                              << 28;  // 1 GiB of f32 for each buffer, far above the caches

struct Times {
  std::vector<double> values;
  double median() {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }
  double least() { return *std::ranges::min_element(values); }
};

struct Buffers {
  targets::cuda::DeviceMemory x, y, z;
};

Result<void> Rows(DevicePtr device, const std::filesystem::path& folder, const Buffers& buffers);
Result<void> Products(DevicePtr device, const std::filesystem::path& folder,
                      const Buffers& buffers);

}  // namespace frazil::gpu
