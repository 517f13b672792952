// Rows by lanes of a warp (row_plan.h). Elements come in slices of 64, one for each chain of the tree: a lane has `groups`
// times `width` neighboring elements of each slice, always the same chains, so that what its chains need is in its own
// registers, and the fold by halves is shuffles at the end. Chains without elements hold what changes nothing.
//
// An element is read from memory once: what later passes need of it stays in shared memory, in the lane's own places.
#include "targets/cuda/rows.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <limits>

#include "targets/llvm/form_values.h"

namespace frazil::targets::cuda {

using namespace ir::names;

namespace {

constexpr uint64_t SlicesOfBlock = FoldBlock / RowSlice;
constexpr uint64_t MostLevels = 52;  // of pairs of blocks
constexpr uint32_t Warp = 32;

}  // namespace

// --- loops ------------------------------------------------------------------------------------------------------------

LlvmValues RowEmitter::Loop(llvm::Value* start, llvm::Value* end, uint64_t step, LlvmValues carried,
                            const LoopBody& body) {
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const head = emitter_.NewBlock("head");
  llvm::BasicBlock* const turn = emitter_.NewBlock("turn");
  llvm::BasicBlock* const after = emitter_.NewBlock("after");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* const i = builder_.CreatePHI(start->getType(), 2);
  i->addIncoming(start, before);
  std::vector<llvm::PHINode*> phis;
  for (llvm::Value*& value : carried) {
    phis.push_back(builder_.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    value = phis.back();
  }
  const LlvmValues result = carried;
  builder_.CreateCondBr(builder_.CreateICmpULT(i, end), turn, after);
  builder_.SetInsertPoint(turn);
  body(i, carried);
  llvm::BasicBlock* const last = builder_.GetInsertBlock();
  i->addIncoming(builder_.CreateAdd(i, Long(step)), last);
  for (size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(carried[k], last);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(after);
  return result;
}

void RowEmitter::If(llvm::Value* condition, LlvmValues& values,
                    const std::function<void(LlvmValues&)>& then) {
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const yes = emitter_.NewBlock("yes");
  llvm::BasicBlock* const done = emitter_.NewBlock("done");
  builder_.CreateCondBr(condition, yes, done);
  builder_.SetInsertPoint(yes);
  LlvmValues changed = values;
  then(changed);
  llvm::BasicBlock* const end = builder_.GetInsertBlock();
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
  for (size_t k = 0; k < values.size(); ++k) {
    if (changed[k] == values[k]) continue;
    llvm::PHINode* const phi = builder_.CreatePHI(values[k]->getType(), 2);
    phi->addIncoming(values[k], before);
    phi->addIncoming(changed[k], end);
    values[k] = phi;
  }
}

void RowEmitter::If(llvm::Value* condition, const std::function<void()>& then) {
  LlvmValues none;
  If(condition, none, [&](LlvmValues&) { then(); });
}

// --- a row ------------------------------------------------------------------------------------------------------------

void RowEmitter::Emit(llvm::Value* lo, llvm::Value* rows) {
  count_ = emitter_.Trips(Long(0), emitter_.Get(plan_.count));
  slices_ = builder_.CreateLShr(count_, 6);
  llvm::Value* const thread = emitter_.Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
  llvm::Value* const lane = builder_.CreateAnd(thread, Long(Warp - 1));
  lane_ = builder_.CreateAnd(lane, Long(form_.lanes - 1));
  first_lane_ = builder_.CreateTrunc(builder_.CreateSub(lane, lane_), builder_.getInt32Ty());
  const uint64_t shift = form_.lanes == 8 ? 3 : form_.lanes == 16 ? 4 : 5;
  llvm::Value* const in_block = builder_.CreateLShr(thread, shift);
  llvm::Value* const of_block =
      builder_.CreateLShr(emitter_.Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x), shift);
  llvm::Value* const room =
      builder_.CreateShl(builder_.CreateLShr(builder_.CreateAdd(count_, Long(RowSlice - 1)), 6), 6);
  FindKept(in_block, room);
  // All lanes of a warp go on together, those behind the last row with that one and without storing.
  llvm::Value* const in_warp = builder_.CreateLShr(lane, shift);
  llvm::Value* const block = emitter_.Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  llvm::Value* const first = builder_.CreateAdd(builder_.CreateMul(block, of_block),
                                                builder_.CreateSub(in_block, in_warp));
  llvm::Value* const stride =
      builder_.CreateMul(of_block, emitter_.Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x));
  emitter_.Stride(first, rows, stride, [&](llvm::Value* r) {
    llvm::Value* row = r;
    is_active_ = nullptr;
    if (form_.lanes < Warp) {
      row = builder_.CreateAdd(r, in_warp);
      is_active_ = builder_.CreateICmpULT(row, rows);
      row = builder_.CreateSelect(is_active_, row, r);
    }
    emitter_.Set(counter_, builder_.CreateAdd(lo, row));
    for (RowArrayPlace& place : places_) {
      llvm::Value* const index = builder_.CreateAdd(
          builder_.CreateMul(EvaluateForm(emitter_, place.array->row), emitter_.Get(counter_)),
          EvaluateForm(emitter_, place.array->offset));
      place.row =
          emitter_.ElementAddress(place.array->element, emitter_.Get(place.array->buffer), index);
      place.lane = emitter_.ElementAddress(place.array->element, place.row,
                                           builder_.CreateMul(lane_, Long(form_.width)));
    }
    for (group_ = 0; group_ < plan_.groups.size(); ++group_) {
      for (ir::InstId id : plan_.groups[group_].scalars) EmitScalar(function_.inst(id));
      EmitPasses();
    }
  });
}

// Each row of the block has a place in shared memory, and each array that is kept a part of that.
void RowEmitter::FindKept(llvm::Value* in_block, llvm::Value* room) {
  llvm::Value* const base = builder_.CreateInBoundsGEP(
      builder_.getInt8Ty(), emitter_.shared_.Dynamic(),
      builder_.CreateMul(in_block, builder_.CreateMul(room, Long(plan_.kept_bytes))));
  for (size_t a = 0; a < plan_.arrays.size(); ++a) {
    const RowArray& array = plan_.arrays[a];
    if (!array.is_kept) continue;
    llvm::Value* const first = builder_.CreateInBoundsGEP(
        builder_.getInt8Ty(), base, builder_.CreateMul(room, Long(array.place)));
    places_[a].kept =
        emitter_.ElementAddress(array.element, first, builder_.CreateMul(lane_, Long(form_.width)));
  }
}

void RowEmitter::EmitScalar(const Inst& inst) {
  if (inst.op != Op::Store) return emitter_.EmitInst(inst);
  llvm::Value* is_mine = builder_.CreateICmpEQ(lane_, Long(0));
  if (is_active_ != nullptr) is_mine = builder_.CreateAnd(is_mine, is_active_);
  If(is_mine, [&] { emitter_.EmitInst(inst); });
}

void RowEmitter::EmitPasses() {
  const RowGroup& group = plan_.groups[group_];
  if (group.passes.empty()) return;
  FindReciprocals();
  folds_.clear();
  for (ir::InstId id : group.passes)
    if (IsFoldLoop(function_.inst(id))) folds_.push_back(FoldOf(id));
  if (folds_.empty()) {
    Slices(Long(0), slices_, {});
    LlvmValues none;
    If(HasRest(), none, [&](LlvmValues& chains) { EmitSlices({slices_}, chains, true); });
    return;
  }
  EmitBlocks();
}

llvm::Value* RowEmitter::HasRest() {
  return builder_.CreateICmpNE(builder_.CreateAnd(count_, Long(RowSlice - 1)), Long(0));
}

// Whole slices from one to another, several at once as long as there are as many: where elements come from memory and
// little is made of them, more, so that enough of them are on their way.
LlvmValues RowEmitter::Slices(llvm::Value* from, llvm::Value* to, LlvmValues chains) {
  constexpr uint32_t ManyOfLong = 16;
  std::vector<uint32_t> steps = {form_.unroll};
  if (form_.lanes == Warp && IsReading()) steps.insert(steps.begin(), ManyOfLong);
  if (form_.unroll > 4) steps.push_back(4);
  if (form_.unroll > 1) steps.push_back(1);
  for (const uint32_t step : steps) {
    llvm::Value* const whole =
        builder_.CreateAnd(builder_.CreateSub(to, from), Long(~uint64_t{step - 1}));
    llvm::Value* const end = step == 1 ? to : builder_.CreateAdd(from, whole);
    chains = Loop(from, end, step, chains, [&](llvm::Value* s, LlvmValues& values) {
      LlvmValues slices;
      for (uint32_t u = 0; u < step; ++u) slices.push_back(builder_.CreateAdd(s, Long(u)));
      EmitSlices(slices, values, false);
    });
    from = end;
  }
  return chains;
}

// Does the group read memory, and make little of it?
bool RowEmitter::IsReading() const {
  constexpr size_t Little = 12;
  bool reads = false;
  for (const RowArray& array : plan_.arrays)
    reads |= array.reads[group_] && array.first_use == static_cast<int>(group_);
  size_t insts = 0;
  for (ir::InstId id : plan_.groups[group_].passes)
    for (ir::InstId inner : function_.region(Function::region_of(function_.inst(id), 0)).insts)
      insts += function_.inst(inner).op == Op::Call ? Little + 1 : 1;
  return reads && insts <= Little;
}

// --- folds ------------------------------------------------------------------------------------------------------------

RowEmitter::Fold RowEmitter::FoldOf(ir::InstId id) {
  const Inst& loop = function_.inst(id);
  const std::vector<ir::InstId>& body = function_.region(Function::region_of(loop, 0)).insts;
  const ValueId next = function_.operand(function_.inst(body.back()), 0);
  Fold fold;
  fold.loop = &loop;
  fold.joins = facts_.definition[next.index];
  fold.op = function_.inst(fold.joins).op;
  fold.type = function_.type(Function::result_of(loop));
  fold.element = function_.operand(function_.inst(fold.joins), 1);
  llvm::Type* const type = emitter_.ops_.TypeOf(fold.type);
  using Limits = std::numeric_limits<double>;
  const double none = fold.op == Op::Add       ? -0.0
                      : fold.op == Op::Mul     ? 1.0
                      : fold.op == Op::Minimum ? Limits::infinity()
                      : fold.op == Op::Maximum ? -Limits::infinity()
                                               : Limits::quiet_NaN();
  fold.none = llvm::ConstantFP::get(type, none);
  return fold;
}

llvm::Value* RowEmitter::Join(const Fold& fold, llvm::Value* a, llvm::Value* b) {
  return emitter_.Combine(fold.op, fold.type, a, b);
}

// Blocks of 4096 elements, and the folds' results.
void RowEmitter::EmitBlocks() {
  llvm::Value* const blocks =
      builder_.CreateLShr(builder_.CreateAdd(count_, Long(FoldBlock - 1)), 12);
  llvm::Value* const one = builder_.CreateICmpULE(blocks, Long(1));
  LlvmValues totals;  // of each fold, and an element that may be alone
  for (Fold& fold : folds_) {
    totals.insert(totals.end(), {emitter_.Get(function_.operand(*fold.loop, 2)), fold.none});
    fold.levels = Levels(fold);
  }
  totals = Loop(Long(0), blocks, 1, totals, [&](llvm::Value* block, LlvmValues& results) {
    llvm::Value* const from = builder_.CreateShl(block, 6);
    llvm::Value* const to = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, builder_.CreateAdd(from, Long(SlicesOfBlock)), slices_);
    LlvmValues chains;
    for (const Fold& fold : folds_) chains.insert(chains.end(), Elements() + 1, fold.none);
    chains = Slices(from, to, chains);
    llvm::Value* const is_last = builder_.CreateICmpEQ(builder_.CreateAdd(block, Long(1)), blocks);
    If(builder_.CreateAnd(is_last, HasRest()), chains,
       [&](LlvmValues& values) { EmitSlices({slices_}, values, true); });
    for (size_t f = 0; f < folds_.size(); ++f) {
      const std::span<llvm::Value* const> own = ChainsOf(chains, f);
      results[2 * f] = FoldChainsOf(folds_[f], own.first(Elements()));
      results[2 * f + 1] = own.back();
      If(builder_.CreateNot(one), [&] { Push(folds_[f], block, results[2 * f]); });
    }
  });
  for (size_t f = 0; f < folds_.size(); ++f) {
    const Fold& fold = folds_[f];
    LlvmValues result = {totals[2 * f]};
    If(builder_.CreateNot(one), result, [&](LlvmValues& values) { values[0] = Pop(fold, blocks); });
    result[0] = emitter_.ops_.Canonical(result[0]);
    // One element alone is not computed with: its bits stay.
    if (!facts_.arithmetic[fold.element.index])
      If(builder_.CreateICmpEQ(count_, Long(1)), result, [&](LlvmValues& values) {
        values[0] = emitter_.FromLane(totals[2 * f + 1], first_lane_);
      });
    emitter_.Set(Function::result_of(*fold.loop), result[0]);
  }
}

