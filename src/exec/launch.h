// The launch rules, once for every door and every tier: argument count and types, memory that is there, tensors whose
// memory is as large as their dimensions say, buffers disjoint or identical. Compiled code is called behind a flat form
// of the same rules (dispatch/flat_guard.h), which may be too strict: what it does not let through comes here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "exec/value.h"
#include "ir/program.h"

namespace frazil::exec {

Result<void> CheckLaunch(const ir::Program& program, std::span<const Value> arguments);

// The same for a call whose tensors are buffers, those of the results behind the parameters (ir/lower/lower.h): `source` is
// the program with its tensors, the arguments are those of its lowered entry function.
Result<void> CheckLoweredLaunch(const ir::Program& source, std::span<const Value> arguments);

// The sizes of a tensor that a type of the signature says, its symbols taken from the arguments.
std::vector<int64_t> DimsOf(const ir::Function& function, ir::Type type,
                            std::span<const Value> arguments);
// Of a result. A negative size gives an empty tensor: the program's own op that finds it traps.
std::vector<int64_t> ResultDims(const ir::Function& function, ir::Type type,
                                std::span<const Value> arguments);
// How many elements a tensor of these sizes has; nothing where a size is negative or a length could not say so many.
std::optional<int64_t> ElementCount(std::span<const int64_t> dims);

// Whether some bytes are no value of this element type (bool: 0 or 1; field: less than p), and whether these are values.
bool HasOtherBytes(ir::Type element);
bool ContentsAreCanonical(ir::Type element, const std::byte* data, uint64_t bytes);

// The most elements that a buffer can have: its bytes are a number of 63 bits.
constexpr int64_t MostElements(uint64_t element_bytes) {
  return static_cast<int64_t>(static_cast<uint64_t>(INT64_MAX) / element_bytes);
}

}  // namespace frazil::exec
