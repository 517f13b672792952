// What values can be, whatever the arguments are: intervals, from constants, types, loops and arithmetic. Tests that they
// decide are not emitted, because code that no input can reach could not be judged (and costs time).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "ir/program.h"

namespace frazil::targets {

struct IntRange {
  __int128 low, high;
};

// Bounds of what is a number; `nan`: it may be none.
struct FloatRange {
  double low, high;
  bool nan;
};

FloatRange Join(FloatRange a, FloatRange b);

class ValueRanges {
 public:
  // `floats`: what is known of the function's parameters.
  ValueRanges(const ir::Program& program, const ir::Function& function,
              const std::vector<FloatRange>& floats = {});

  // Of a machine integer, index or bool; others have a range that says nothing.
  IntRange Int(ir::ValueId value);
  // Of an f32 or f64.
  FloatRange Float(ir::ValueId value);
  // Of the arguments of a call.
  std::vector<FloatRange> Arguments(const ir::Inst& call);

 private:
  IntRange MakeInt(ir::ValueId value);
  IntRange IntOf(const ir::Inst& inst);
  FloatRange FloatOf(const ir::Inst& inst, uint32_t result);
  FloatRange Under(ir::ValueId value, ir::ValueId condition, bool holds, FloatRange range);
  FloatRange Inside(ir::ValueId value, ir::RegionId region);
  FloatRange OfCall(const ir::Inst& call, uint32_t result);
  FloatRange OfTable(const ir::Inst& lookup) const;
  IntRange Counter(const ir::Inst& loop);
  const ir::Inst& LastOf(ir::RegionId region) const;

  const ir::Program& program_;
  const ir::Function& function_;
  std::vector<ir::RegionId> region_;  // by instruction: where it stands
  std::vector<ir::InstId> owner_;     // by region; invalid for the function's body
  std::unordered_map<uint32_t, std::unique_ptr<ValueRanges>> callees_;  // by instruction
  std::unordered_map<uint32_t, const ir::Inst*> loops_;                 // by counter
  std::unordered_map<uint32_t, IntRange> ints_;
  std::unordered_map<uint32_t, FloatRange> floats_;
  int depth_ = 0;
};

}  // namespace frazil::targets
