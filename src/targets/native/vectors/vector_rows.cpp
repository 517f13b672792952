// Lanes that walk along rows of their own. A row's elements lie side by side, but a vector wants one element of
// every row: as many turns as there are lanes are read at once, a vector from each row, and turned around into a tile on
// the stack, whose vectors the turns then use. What they store goes the same way back.
#include <algorithm>

#include "targets/native/vectors/transpose.h"
#include "targets/native/vectors/vector_lanes.h"
#include "targets/native/vectors/vector_loop.h"

namespace frazil::targets::native {

using ir::Function;
using ir::Inst;

bool LaneEmitter::WalksRows(ir::InstId loop) const {
  for (const LoopRow& row : block_.plan.rows)
    if (row.loop == loop) return true;
  return false;
}

// A loop whose turns know nothing of each other is better done row after row: there neighbors are neighbors in memory.
bool LaneEmitter::IsRowMap(const Inst& loop) const {
  if (!is_top() || mask_ != tail_mask_) return false;
  return FitsVectors(emitter_, loop);
}

void LaneEmitter::FindUsed(ir::RegionId region, std::vector<ir::ValueId>& used) const {
  for (ir::InstId id : function().region(region).insts) {
    const Inst& inst = function().inst(id);
    for (ir::ValueId operand : function().operands_of(inst)) AddUsed(operand, used);
    for (uint32_t i = 0; i < inst.regions.count; ++i) FindUsed(Function::region_of(inst, i), used);
  }
}

// And what an index is made of: forms of indices are computed from that.
void LaneEmitter::AddUsed(ir::ValueId value, std::vector<ir::ValueId>& used) const {
  const Lane& lane = frames_.back().values[value.index];
  if ((lane.scalar == nullptr && lane.vector == nullptr) ||
      std::ranges::find(used, value) != used.end())
    return;
  used.push_back(value);
  const ir::InstId def = function().values[value.index].def;
  if (!def.valid() || function().type(value) != ir::types::Index ||
      function().inst(def).regions.count != 0)
    return;
  for (ir::ValueId operand : function().operands_of(function().inst(def))) AddUsed(operand, used);
}

// For each lane the scalars that it would have; then the loop as any other.
void LaneEmitter::EmitRowByRow(const Inst& loop) {
  std::vector<ir::ValueId> used;
  FindUsed(Function::region_of(loop, 0), used);
  for (ir::ValueId operand : function().operands_of(loop)) AddUsed(operand, used);
  llvm::BasicBlock& entry = builder_.GetInsertBlock()->getParent()->getEntryBlock();
  std::map<uint32_t, llvm::Value*> places;
  for (ir::ValueId value : used) {
    const Lane lane = GetLane(value);
    if (lane.scalar != nullptr) continue;
    llvm::Value* elements = ToMemory(function().type(value), lane.vector);
    Builder at_entry(&entry, entry.begin());
    llvm::AllocaInst* place = at_entry.CreateAlloca(elements->getType());
    builder_.CreateAlignedStore(elements, place, place->getAlign());
    places[value.index] = place;
  }
  std::map<uint32_t, llvm::AllocaInst*> results;
  for (uint32_t k : LiveResults(loop)) {
    Builder at_entry(&entry, entry.begin());
    results[k] =
        at_entry.CreateAlloca(LanesOf(MemoryType(function().type(Function::result_of(loop, k)))));
  }
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* turn = emitter_.NewBlock("row");
  llvm::BasicBlock* after = emitter_.NewBlock("rows.end");
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(turn);
  llvm::PHINode* row = builder_.CreatePHI(builder_.getInt64Ty(), 2, "row");
  row->addIncoming(builder_.getInt64(0), before);
  for (ir::ValueId value : used) {
    const Lane lane = GetLane(value);
    const ir::Type type = function().type(value);
    llvm::Value* scalar = lane.scalar;
    if (scalar == nullptr) {
      scalar = emitter_.LoadElement(
          type, builder_.CreateGEP(MemoryType(type), places.at(value.index), row));
    } else if (lane.stride != 0) {
      llvm::Value* number = builder_.CreateZExtOrTrunc(row, scalar->getType());
      llvm::Value* stride =
          llvm::ConstantInt::get(scalar->getType(), static_cast<uint64_t>(lane.stride),
                                 /*IsSigned=*/false, /*ImplicitTrunc=*/true);
      scalar = builder_.CreateAdd(scalar, builder_.CreateMul(number, stride));
    }
    emitter_.Set(value, scalar);
  }
  llvm::Value* const index = emitter_.parallel_index();
  if (index == nullptr && block_.loop.op == ir::Op::Parallel)
    emitter_.SetParallelIndex(builder_.CreateAdd(block_.counter, row));
  const LoopPlan* const outer = emitter_.outer_plan();
  emitter_.SetOuterPlan(&block_.plan);
  emitter_.EmitInst(loop);
  emitter_.SetOuterPlan(outer);
  emitter_.SetParallelIndex(index);
  for (auto [k, place] : results) {
    const ir::ValueId result = Function::result_of(loop, k);
    const ir::Type type = function().type(result);
    emitter_.StoreElement(type, builder_.CreateGEP(MemoryType(type), place, row),
                          emitter_.Get(result));
  }
  llvm::Value* next = builder_.CreateAdd(row, builder_.getInt64(1));
  row->addIncoming(next, builder_.GetInsertBlock());
  llvm::Value* count = block_.rest != nullptr ? block_.rest : builder_.getInt64(block_.lanes);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, count), turn, after);
  builder_.SetInsertPoint(after);
  for (auto [k, place] : results) {
    const ir::ValueId result = Function::result_of(loop, k);
    llvm::Value* elements =
        builder_.CreateAlignedLoad(place->getAllocatedType(), place, place->getAlign());
    SetLane(result, {nullptr, 0, FromMemory(function().type(result), elements)});
  }
}

