// From a function of the IR to micro-ops. tile_compile.cpp has regions and structures, tile_emit.cpp single ops,
// tile_layout.cpp what comes after: places of tiles, loads in place, streams.
#pragma once

#include <vector>

#include "targets/tiles/tile_classify.h"
#include "targets/tiles/tile_plan.h"

namespace frazil::targets::tiles {

class FunctionCompiler {
 public:
  // A function that is called has tiles as parameters and no buffers.
  FunctionCompiler(const ir::Program& program, const ir::Function& function, TilePlan& plan,
                   FunctionPlan& out, bool serial, bool is_called);

  Result<void> Compile();

 private:
  using Code = std::vector<TileOp>;

  // Structures.
  Result<void> DeclareParams();
  Result<void> Region(ir::RegionId id);
  Result<void> Visit(ir::InstId id);
  Result<void> If(const ir::Inst& inst);
  bool CanFlatten(const ir::Inst& inst);
  Result<void> FlattenIf(const ir::Inst& inst);
  Result<void> Switch(const ir::Inst& inst);
  Result<void> For(const ir::Inst& inst);
  Result<void> While(const ir::Inst& inst);
  Result<void> Parallel(ir::InstId id);
  Result<void> Call(const ir::Inst& inst);
  Result<void> Return(const ir::Inst& inst);
  Result<Code> Part(ir::RegionId id, std::span<const Slot> results);
  void Carry(std::span<const ir::ValueId> inits, ir::Range params);
  void MoveYields(std::span<const ir::ValueId> yields, std::span<const Slot> results);
  Result<void> AppendParts(TileOp op, std::vector<Code> parts);
  Result<bool> MayBeTiled(ir::InstId id, TileOp& op);

  // Ops.
  Result<void> Pure(const ir::Inst& inst);
  Result<void> Memory(const ir::Inst& inst);
  Result<void> Load(const ir::Inst& inst);
  Result<void> Store(const ir::Inst& inst);
  Result<void> Atomic(const ir::Inst& inst);
  Result<void> Lookup(const ir::Inst& inst);
  Result<void> Math(const ir::Inst& inst);
  Slot MathOn(ir::Op op, ir::Scalar type, std::span<const Slot> operands, bool uniform,
              Location where);
  bool TryDefer(ir::InstId id);
  void AppendFused(TileOp op, const ir::Inst& inst);
  bool EmitPair(const ir::Inst& inst);
  bool EmitChoice(const ir::Inst& inst);
  void EmitSelect(Slot condition, Slot yes, Slot no, Slot result, ir::Type type, bool uniform);
  void EmitKernel(const ir::Inst& inst);

  // Slots.
  Slot NewCell();
  Slot NewTile(uint32_t bytes);
  Slot NewLike(ir::ValueId value);  // as its class and type say
  void SetCell(Slot slot, uint64_t word) {
    out_.cells[out_.slots[static_cast<size_t>(slot)].place] = word;
  }
  Slot CellOf(ir::ValueId value);  // uniform, or the base of what is affine
  Slot TileOf(ir::ValueId value);  // an element for each lane, made where there is none
  Slot OperandOf(ir::ValueId value, bool uniform) {
    return uniform ? CellOf(value) : TileOf(value);
  }
  void Define(ir::ValueId value, Slot slot) { slots_[value.index] = slot; }
  void Materialize(ir::ValueId value);  // of a deferred op
  const LaneClass& ClassOf(ir::ValueId value) const { return classes_[value.index]; }
  // Works on cells alone, because its value is the same in all lanes or steps evenly.
  bool OnCells(ir::ValueId result) const { return !ClassOf(result).varying(); }
  uint32_t BytesOf(ir::ValueId value) const { return ir::BytesOf(function_.type(value)); }
  TileOp& Append(TileOp op);
  // Places for the results of a structure, in order.
  std::vector<Slot> DefineResults(const ir::Inst& inst);
  TileOp New(TileOp::Kind kind, const ir::Inst& inst) const;
  int32_t BufferOf(ir::ValueId value) const { return buffers_[value.index]; }
  std::span<const ir::ValueId> YieldOf(ir::RegionId id) const;

  const ir::Program& program_;
  const ir::Function& function_;
  TilePlan& plan_;
  FunctionPlan& out_;
  bool serial_, is_called_;
  bool in_tile_ = false;
  int parallel_depth_ = 0;
  Code* code_ = nullptr;
  Code* preamble_ = nullptr;  // of the tiled parallel around
  std::vector<LaneClass> classes_;
  std::vector<Slot> slots_;              // cell, or tile
  std::vector<Slot> tiles_;              // the tile that was made of a cell
  std::vector<bool> inside_;             // defined in the tiled parallel around
  std::vector<ir::ValueId> made_tiles_;  // in the region at hand and those around
  std::vector<int32_t> buffers_;
  std::vector<uint32_t> uses_;
  std::vector<ir::InstId> only_user_;
  std::vector<bool> deferred_;
  std::vector<uint32_t> region_of_inst_;
};

// Places of tiles, loads in place, streams.
void LayOut(FunctionPlan& function, const TileOptions& options);

}  // namespace frazil::targets::tiles
