// How long a run can take at most, found before it starts: every loop's trips are bounded by
// constants or by the arguments, or they are not. A run that is bounded below its time limit needs no
// interruption.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/program.h"
#include "targets/wasm/emit/ranges.h"

namespace frazil::targets::wasm {

class WorkBound {
 public:
  static constexpr uint64_t Unbounded = UINT64_MAX;
  explicit WorkBound(const ir::Program& lowered);

  // Nanoseconds, generously, whatever the arguments are.
  uint64_t always() const { return always_; }
  // With these values of the entry's scalars and lengths of its buffers.
  uint64_t Of(std::span<const Interval> params) const;
  // Arguments cannot help: there is a `while` or recursion.
  bool is_hopeless() const { return hopeless_; }

 private:
  uint64_t OfFunction(uint32_t function, std::span<const Interval> params) const;
  uint64_t OfRegion(const ir::Function& function, ir::RegionId region, const Ranges& ranges) const;
  uint64_t OfInst(const ir::Function& function, const ir::Inst& inst, const Ranges& ranges) const;

  const ir::Program& program_;
  std::vector<uint64_t> functions_;  // bounds of the functions, whatever their parameters are
  uint64_t always_ = Unbounded;
  bool hopeless_ = false;
};

}  // namespace frazil::targets::wasm
