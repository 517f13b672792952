// Which values an integer can have, by intervals. What follows from it: a checked op that cannot
// overflow is a plain one, a divisor that cannot be zero is not tested, an index into a table that
// is in range is not compared, a narrow result that fits is not cut.
#pragma once

#include <span>
#include <vector>

#include "ir/program.h"

namespace frazil::targets::wasm {

__extension__ using Int128 = __int128;

struct Interval {
  Int128 lo = 0;
  Int128 hi = 0;
  bool Contains(Int128 value) const { return lo <= value && value <= hi; }
  bool Within(const Interval& other) const { return other.lo <= lo && hi <= other.hi; }
};

Interval TypeInterval(ir::Type integer);

class Ranges {
 public:
  Ranges(const ir::Program& program, const ir::Function& function);
  // The same where more is known of the parameters: a scalar's values, a buffer's length.
  Ranges(const ir::Program& program, const ir::Function& function,
         std::span<const Interval> params);

  // Of an integer: its values. Of a buffer: its length.
  const Interval& of(ir::ValueId value) const { return values_[value.index]; }
  // The row's traps cannot happen here.
  bool cannot_trap(const ir::Inst& inst) const;
  // The exact result of an integer op is in its type.
  bool fits(const ir::Inst& inst) const { return fits_[Index(inst)]; }

 private:
  size_t Index(const ir::Inst& inst) const {
    return static_cast<size_t>(&inst - function_.insts.data());
  }
  void VisitRegion(ir::RegionId region);
  void VisitInst(const ir::Inst& inst);
  void VisitStructure(const ir::Inst& inst);
  // Of an `if`: with what the comparison that it depends on says there.
  void VisitWay(const ir::Inst& inst, uint32_t way);
  bool ComputeExact(const ir::Inst& inst, Interval& out) const;
  bool ComputeOther(const ir::Inst& inst, Interval& out) const;
  const Interval& operand(const ir::Inst& inst, uint32_t i) const {
    return values_[function_.operand(inst, i).index];
  }

  const ir::Program& program_;
  const ir::Function& function_;
  std::vector<Interval> values_;
  std::vector<bool> fits_;
};

}  // namespace frazil::targets::wasm
