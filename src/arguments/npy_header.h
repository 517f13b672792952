// The header of a .npy file: a Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::arguments {

struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

// All of the text, or a sentence that says which character is wrong.
Result<NpyHeader> ParseNpyHeader(std::string_view text);
// The product of the dimensions; nothing if there are more elements than `most`.
std::optional<int64_t> ElementsOf(const NpyHeader& header, int64_t most);

}  // namespace frazil::arguments
