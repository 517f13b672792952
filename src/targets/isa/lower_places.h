// Where values live while a function is lowered: live ranges over the structured code, and registers handed out in the
// order of the code. Reached through lower.cpp.
//
// A position is a step of the code: an instruction has one where it begins, a structure another where it ends. A value
// lives from its definition to its last use; used inside of a loop that it is defined outside of, to the end of that
// loop. Registers are free again after the last use, so a result may take the register of an operand.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "ir/program.h"
#include "machines/simt/isa.h"

namespace frazil::targets::isa {

// What is known of a function's values before its code is made.
class LiveRanges {
 public:
  explicit LiveRanges(const ir::Function& function);

  bool is_kept(ir::InstId inst) const { return kept_[inst.index]; }
  uint32_t begin_of(ir::InstId inst) const { return begin_[inst.index]; }
  uint32_t end_of(ir::InstId inst) const { return end_[inst.index]; }  // structures
  uint32_t last_use(ir::ValueId value) const { return last_use_[value.index]; }
  uint32_t uses(ir::ValueId value) const { return uses_[value.index]; }
  ir::InstId user(ir::ValueId value) const {
    return user_[value.index];
  }  // of a value with one use
  ir::RegionId home(ir::InstId inst) const { return home_[inst.index]; }
  uint32_t positions() const { return next_; }

 private:
  void Mark(ir::RegionId region);
  void Number(ir::RegionId region);
  void Use(ir::ValueId value, uint32_t position);

  const ir::Function& function_;
  std::vector<bool> kept_;
  std::vector<uint32_t> begin_, end_;
  std::vector<ir::RegionId> home_;
  std::vector<ir::InstId> user_;
  std::vector<uint32_t> last_use_, uses_, depth_;  // by value; depth_: loops open at its definition
  std::vector<ir::InstId> loops_;                  // open
  std::vector<std::pair<ir::ValueId, uint32_t>>
      pending_;  // (value, loop): used until the end of that loop
  uint32_t next_ = 0;
};

// Registers or predicates that are handed out and come back at a position.
class Pool {
 public:
  Pool(uint32_t size, uint32_t positions) : size_(size), returned_(positions + 1, -1) {}

  // The lowest free one, to be kept up to and including `until`; -1 if none is free.
  int Take(uint32_t until);
  // Keeps one that is in use longer (or shorter): its old date no longer counts.
  void Keep(uint8_t number, uint32_t until);
  // What was kept until `position` is free now. Positions come in ascending order.
  void Release(uint32_t position);
  size_t in_use() const { return used_.count(); }

 private:
  uint32_t size_;
  std::bitset<256> used_;
  std::vector<int32_t> returned_;  // by position: the last entry of dates_ for it
  struct Date {
    uint8_t number;
    uint32_t serial;
    int32_t before;
  };
  std::vector<Date> dates_;
  uint32_t serial_[256] = {};
};

}  // namespace frazil::targets::isa
