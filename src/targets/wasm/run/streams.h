// The input, hint and output streams in linear memory: for each value a tag of eight bytes that
// says its type, then its words (exec/value.h), eight bytes each. Host and emitted code agree by
// this header.
#pragma once

#include <cstdint>

#include "ir/type.h"

namespace frazil::targets::wasm {

constexpr int64_t StreamTag(ir::Type type) {
  return static_cast<int64_t>(type.scalar) | static_cast<int64_t>(type.limbs) << 8;
}
inline uint32_t StreamBytes(ir::Type type) { return 8 + 8 * ir::WordsOf(type); }

}  // namespace frazil::targets::wasm
