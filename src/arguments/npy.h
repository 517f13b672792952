// NumPy's .npy files as buffers, both ways.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "arguments/buffers.h"
#include "base/limits.h"
#include "base/result.h"
#include "exec/value.h"

namespace frazil::arguments {

// The elements in logical order; the shape is not kept. The file's type must be the element's exactly (bf16 has no
// NumPy type: u2 is taken), little-endian, in C order.
Result<std::shared_ptr<exec::Memory>> ReadNpy(const std::string& path, ir::Type element,
                                              MemoryBudget& budget, const Limits& limits);
Result<void> WriteNpy(const std::string& path, const exec::Memory& memory);

}  // namespace frazil::arguments
