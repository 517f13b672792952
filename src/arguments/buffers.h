// Memory within a budget, and buffers that are only named ("random:100").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "exec/value.h"

namespace frazil::arguments {

// What --memory leaves for buffers: those that are bound count like those that a run makes.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t bytes) : left_(bytes) {}
  // So many elements are held from now on; an error of class Limit if that is too much.
  Result<void> Charge(ir::Type element, int64_t length);
  // The same with memory for them, zeroed.
  Result<std::shared_ptr<exec::Memory>> Take(ir::Type element, int64_t length);
  // All that arguments hold, each buffer once.
  Result<void> ChargeArguments(std::span<const exec::Value> arguments);
  uint64_t left() const { return left_; }

 private:
  uint64_t left_;
};

// "zeros:100", "ones:100", "iota:100", "random:100"; nothing if the text is no such form. Random numbers depend on the
// buffer's name only: two buffers differ, and every machine draws the same. They are small whole numbers, or for floats
// numbers in [-1, 1).
Result<std::optional<exec::Value>> MadeBuffer(ir::Type element, std::string_view name,
                                              std::string_view text, MemoryBudget& budget);

}  // namespace frazil::arguments
