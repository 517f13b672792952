// Batch code at work on one block of lanes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "base/limits.h"
#include "exec/batch_code.h"

namespace frazil::exec {

// Arrays of BlockLanes elements of 8 bytes, handed out and taken back like a stack.
class ArrayStack {
 public:
  std::byte* Push();
  size_t size() const { return used_; }
  void PopTo(size_t size) { used_ = size; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> arrays_;
  size_t used_ = 0;
};

// The lanes that a region works on: how many, what trapped them (0: alive) and in which op, and their fuel.
struct Lanes {
  size_t count;
  uint8_t* traps;
  uint8_t* ops;  // NoOp until it is known
  uint64_t* fuel;

  static constexpr uint8_t NoOp = 0xff;
  static_assert(ir::OpCount <= NoOp);
};

using Arrays = std::vector<std::byte*>;
using LaneIndex = uint16_t;
static_assert(BlockLanes <= 65536);

class BatchRunner {
 public:
  BatchRunner(const BatchCode& code, const Limits& limits);

  // At most BlockLanes lanes. Traps are set, none where there was none; `ops` may be null.
  void Run(size_t lanes, std::span<const std::byte* const> inputs,
           std::span<std::byte* const> outputs, uint8_t* traps, uint8_t* ops);

 private:
  struct Group;

  void RunInsts(const BatchRegion& region, Arrays& arrays, Lanes& lanes);
  void RunStructured(const BatchInst& inst, Arrays& arrays, Lanes& lanes);
  void If(const BatchInst& inst, Arrays& arrays, Lanes& lanes);
  void Switch(const BatchInst& inst, Arrays& arrays, Lanes& lanes);
  void For(const BatchInst& inst, Arrays& arrays, Lanes& lanes);
  void While(const BatchInst& inst, Arrays& arrays, Lanes& lanes);
  void Call(const BatchInst& inst, Arrays& arrays, Lanes& lanes);
  void Lookup(const BatchInst& inst, Arrays& arrays, Lanes& lanes);

  // Runs a region on those lanes and sets the structure's results for them.
  void RunBranch(const BatchStructure& structure, const BatchRegion& region,
                 std::span<const LaneIndex> taken, Arrays& arrays, Lanes& lanes);
  Group StartGroup(const BatchStructure& structure, const BatchRegion& region, Arrays& arrays,
                   Lanes& lanes, std::span<const LaneIndex> members);
  void Keep(Group& group, std::span<const LaneIndex> kept);
  void Leave(const Group& group, const BatchStructure& structure,
             std::span<const LaneIndex> leaving, Arrays& arrays, Lanes& lanes);
  void RunFresh(const BatchRegion& region, Arrays& arrays, Lanes& lanes);
  void TakeFuel(Lanes& lanes, const uint64_t* units, ir::Op op);
  bool Expired();

  std::byte* ArrayOf(const Arrays& arrays, ArrayId id) const {
    return id >= 0 ? arrays[static_cast<size_t>(id)] : constants_[static_cast<size_t>(~id)];
  }
  Arrays NewArrays(const BatchRegion& region);

  const BatchCode& code_;
  const Limits& limits_;
  std::vector<std::byte*> constants_;
  ArrayStack stack_;
  uint64_t depth_ = 0;
  uint32_t unmetered_ = 0;  // prelude functions around
  Deadline deadline_ = Deadline::Never();
  uint32_t ticks_ = 0;
};

}  // namespace frazil::exec
