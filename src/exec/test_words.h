// For tests of calls in words: a scalar is its words, a buffer or a tensor its address and its length.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/value.h"

namespace frazil::exec {

inline std::vector<uint64_t> WordsOfCall(const std::vector<Value>& arguments) {
  std::vector<uint64_t> words;
  for (const Value& value : arguments) {
    if (value.memory != nullptr) {
      words.push_back(reinterpret_cast<uintptr_t>(value.memory->data()));
      words.push_back(static_cast<uint64_t>(value.memory->length()));
    } else {
      words.insert(words.end(), value.scalar_words().begin(), value.scalar_words().end());
    }
  }
  return words;
}

}  // namespace frazil::exec
