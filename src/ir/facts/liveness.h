// Which instructions of a function are needed and which values are read, marked backwards from effects, traps and
// returns. Targets differ in what may trap and in how much of an instruction is left if nobody reads its result.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/facts/homes.h"

namespace frazil::ir {

struct Liveness {
  std::vector<bool> live;  // by value: some needed instruction reads it
  std::vector<bool>
      needed;  // by instruction: it has an effect, may trap, or its value is read; no `yield` or `condition`
};

// A function as a target sees it. What is not set holds of everything.
struct LivenessQuestion {
  const Program& program;
  const Function& function;
  const Homes& homes;
  std::span<const InstId> reached;    // the instructions that can be come to
  const std::vector<bool>& fallible;  // by function: a call of it may trap
  bool metered;                       // loops take fuel
  std::function<bool(const Inst&)> may_trap;
  // Does it read the operand even if nobody reads its result?
  std::function<bool(const Inst&, uint32_t operand)> always_reads;
  // Is the end of the region come to, so that it yields?
  std::function<bool(RegionId)> is_complete;

  bool AlwaysReads(const Inst& inst, uint32_t operand) const {
    return !always_reads || always_reads(inst, operand);
  }
  bool IsComplete(RegionId region) const { return !is_complete || is_complete(region); }
};

Liveness FindLiveness(const LivenessQuestion& question);

}  // namespace frazil::ir