// Columns of the tile that are turns, if the lane's row counts.
llvm::Value* LaneEmitter::RowMask(unsigned lane, llvm::Value* columns) {
  if (mask_ == nullptr) return columns;
  llvm::Value* counts = builder_.CreateExtractElement(mask_, lane);
  return builder_.CreateAnd(columns, builder_.CreateVectorSplat(block_.lanes, counts));
}

// Of lane 0's element in turn `first` of the row's loop.
llvm::Value* LaneEmitter::RowAddress(size_t row, llvm::Value* first) {
  const LoopRow& info = block_.plan.rows[row];
  const LoopAccess& access = block_.plan.accesses[info.access];
  const HoistedAccess& parts = block_.hoisted[info.access];
  llvm::Value* index =
      builder_.CreateAdd(parts.offset, builder_.CreateMul(parts.slope, block_.counter));
  for (size_t t = 0; t < access.turns.size(); ++t) {
    const Inst& loop = function().inst(access.turns[t].loop);
    llvm::Value* turn =
        access.turns[t].loop == info.loop ? first : LaneZero(GetLane(CounterOf(function(), loop)));
    index = builder_.CreateAdd(index, builder_.CreateMul(parts.turns[t], turn));
  }
  const ir::Type element = function().type(access.buffer).element();
  return emitter_.ElementAddress(element, emitter_.Get(access.buffer), index);
}

void LaneEmitter::FillTile(size_t row, llvm::Value* first, llvm::Value* columns) {
  const LoopAccess& access = block_.plan.accesses[block_.plan.rows[row].access];
  const ir::Type element = function().type(access.buffer).element();
  llvm::VectorType* vector = LanesOf(MemoryType(element));
  llvm::Value* address = RowAddress(row, first);
  LlvmValues rows;
  for (unsigned lane = 0; lane < block_.lanes; ++lane) {
    rows.push_back(builder_.CreateMaskedLoad(vector, address, llvm::Align(1),
                                             RowMask(lane, columns),
                                             llvm::Constant::getNullValue(vector)));
    address = emitter_.ElementAddress(element, address,
                                      block_.hoisted[block_.plan.rows[row].access].slope);
  }
  rows = Transposed(builder_, std::move(rows));
  for (unsigned turn = 0; turn < block_.lanes; ++turn)
    builder_.CreateAlignedStore(
        rows[turn],
        builder_.CreateConstGEP1_64(MemoryType(element), block_.tiles[row], turn * block_.lanes),
        llvm::Align(4));
}

void LaneEmitter::FlushTile(size_t row, llvm::Value* first, llvm::Value* columns) {
  const LoopAccess& access = block_.plan.accesses[block_.plan.rows[row].access];
  const ir::Type element = function().type(access.buffer).element();
  llvm::VectorType* vector = LanesOf(MemoryType(element));
  LlvmValues turns;
  for (unsigned turn = 0; turn < block_.lanes; ++turn)
    turns.push_back(builder_.CreateAlignedLoad(
        vector,
        builder_.CreateConstGEP1_64(MemoryType(element), block_.tiles[row], turn * block_.lanes),
        llvm::Align(4)));
  LlvmValues rows = Transposed(builder_, std::move(turns));
  llvm::Value* address = RowAddress(row, first);
  for (unsigned lane = 0; lane < block_.lanes; ++lane) {
    builder_.CreateMaskedStore(rows[lane], address, llvm::Align(1), RowMask(lane, columns));
    address = emitter_.ElementAddress(element, address,
                                      block_.hoisted[block_.plan.rows[row].access].slope);
  }
}

llvm::Value* LaneEmitter::TilePlace(const LoopAccess& access) {
  const TileTurn& now = tile_turns_.at(block_.plan.rows[access.row].loop.index);
  const ir::Type element = function().type(access.buffer).element();
  llvm::Value* place = builder_.CreateMul(now.turn, builder_.getInt64(block_.lanes));
  return builder_.CreateGEP(MemoryType(element), block_.tiles[access.row], place);
}

