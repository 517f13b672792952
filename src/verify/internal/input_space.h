// All arguments that two programs are compared on: what the entry function takes, narrowed by the guard.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "exec/value.h"
#include "ir/guard.h"
#include "ir/program.h"
#include "verify/internal/domain.h"

namespace frazil::verify {

// What a guard says of a buffer parameter.
struct BufferRule {
  std::optional<int64_t> length;
  int64_t multiple = 1;
  int64_t at_least = 0;
  int64_t alignment = 1;
  uint32_t group = 0;  // parameters of one group are one buffer
};

struct InputSpace {
  const ir::Function* entry = nullptr;
  ir::Guard guard;              // without the atoms about the CPU: they say nothing of arguments
  std::vector<Domain> domains;  // one per parameter; of memory parameters unused
  std::vector<BufferRule> buffers;  // one per parameter; of scalars unused
  std::vector<std::pair<uint32_t, uint32_t>> disjoint;
  // An index parameter and a buffer with at least so many elements.
  std::vector<std::pair<uint32_t, uint32_t>> covers;
  std::vector<bool> is_symbol;        // index parameters that are dimensions
  std::vector<ir::Type> input_types;  // what the programs read from their streams
  std::vector<ir::Type> hint_types;
  bool scalars_only = true;  // parameters, and no streams are read
  std::string empty;         // one sentence if no arguments satisfy the guard

  // Of tuples of arguments; nothing if there are too many to count, or not only scalars of one word.
  std::optional<uint64_t> Count() const;
};

// Both programs have the same parameters. `source` must outlive the space.
InputSpace MakeInputSpace(const ir::Program& source, const ir::Program& candidate,
                          const ir::Guard& guard);

// True of arguments that the space allows, whatever made them.
bool Allows(const InputSpace& space, std::span<const exec::Value> arguments);

}  // namespace frazil::verify
