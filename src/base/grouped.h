// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace frazil {

// "4,352"
inline std::string PrintGrouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

}  // namespace frazil
