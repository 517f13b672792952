// The blocks and branches of a module, as the judge counts them. A block is what runs as a whole once it has begun: from
// behind a control instruction or a call (which may not come back) to the next one. Code that no way leads to is no block:
// behind a jump there is none until the block around it ends, and functions that no export reaches are not called.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "verify/runs/code_reader.h"
#include "verify/wasm/module.h"

namespace frazil::verify::wasm {

// A comparison of integers that a branch depends on: stands before it, perhaps with an i32.eqz between.
struct Compare {
  uint32_t place = 0;
  uint8_t bits = 32;
  bool is_signed = false;
};

struct Flow {
  CodeParts
      parts;  // places are bytes of the module; conditions of branches are numbered as x86 numbers them
  std::vector<uint32_t> function_of_block;
  std::vector<std::optional<Compare>> compares;  // of each branch
};

// The streams that a program reads: of these a value may have another type than it wants.
struct StreamReads {
  bool input = false, hints = false;
};
Flow ReadFlow(const Module& module, StreamReads reads = {});

}  // namespace frazil::verify::wasm
