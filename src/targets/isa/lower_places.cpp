// Live ranges and the pool of registers.
#include "targets/isa/lower_places.h"

#include <algorithm>

namespace frazil::targets::isa {

using ir::Function;
using ir::Op;

LiveRanges::LiveRanges(const Function& function)
    : function_(function),
      kept_(function.insts.size(), false),
      begin_(function.insts.size(), 0),
      end_(function.insts.size(), 0),
      home_(function.insts.size()),
      user_(function.values.size()),
      last_use_(function.values.size(), 0),
      uses_(function.values.size(), 0),
      depth_(function.values.size(), 0) {
  Mark(function.body);
  Number(function.body);
  for (size_t i = pending_.size(); i-- > 0;) {
    auto [value, loop] = pending_[i];
    last_use_[value.index] = std::max(last_use_[value.index], end_[loop]);
  }
}

// Backwards: what has neither effect nor trap nor a use is left out, as canonical form does.
void LiveRanges::Mark(ir::RegionId id) {
  const ir::Region& region = function_.region(id);
  for (size_t i = region.insts.size(); i-- > 0;) {
    ir::InstId inst_id = region.insts[i];
    const ir::Inst& inst = function_.inst(inst_id);
    home_[inst_id.index] = id;
    bool floats = inst.regions.count == 0 && ir::IsRemovable(ir::Info(inst.op));
    if (floats && uses_[inst.results.begin] == 0) continue;
    kept_[inst_id.index] = true;
    for (uint32_t r = inst.regions.count; r-- > 0;) Mark(Function::region_of(inst, r));
    for (ir::ValueId operand : function_.operands_of(inst)) {
      ++uses_[operand.index];
      user_[operand.index] = inst_id;
    }
  }
}

void LiveRanges::Use(ir::ValueId value, uint32_t position) {
  uint32_t depth = depth_[value.index];
  if (loops_.size() > depth) {
    pending_.emplace_back(value, loops_[depth].index);
  } else {
    last_use_[value.index] = std::max(last_use_[value.index], position);
  }
}

void LiveRanges::Number(ir::RegionId id) {
  const ir::Region& region = function_.region(id);
  for (uint32_t i = 0; i < region.params.count; ++i) {
    depth_[region.params.begin + i] = static_cast<uint32_t>(loops_.size());
    last_use_[region.params.begin + i] = next_;
  }
  for (ir::InstId inst_id : region.insts) {
    if (!kept_[inst_id.index]) continue;
    const ir::Inst& inst = function_.inst(inst_id);
    uint32_t position = next_++;
    begin_[inst_id.index] = position;
    for (ir::ValueId operand : function_.operands_of(inst)) Use(operand, position);
    if (inst.regions.count == 0) {
      end_[inst_id.index] = position;
    } else {
      bool loop = inst.op == Op::For || inst.op == Op::While || inst.op == Op::Parallel;
      if (loop) loops_.push_back(inst_id);
      for (uint32_t r = 0; r < inst.regions.count; ++r) Number(Function::region_of(inst, r));
      if (loop) loops_.pop_back();
      end_[inst_id.index] = next_++;
    }
    for (uint32_t r = 0; r < inst.results.count; ++r) {
      depth_[inst.results.begin + r] = static_cast<uint32_t>(loops_.size());
      last_use_[inst.results.begin + r] = end_[inst_id.index];
    }
  }
}

int Pool::Take(uint32_t until) {
  for (uint32_t number = 0; number < size_; ++number) {
    if (used_[number]) continue;
    used_[number] = true;
    Keep(static_cast<uint8_t>(number), until);
    return static_cast<int>(number);
  }
  return -1;
}

void Pool::Keep(uint8_t number, uint32_t until) {
  used_[number] = true;
  dates_.push_back({number, ++serial_[number], returned_[until]});
  returned_[until] = static_cast<int32_t>(dates_.size()) - 1;
}

void Pool::Release(uint32_t position) {
  for (int32_t at = returned_[position]; at >= 0; at = dates_[static_cast<size_t>(at)].before) {
    const Date& date = dates_[static_cast<size_t>(at)];
    if (serial_[date.number] == date.serial) used_[date.number] = false;
  }
}

}  // namespace frazil::targets::isa
