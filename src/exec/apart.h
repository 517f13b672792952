// Which buffers of one launch may lie together: the rule of exec/launch.h for many of them at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/type.h"

namespace frazil::exec {

// One buffer of a launch.
struct MemoryUse {
  uint64_t begin, bytes;
  uint32_t element;  // ElementCode of its element type
  bool is_written, is_tensor;
};
constexpr uint32_t ElementCode(ir::Type element) {
  return static_cast<uint32_t>(element.scalar) + 256u * element.limbs;
}

// Of every two, one of which is written: they have no byte in common, or they are one buffer twice, with the same
// element type; a tensor is a value, which nobody may change. Memory that would end behind the last address is apart from
// nothing. Sorts them by address: n log n steps, none of them an allocation.
bool AreApart(std::span<MemoryUse> uses);

// The buffers of calls in words.
class BuffersOfCall {
 public:
  // `word`: where its address is; its length, in elements, comes behind.
  void Add(uint32_t word, ir::Type element, bool is_written, bool is_tensor);
  bool AreApart(const uint64_t* words) const;  // lengths are such that memory has them
  bool empty() const { return buffers_.empty(); }

 private:
  struct Buffer {
    uint32_t word, element_bytes, element;
    bool is_written, is_tensor;
  };
  std::vector<Buffer> buffers_;
};

}  // namespace frazil::exec