void LaneEmitter::EmitRowStore(const Inst& inst, const LoopAccess& access) {
  llvm::Value* place = TilePlace(access);
  llvm::Value* value = ToMemory(inst.type, Vector(function().operand(inst, 2)));
  // Lanes that only do not count here keep what they had; those that do not count in the loop are never written back.
  if (mask_ != tile_turns_.at(block_.plan.rows[access.row].loop.index).mask) {
    llvm::Value* old = builder_.CreateAlignedLoad(value->getType(), place, llvm::Align(4));
    value = builder_.CreateSelect(mask_, value, old);
  }
  builder_.CreateAlignedStore(value, place, llvm::Align(4));
}

// Blocks of turns, a tile for each row; in them the turns one by one.
void LaneEmitter::EmitTiledLoop(const Inst& inst) {
  const ir::InstId id(static_cast<uint32_t>(&inst - function().insts.data()));
  llvm::Value* lo = LaneZero(GetLane(function().operand(inst, 0)));
  llvm::Value* hi = LaneZero(GetLane(function().operand(inst, 1)));
  llvm::Type* wide = builder_.getInt64Ty();
  const std::vector<uint32_t> numbers = LiveResults(inst);
  const LlvmValues inits = CarriedInits(inst, numbers);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* block = emitter_.NewBlock("tile");
  llvm::BasicBlock* turn = emitter_.NewBlock("tile.turn");
  llvm::BasicBlock* flush = emitter_.NewBlock("tile.end");
  llvm::BasicBlock* after = emitter_.NewBlock("tiles.end");
  builder_.CreateCondBr(builder_.CreateICmpSLT(lo, hi), block, after);
  builder_.SetInsertPoint(block);
  const Carried outer = BeginCarried(inst, before, inits, numbers);
  llvm::PHINode* first = builder_.CreatePHI(wide, 2, "first");
  first->addIncoming(lo, before);
  llvm::Value* count = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::umin, builder_.CreateSub(hi, first), builder_.getInt64(block_.lanes));
  llvm::SmallVector<llvm::Constant*, 64> places;
  for (unsigned i = 0; i < block_.lanes; ++i) places.push_back(builder_.getInt32(i));
  llvm::Value* columns = builder_.CreateICmpULT(
      llvm::ConstantVector::get(places),
      builder_.CreateVectorSplat(block_.lanes, builder_.CreateTrunc(count, builder_.getInt32Ty())));
  for (size_t row = 0; row < block_.plan.rows.size(); ++row)
    if (block_.plan.rows[row].loop == id && block_.plan.rows[row].is_read)
      FillTile(row, first, columns);
  llvm::BasicBlock* filled = builder_.GetInsertBlock();
  builder_.CreateBr(turn);

  builder_.SetInsertPoint(turn);
  const LlvmValues starts(outer.phis.begin(), outer.phis.end());
  const Carried inner = BeginCarried(inst, filled, starts, numbers);
  llvm::PHINode* now = builder_.CreatePHI(wide, 2, "turn");
  now->addIncoming(builder_.getInt64(0), filled);
  tile_turns_[id.index] = {now, mask_};
  SetLane(CounterOf(function(), inst), {builder_.CreateAdd(first, now)});
  const Inst& yield = EmitBody(Function::region_of(inst, 0));
  EndTurn(inst, yield, inner, nullptr);
  llvm::BasicBlock* turn_end = builder_.GetInsertBlock();
  llvm::Value* next = builder_.CreateAdd(now, builder_.getInt64(1));
  now->addIncoming(next, turn_end);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, count), turn, flush);

  builder_.SetInsertPoint(flush);
  for (size_t row = 0; row < block_.plan.rows.size(); ++row)
    if (block_.plan.rows[row].loop == id && block_.plan.rows[row].is_written)
      FlushTile(row, first, columns);
  llvm::BasicBlock* flush_end = builder_.GetInsertBlock();
  llvm::Value* next_first = builder_.CreateAdd(first, count);
  first->addIncoming(next_first, flush_end);
  LlvmValues ends;
  for (size_t k = 0; k < numbers.size(); ++k) {
    ends.push_back(inner.phis[k]->getIncomingValueForBlock(turn_end));
    outer.phis[k]->addIncoming(ends[k], flush_end);
  }
  builder_.CreateCondBr(builder_.CreateICmpSLT(next_first, hi), block, after);

  builder_.SetInsertPoint(after);
  Carried results{numbers, {}};
  for (size_t k = 0; k < numbers.size(); ++k) {
    results.phis.push_back(builder_.CreatePHI(inits[k]->getType(), 2));
    results.phis[k]->addIncoming(inits[k], before);
    results.phis[k]->addIncoming(ends[k], flush_end);
  }
  SetCarriedResults(inst, results);
}

}  // namespace frazil::targets::native