// By halves: chains of the lane itself, then of other lanes, then again of its own.
llvm::Value* RowEmitter::FoldChainsOf(const Fold& fold, std::span<llvm::Value* const> chains) {
  LlvmValues sums(chains.begin(), chains.end());
  const uint32_t across = form_.lanes * form_.width;
  for (uint32_t distance = RowSlice / 2; distance > 0; distance /= 2) {
    if (distance >= across) {
      const uint32_t half = distance / across * form_.width;
      for (uint32_t k = 0; k < half; ++k) sums[k] = Join(fold, sums[k], sums[k + half]);
    } else if (distance >= form_.width) {
      for (uint32_t v = 0; v < form_.width; ++v)
        sums[v] = Join(fold, sums[v], emitter_.FromLaneAbove(sums[v], distance / form_.width));
    } else {
      for (uint32_t v = 0; v < distance; ++v) sums[v] = Join(fold, sums[v], sums[v + distance]);
    }
  }
  return emitter_.FromLane(sums[0], first_lane_);
}

// Results of 2^level blocks each wait for a neighbor.
llvm::Value* RowEmitter::Levels(const Fold& fold) {
  llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  llvm::BasicBlock& entry = emitter_.target_->getEntryBlock();
  builder_.SetInsertPoint(&entry, entry.begin());
  return builder_.CreateAlloca(llvm::ArrayType::get(emitter_.ops_.TypeOf(fold.type), MostLevels));
}

