// The body of a loop for a block of neighboring iterations, one per lane. Internal to this folder.
//
// A value is one scalar and a distance between lanes while that is enough (what is the same in all lanes, indices),
// else a vector. A branch becomes masks and selects. Stores wait until the whole block is known not to trap.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "targets/native/function_emitter.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {

unsigned VectorBytes(exec::CpuLevel level);  // of a register
constexpr uint64_t StreamAlignment = 64;     // of stores that pass the caches: a line of them

struct Lane {
  llvm::Value* scalar = nullptr;  // of lane 0, where the others follow by `stride`
  int64_t stride = 0;
  llvm::Value* vector = nullptr;  // made when it is asked for

  bool is_uniform() const { return scalar != nullptr && stride == 0; }
};

// What the code before the loop has computed for each access of the plan.
struct HoistedAccess {
  llvm::Value* address = nullptr;  // of the first iteration's element
  llvm::Value* value = nullptr;    // Uniform: the element itself
  // Ranged: what the index is made of.
  llvm::Value* offset = nullptr;
  llvm::Value* slope = nullptr;
  LlvmValues turns = {};
};

struct LaneBlock {
  const LoopPlan& plan;
  const ir::Inst& loop;
  const std::vector<HoistedAccess>& hoisted;
  unsigned lanes;
  llvm::Value* trip;            // iterations before this block
  llvm::Value* counter;         // the first lane's
  llvm::Value* rest = nullptr;  // a last block: how many lanes are iterations; else null
  llvm::BasicBlock* bail;       // where to go if a lane would trap; nothing has been stored then
  std::span<llvm::Value* const> tiles =
      {};  // of the plan's rows: room for lanes x lanes elements each
  bool streams =
      false;  // whole vectors of stores start at multiples of their size and pass the caches
  bool has_lane = false;  // `rest` is above 0
  // The tail of a loop inside (PlanQuestion::given), for whoever has computed its result.
  struct Given {
    ir::InstId loop = {};
    llvm::Value* value = nullptr;
    llvm::Value* mask = nullptr;  // lanes that are iterations; null: all
  };
  Given given = {};
};

struct LaneStore {
  ir::Type type;
  llvm::Value* address;
  llvm::Value* value;
  llvm::Value* mask;        // null: all lanes
  bool is_any_nan = false;  // the value is still to be made the one NaN
  bool is_one = false;      // element of all lanes
};

// What is read for some lanes, in parts of as many elements as there are lanes.
struct StridedRead {
  llvm::Type* element;
  llvm::Value* address;
  unsigned lanes;
  unsigned stride;     // elements of each lane
  unsigned span;       // of the last one
  llvm::Value* valid;  // elements that may be read at all; null: all

  unsigned Start(unsigned part) const;
};

class LaneEmitter {
 public:
  LaneEmitter(FunctionEmitter& emitter, const LaneBlock& block);

  // Emits the block; `folds` are the vectors that collect, before and after it.
  void Run(LlvmValues& folds);
  // Emits what follows the given loop and gives back what it stores: nothing has been stored then, and what is stored at
  // once need not be the one NaN yet.
  std::vector<LaneStore> RunGiven();
  // One of those, at the builder's place.
  static void EmitStore(Builder& builder, const LaneStore& store);

 private:
  struct Frame {
    const ir::Function* function;
    const FunctionFacts* facts;
    std::vector<Lane> values;
  };
  // vector_lanes.cpp: instructions
  const ir::Inst& EmitBody(ir::RegionId region);
  void EmitInst(ir::InstId id);
  void EmitPure(const ir::Inst& inst);
  llvm::Value* Canonical(llvm::Value* value);
  bool IsOnlyStored(ir::ValueId value) const;
  llvm::Value* LaneByLane(const ir::Inst& inst, ir::Type from, const LlvmValues& in);
  bool EmitStride(const ir::Inst& inst);
  void CheckDivisor(const ir::Inst& inst, llvm::Value*& divisor);
  void EmitDivision(const ir::Inst& inst);
  bool IsShort(const ir::Inst& inst, uint32_t operand) const;
  void EmitChecked(const ir::Inst& inst);
  void EmitFold(const ir::Inst& inst);
  void SetVector(const ir::Inst& inst, llvm::Value* vector);
  void SetEither(const ir::Inst& inst, llvm::Value* value);  // a scalar is the same in all lanes

  // vector_control.cpp: branches, loops inside, math functions
  void EmitIf(const ir::Inst& inst);
  void EmitUniformIf(const ir::Inst& inst);
  std::vector<Lane> EmitArm(const ir::Inst& inst, uint32_t region, llvm::Value* mask);
  ir::InstId LoopInLanes() const;
  bool IsHeavy(ir::RegionId region) const;
  bool HasStore(ir::RegionId region) const;
  void EmitInnerLoop(const ir::Inst& inst);

