// From an ELF object to one block of bytes without relocations. Whatever it does not know it refuses by name, so that a
// new version of the code generator can make a compile fail but never an image that jumps into nowhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::targets::native {

// Where an image may be mapped: at multiples of this.
constexpr uint64_t ImageAlignment = 64;

struct LinkedCode {
  std::string code;
  uint32_t entry_offset = 0;
};

// Code first, then read-only data; `entry` is the function that calls come to.
Result<LinkedCode> LinkObject(std::string_view object, std::string_view entry);

}  // namespace frazil::targets::native