void RowEmitter::Push(const Fold& fold, llvm::Value* block, llvm::Value* result) {
  llvm::Value* const ones = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::cttz, builder_.CreateNot(block), builder_.getFalse());
  const auto level = [&](llvm::Value* l) {
    return emitter_.ElementAddress(fold.type, fold.levels, l);
  };
  const LlvmValues joined =
      Loop(Long(0), ones, 1, {result}, [&](llvm::Value* l, LlvmValues& values) {
        values[0] = Join(fold, emitter_.LoadElement(fold.type, level(l)), values[0]);
      });
  emitter_.StoreElement(fold.type, level(ones), joined[0]);
}

llvm::Value* RowEmitter::Pop(const Fold& fold, llvm::Value* blocks) {
  llvm::Value* const first =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, blocks, builder_.getFalse());
  const auto load = [&](llvm::Value* l) {
    return emitter_.LoadElement(fold.type, emitter_.ElementAddress(fold.type, fold.levels, l));
  };
  llvm::Value* const last = builder_.CreateSub(
      Long(64), builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, blocks, builder_.getFalse()));
  return Loop(builder_.CreateAdd(first, Long(1)), last, 1, {load(first)},
              [&](llvm::Value* l, LlvmValues& values) {
                llvm::Value* const bit =
                    builder_.CreateAnd(builder_.CreateLShr(blocks, l), Long(1));
                If(builder_.CreateICmpNE(bit, Long(0)), values,
                   [&](LlvmValues& changed) { changed[0] = Join(fold, load(l), changed[0]); });
              })[0];
}

