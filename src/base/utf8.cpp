#include "base/utf8.h"

#include <cstring>

namespace frazil {
namespace {

// Length of the well-formed sequence at text[at], 0 if there is none.
size_t SequenceLength(std::string_view text, size_t at) {
  auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  uint32_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!continues(1) || !continues(2)) return 0;
    uint32_t code = (lead & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
    return code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    uint32_t code = (lead & 7) << 18 | (byte(1) & 63) << 12;
    return code >= 0x10000 && code <= 0x10ffff ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::optional<Location> FindBadUtf8(std::string_view text) {
  Location location{1, 1};
  size_t at = 0;
  while (at < text.size()) {
    // Eight ASCII bytes at a time: texts are nearly always that.
    uint64_t eight = 0;
    if (at + 8 <= text.size()) {
      std::memcpy(&eight, text.data() + at, 8);
      if ((eight & 0x8080808080808080) == 0) {
        at += 8;
        continue;
      }
    }
    size_t length = SequenceLength(text, at);
    if (length == 0) {
      for (size_t i = 0; i < at; ++i) {
        bool newline = text[i] == '\n';
        location.line += newline;
        location.column = newline ? 1 : location.column + 1;
      }
      return location;
    }
    at += length;
  }
  return std::nullopt;
}

}  // namespace frazil
