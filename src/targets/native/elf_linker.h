// From an ELF object to one block of bytes without relocations. Whatever it does not know it refuses by name, so that a
// new version of the code generator can make a compile fail but never an image that jumps into nowhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exec/native/native_code.h"

namespace frazil::targets::native {

// Where an image may be mapped: at multiples of this.
constexpr uint64_t ImageAlignment = 64;

// Symbols of thresholds: this, a number, a point, and the least value that it may have.
constexpr std::string_view ThresholdPrefix = "threshold.";

struct LinkedCode {
  std::string code;
  uint32_t entry_offset = 0;
  // One frame of each function together, as the compiler says (.stack_sizes); nothing where it does not of each.
  std::optional<uint64_t> frame_bytes = std::nullopt;
  std::vector<exec::CodeThreshold> thresholds = {};
};

// Code first, then read-only data; `entry` is the function that calls come to.
Result<LinkedCode> LinkObject(std::string_view object, std::string_view entry);

}  // namespace frazil::targets::native
