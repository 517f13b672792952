// What scratch buffers cost beyond their use: zeros that are written over before anything reads them, and copies of whole
// buffers that nobody needs in two places. Decided on the IR, before words are made.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/program.h"

namespace frazil::targets::tasm {

struct BufferPlan {
  bool zero = true;                 // something may read an element before it is written
  std::optional<ir::ValueId> same;  // lives where this buffer lives
  std::vector<ir::InstId> skipped;  // copies and fills that have nothing left to do
};

class BufferPlans {
 public:
  explicit BufferPlans(const ir::Program& program) : program_(program) {}

  // Of the alloc at a place in a region, whose length is known. `usable`: buffers that have the same known length and are
  // not the machine's own RAM.
  BufferPlan Of(const ir::Function& f, ir::RegionId region, size_t at, uint64_t length,
                const std::function<bool(ir::ValueId)>& usable);

 private:
  bool Distinct(const ir::Function& f, ir::ValueId buffer, uint32_t depth = 0);

  const ir::Program& program_;
  std::map<std::pair<const ir::Function*, uint32_t>, bool> distinct_;
};

}  // namespace frazil::targets::tasm
