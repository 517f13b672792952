// An ELF file as memory: where each byte that the file holds will lie when its program runs. Offsets and sizes of the file
// are never trusted; whatever does not fit is refused with a sentence.
//
// An object file has no addresses yet. Its sections are given some here, one after the other, and the distances between
// them (R_X86_64_PC32, all that generated kernels use) are settled as a linker would.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::audit {

// As many bytes as T has as one, where there are any.
template <typename T>
std::optional<T> AsValue(std::optional<std::string_view> bytes) {
  if (!bytes) return {};
  T value;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

class MemoryImage {
 public:
  // Fails with BadArtifact.
  static Result<MemoryImage> Read(std::string_view file);
  static bool IsElf(std::string_view file);

  // Nothing: the file does not hold all of these bytes, or a linker will change some of them.
  std::optional<std::string_view> BytesAt(uint64_t address, uint64_t size) const;
  template <typename T>
  std::optional<T> At(uint64_t address) const {
    return AsValue<T>(BytesAt(address, sizeof(T)));
  }

  // The sections of this name that are not empty. Of a program the segments count, which are what is loaded: a section is a
  // name for a part of one, and has no bytes here where it is not. And everything, for files whose sections have no names
  // any more.
  struct Area {
    uint64_t address = 0;
    std::string_view bytes;
  };
  std::vector<Area> Sections(std::string_view name) const;
  std::vector<Area> Everything() const;

 private:
  struct Part {
    uint64_t address = 0;
    std::string bytes;
  };
  struct Name {
    std::string name;  // of a section
    uint64_t address = 0, size = 0;
  };
  std::optional<std::string_view> Held(uint64_t address, uint64_t size) const;
  std::vector<Part> parts_;
  std::vector<uint64_t> unsettled_;  // sorted: where an object file refers to what is not in it
  std::vector<Name> names_;
};

// The place that a distance at `address` leads to.
inline uint64_t Follow(uint64_t address, int32_t distance) {
  return address + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

}  // namespace frazil::audit
