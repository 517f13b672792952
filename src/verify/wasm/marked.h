// A private copy of a module that notes what it runs: the same instructions, and between them marks in a memory of its own,
// exported under a name (exec::MarksName). Nothing of the original is left out or changed but for sizes and counts, and what is added comes
// behind what is there, so that no index moves:
// - a block begins with a store of 1 to its byte,
// - a branch's condition goes through a function that notes which way it goes,
// - numbers that it compares go through one that keeps the two that were nearest to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "verify/wasm/flow.h"
#include "verify/wasm/module.h"

namespace frazil::verify::wasm {

// What a run leaves in the marks.
class MarkLayout {
 public:
  explicit MarkLayout(const Flow& flow)
      : blocks_(flow.parts.blocks.size()), branches_(flow.parts.branches.size()) {}

  size_t bytes() const { return CompareAt(branches_); }
  size_t BlockAt(size_t block) const { return block; }
  size_t WayAt(size_t branch) const { return blocks_ + 2 * branch; }  // taken, and not
  size_t CompareAt(size_t branch) const {  // two numbers and 1 + their distance; 0: none yet
    return (blocks_ + 2 * branches_ + 7) / 8 * 8 + 24 * branch;
  }

 private:
  size_t blocks_, branches_;
};

Result<std::string> MakeMarked(std::string_view bytes, const Module& module, const Flow& flow);

}  // namespace frazil::verify::wasm
