// Arguments that nobody gave: made up where there are none, copied for calls that must not see each other's writes, shown.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "exec/value.h"
#include "ir/program.h"

namespace frazil::arguments {

// Ordinary inputs, the same ones every time: buffers of `length` small numbers, `index` parameters that say so. Those that
// size tensors are smaller, so that the largest tensor has about `length` elements. All of it fits limits.memory_bytes.
Result<std::vector<exec::Value>> TypicalArguments(const ir::Function& entry, uint64_t length,
                                                  const Limits& limits);

// With memory of their own; buffers that are one stay one.
std::vector<exec::Value> CopyArguments(std::span<const exec::Value> values);

// For people: "a = 0.25, n = 4096, x = [0.25, 0.46875, 0.6875, ... 4096 elements]".
std::string ShowArguments(const ir::Function& entry, std::span<const exec::Value> values);

}  // namespace frazil::arguments