  // vector_rows.cpp: loops inside that walk along rows
  struct TileTurn {
    llvm::Value* turn;  // of the tile
    llvm::Value* mask;  // lanes that count in the loop; null: all
  };
  bool WalksRows(ir::InstId loop) const;
  bool IsRowMap(const ir::Inst& loop) const;
  void EmitRowByRow(const ir::Inst& loop);
  void FindUsed(ir::RegionId region, std::vector<ir::ValueId>& used) const;
  void AddUsed(ir::ValueId value, std::vector<ir::ValueId>& used) const;
  void EmitTiledLoop(const ir::Inst& inst);
  void FillTile(size_t row, llvm::Value* first, llvm::Value* columns);
  void FlushTile(size_t row, llvm::Value* first, llvm::Value* columns);
  llvm::Value* RowMask(unsigned lane, llvm::Value* columns);
  llvm::Value* RowAddress(size_t row, llvm::Value* first);
  llvm::Value* TilePlace(const LoopAccess& access);
  void EmitRowStore(const ir::Inst& inst, const LoopAccess& access);

  // vector_diverge.cpp: loops that lanes leave one by one
  struct Carried {
    std::vector<uint32_t> numbers;     // of those that somebody reads
    std::vector<llvm::PHINode*> phis;  // vectors, or scalars where the plan says so
  };
  struct TurnBlocks {
    llvm::BasicBlock *before, *turn, *work, *after;
  };
  TurnBlocks BeginTurn(const std::string& name);
  void EmitWhile(const ir::Inst& inst);
  void EmitDivergentFor(const ir::Inst& inst);
  Carried BeginCarried(const ir::Inst& inst, llvm::BasicBlock* before, const LlvmValues& inits,
                       const std::vector<uint32_t>& numbers);
  void EndTurn(const ir::Inst& inst, const ir::Inst& yield, const Carried& carried,
               llvm::Value* active);
  void SetCarriedResults(const ir::Inst& inst, const Carried& carried);
  std::vector<uint32_t> LiveResults(const ir::Inst& inst) const;
  LlvmValues CarriedInits(const ir::Inst& inst, const std::vector<uint32_t>& numbers);
  void BailIfStopped();
  void EmitCall(const ir::Inst& inst);

  // vector_memory.cpp
  void EmitLoad(ir::InstId id);
  void EmitStore(ir::InstId id);
  void EmitLookup(const ir::Inst& inst);
  void FlushStores();
  void StoreLast(const LaneStore& store, llvm::Value* elements);
  llvm::Value* LoadVector(ir::Type type, llvm::Value* address);
  Lane LoadOne(ir::Type type, llvm::Value* base, llvm::Value* index, llvm::Value* length);
  llvm::Value* Gather(ir::Type type, llvm::Value* base, llvm::Value* index, llvm::Value* length,
                      bool is_inside);
  llvm::Value* FromMemory(ir::Type type, llvm::Value* elements);
  llvm::Value* ToMemory(ir::Type type, llvm::Value* vector);
  llvm::Type* MemoryType(ir::Type type) const;
  llvm::Value* UnitBound(ir::ValueId buffer);

  // vector_strides.cpp
  void EmitStridedLoad(const LoopAccess& access);
  LlvmValues ReadStrided(const StridedRead& read, std::span<const unsigned> places);
  LlvmValues StridedParts(const StridedRead& read);

  // shared
  Lane GetLane(ir::ValueId value) const;
  void SetLane(ir::ValueId value, Lane lane) { frames_.back().values[value.index] = lane; }
  llvm::Value* Vector(ir::ValueId value);
  llvm::Value* AsVector(const Lane& lane);
  llvm::Value* LaneZero(const Lane& lane);
  // The operands as scalars if all are the same in all lanes (then true), else as vectors.
  bool TakeOperands(const ir::Inst& inst, LlvmValues& in);
  llvm::VectorType* LanesOf(llvm::Type* scalar) const;
  // Does a lane stand before the count? Of more lanes than there are: all.
  llvm::Value* FirstLanes(unsigned lanes, llvm::Value* count);
  // Leaves the block if the bit holds in a lane that counts.
  void BailIfAny(llvm::Value* lanes_or_bit);
  llvm::Value* Both(llvm::Value* mask, llvm::Value* other);
  llvm::Value* Any(llvm::Value* mask);
  const ir::Function& function() const { return *frames_.back().function; }
  const FunctionFacts& facts() const { return *frames_.back().facts; }
  bool IsLive(const ir::Inst& inst, uint32_t result) const {
    return facts().live[ir::Function::result_of(inst, result).index];
  }
  bool is_top() const { return frames_.size() == 1; }

  FunctionEmitter& emitter_;
  const LaneBlock& block_;
  Builder& builder_;
  OpEmitter& ops_;
  std::vector<Frame> frames_;
  llvm::Value* mask_ = nullptr;       // lanes that count here; null: all
  llvm::Value* tail_mask_ = nullptr;  // lanes that are iterations at all; null: all
  std::vector<LaneStore> stores_;
  std::map<uint32_t, llvm::Value*> unit_bounds_;
  LlvmValues* folds_ = nullptr;
  std::map<uint32_t, TileTurn> tile_turns_;   // by loop
  std::map<uint32_t, llvm::Value*> strided_;  // by access: what another one has read for it
};

}  // namespace frazil::targets::native
