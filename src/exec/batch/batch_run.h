// Batch code at work on one block of lanes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "base/limits.h"
#include "exec/batch/batch_code.h"
#include "exec/meaning/choices.h"

namespace frazil::exec {

// f with a number as wide as an element.
template <typename F>
void WithWidth(uint32_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

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

using LaneIndex = uint16_t;
static_assert(BlockLanes <= 65536);

// The lanes that a region works on: how many, what trapped them (0: alive) and in which op, and their fuel.
struct Lanes {
  size_t count;
  uint8_t* traps;
  uint8_t* ops;  // NoOp until it is known
  uint64_t* fuel;
  LaneIndex* ids;  // which of the block's they are; they ascend

  static constexpr size_t ArrayCount = 4;
  static constexpr uint8_t NoOp = 0xff;
  static_assert(ir::OpCount <= NoOp);
};

using Arrays = std::vector<std::byte*>;

class BlockMemory;
struct RunContext;

// A block whose lanes are iterations of one run. If all of them get to the end within that fuel and time it counts, else
// what it did is dropped: so its lanes give up together.
struct OneRun {
  BlockMemory& memory;
  const RunContext& context;
  Deadline deadline;  // of the block
  uint64_t fuel;      // what all of them have
  uint64_t depth;     // of calls around
  Choices* choices = nullptr;
};

enum class BlockEnd : uint8_t { Done, GaveUp, OutOfTime };

class BatchRunner {
 public:
  BatchRunner(const BatchCode& code, const Limits& limits);

  // At most BlockLanes lanes. Traps are set, none where there was none; `ops` may be null.
  void Run(size_t lanes, std::span<const std::byte* const> inputs,
           std::span<std::byte* const> outputs, uint8_t* traps, uint8_t* ops);

  // The body of a `parallel`, with that word for each of its scalars, from one iteration on. Done if every lane got to the
  // end.
  BlockEnd RunIterations(const ParallelCode& code, std::span<const uint64_t> scalars,
                         uint64_t first, size_t lanes, OneRun& run);

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
  void Access(const BatchInst& inst, Arrays& arrays, Lanes& lanes);
  void NoteWay(const BatchInst& inst, uint32_t way) {
    if (run_ != nullptr && run_->choices != nullptr)
      run_->choices->Note(inst.function, inst.inst, way);
  }
  void NoteSelected(const BatchInst& inst, const Arrays& arrays, const Lanes& lanes);

  // Runs a region on those lanes and sets the structure's results for them.
  void RunBranch(const BatchStructure& structure, const BatchRegion& region,
                 std::span<const LaneIndex> taken, Arrays& arrays, Lanes& lanes);
  Group StartGroup(const BatchStructure& structure, const BatchRegion& region, Arrays& arrays,
                   Lanes& lanes, std::span<const LaneIndex> members);
  void Keep(Group& group, std::span<const LaneIndex> kept);
  void Leave(const Group& group, const BatchStructure& structure,
             std::span<const LaneIndex> leaving, Arrays& arrays, Lanes& lanes);
  template <typename Stays>
  bool KeepThose(Group& group, const BatchStructure& structure, Arrays& arrays, Lanes& lanes,
                 Stays stays);
  void RunFresh(const BatchRegion& region, Arrays& arrays, Lanes& lanes);
  void TakeFuel(Lanes& lanes, const uint64_t* units, ir::Op op);
  void TakeSharedFuel(Lanes& lanes, const uint64_t* units);
  bool GoesOn(size_t lanes);
  void Look();
  Lanes NewLanes(size_t count);

  std::byte* ArrayOf(const Arrays& arrays, ArrayId id) const {
    return id >= 0 ? arrays[static_cast<size_t>(id)] : constants_[static_cast<size_t>(~id)];
  }
  Arrays NewArrays(const BatchRegion& region);

  const BatchCode& code_;
  const Limits& limits_;
  std::vector<std::byte*> constants_;
  ArrayStack stack_;
  OneRun* run_ = nullptr;
  uint64_t depth_ = 0;
  uint32_t unmetered_ = 0;  // prelude functions around
  Deadline deadline_ = Deadline::Never();
  int64_t until_look_ = 0;  // how much work, in lanes of ops
  bool has_expired_ = false;
  bool has_given_up_ = false;  // a block of one run
};

}  // namespace frazil::exec