RowEmitter::RowEmitter(KernelEmitter& emitter, const Inst& parallel, const RowPlan& plan,
                       const RowForm& form)
    : emitter_(emitter),
      builder_(emitter.builder_),
      function_(emitter.function_),
      facts_(emitter.facts_),
      plan_(plan),
      form_(form),
      counter_(Function::param_of(emitter.function_.region(Function::region_of(parallel, 0)), 0)) {
  for (const RowArray& array : plan.arrays) places_.push_back({&array});
}

// --- the kernel -------------------------------------------------------------------------------------------------------

bool KernelEmitter::EmitInRow(const Inst& access) { return row_->EmitAccess(access); }

// Rows in whole 16 bytes have wide accesses, and fewer lanes the shorter they are; the host counts on that
// (driver/callable.cpp). Others have 32.
void KernelEmitter::EmitRows(const Step& step) {
  const Inst& parallel = function_.inst(step.insts[0]);
  const RowPlan& plan = *step.rows;
  llvm::Value* const lo = Get(function_.operand(parallel, 0));
  llvm::Value* const rows = Trips(lo, Get(function_.operand(parallel, 1)));
  place_ = {builder_.getInt64(0), lo, builder_.getInt64(1), builder_.getTrue()};
  llvm::BasicBlock* const done = NewBlock("done");
  const auto emit = [&](const RowForm& form) {
    RowEmitter(*this, parallel, plan, form).Emit(lo, rows);
    builder_.CreateBr(done);
  };
  const auto choose = [&](llvm::Value* condition, const RowForm& form) {
    llvm::BasicBlock* const yes = NewBlock("yes");
    llvm::BasicBlock* const no = NewBlock("no");
    builder_.CreateCondBr(condition, yes, no);
    builder_.SetInsertPoint(yes);
    emit(form);
    builder_.SetInsertPoint(no);
  };
  const RowShape& shape = shared_.row;
  if (long_rows_ && plan.kept_bytes > 0)
    choose(builder_.CreateICmpEQ(Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_dynamic_smem_size),
                                 builder_.getInt64(0)),
           {.lanes = 32, .width = 1, .unroll = 4, .keeps = false});
  llvm::Value* rest = builder_.getInt64(0);
  for (const RowArray& array : plan.arrays)
    rest = builder_.CreateOr(
        rest, builder_.CreateOr(EvaluateForm(*this, array.row), EvaluateForm(*this, array.offset)));
  choose(
      builder_.CreateICmpNE(builder_.CreateAnd(rest, builder_.getInt64(3)), builder_.getInt64(0)),
      {.lanes = 32, .width = 1, .unroll = 4, .keeps = true});
  if (long_rows_) {
    emit({.lanes = LanesOfLongRow, .width = 2, .unroll = shape.unroll, .keeps = true});
  } else {
    choose(builder_.CreateICmpSLE(Get(plan.count), builder_.getInt64(ShortRow)),
           {.lanes = LanesOfShortRow, .width = 4, .unroll = 1, .keeps = true});
    emit({.lanes = LanesOfMiddleRow, .width = 4, .unroll = 2, .keeps = true});
  }
  builder_.SetInsertPoint(done);
}

}  // namespace frazil::targets::cuda
