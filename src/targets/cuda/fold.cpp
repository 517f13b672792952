// A reduction in its defined tree. First a warp for each block of 4096 elements: a thread has chains `lane` and
// `lane + 32`, so that the fold by halves needs no barrier. Then one block of threads combines the blocks' results by
// adjacent pairs, in place: a row of pairs is read before any of it is written.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "targets/cuda/kernel_emitter.h"

namespace frazil::targets::cuda {

namespace {

// 63 rows follow the first of a block.
constexpr uint64_t RowsAtOnce = 9;
static_assert((FoldBlock / FoldChains - 1) % RowsAtOnce == 0);

}  // namespace

llvm::Value* KernelEmitter::Join(const FoldMatch& fold, llvm::Value* a, llvm::Value* b) {
  llvm::Value* const value = Combine(fold.op, fold.type, a, b);
  return ir::Contains(ir::sets::Wide, fold.type.scalar) ? ops_.Canonical(value) : value;
}

// `max.f32` and the others drop a NaN and order zeros as `max` does (PTX ISA, floating-point min and max).
llvm::Value* KernelEmitter::Combine(ir::Op op, ir::Type type, llvm::Value* a, llvm::Value* b) {
  const bool is_extreme = op == ir::Op::Min || op == ir::Op::Max;
  if (is_extreme && ir::Contains(ir::sets::Wide, type.scalar))
    return builder_.CreateBinaryIntrinsic(
        op == ir::Op::Min ? llvm::Intrinsic::minimumnum : llvm::Intrinsic::maximumnum, a, b);
  llvm::Value* const operands[] = {a, b};
  return ops_.Compute(op, type, type, operands);
}

// The value of the thread `distance` lanes above.
llvm::Value* KernelEmitter::FromLaneAbove(llvm::Value* value, uint32_t distance) {
  return Shuffle(value, llvm::Intrinsic::nvvm_shfl_sync_down_i32, builder_.getInt32(distance));
}

llvm::Value* KernelEmitter::FromLane(llvm::Value* value, llvm::Value* lane) {
  return Shuffle(value, llvm::Intrinsic::nvvm_shfl_sync_idx_i32, lane);
}

llvm::Value* KernelEmitter::Shuffle(llvm::Value* value, llvm::Intrinsic::ID how,
                                    llvm::Value* operand) {
  llvm::Type* const type = value->getType();
  const uint32_t bits = type->getScalarSizeInBits();
  llvm::Value* whole =
      type->isFloatingPointTy() ? builder_.CreateBitCast(value, builder_.getIntNTy(bits)) : value;
  auto shuffle = [&](llvm::Value* word) -> llvm::Value* {
    return builder_.CreateIntrinsic(
        builder_.getInt32Ty(), how,
        {builder_.getInt32(0xffffffff), word, operand, builder_.getInt32(31)});
  };
  if (bits <= 32) {
    whole = builder_.CreateTrunc(shuffle(builder_.CreateZExt(whole, builder_.getInt32Ty())),
                                 builder_.getIntNTy(bits));
  } else {
    llvm::Value* const low = shuffle(builder_.CreateTrunc(whole, builder_.getInt32Ty()));
    llvm::Value* const high =
        shuffle(builder_.CreateTrunc(builder_.CreateLShr(whole, 32), builder_.getInt32Ty()));
    whole =
        builder_.CreateOr(builder_.CreateZExt(low, builder_.getInt64Ty()),
                          builder_.CreateShl(builder_.CreateZExt(high, builder_.getInt64Ty()), 32));
  }
  return builder_.CreateBitCast(whole, type);
}

// Element `e`. Checked, it traps as the loop in order would: elements come in rows, so the least one that traps is first,
// and its iteration is its place in its row.
llvm::Value* KernelEmitter::Element(const FoldMatch& fold, llvm::Value* e, bool checked) {
  Set(fold.index, e);
  place_.t = e;
  for (ir::InstId id : fold.element) {
    const ir::Inst& inst = function_.inst(id);
    if (checked || inst.op != ir::Op::Load)
      EmitInst(inst);
    else
      SetResult(inst, LoadElement(inst.type,
                                  ElementAddress(inst.type, Get(function_.operand(inst, 0)), e)));
  }
  return Get(fold.value);
}

// Both chains of a thread in a block that is not whole, or in which something may trap: rows in order, for of a thread's own
// elements the first that traps must be the least (it ends the thread).
std::pair<llvm::Value*, llvm::Value*> KernelEmitter::FoldPart(const FoldMatch& fold,
                                                              llvm::Value* first,
                                                              llvm::Value* end) {
  llvm::Type* const type = ops_.TypeOf(fold.type);
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const head = NewBlock("head");
  llvm::BasicBlock* const after = NewBlock("after");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* const row = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  llvm::PHINode* const sums[] = {builder_.CreatePHI(type, 2), builder_.CreatePHI(type, 2)};
  row->addIncoming(first, before);
  for (llvm::PHINode* sum : sums) sum->addIncoming(llvm::Constant::getNullValue(type), before);
  llvm::Value* const is_first = builder_.CreateICmpEQ(row, first);
  llvm::Value* joined[2] = {};
  llvm::BasicBlock* skipped = nullptr;  // where there is no second half
  for (uint64_t half = 0; half < 2; ++half) {
    llvm::Value* const e = builder_.CreateAdd(row, builder_.getInt64(half * FoldChains / 2));
    llvm::BasicBlock* const turn = NewBlock("turn");
    llvm::BasicBlock* const here = builder_.GetInsertBlock();
    if (half == 1) skipped = NewBlock("joined");
    builder_.CreateCondBr(builder_.CreateICmpULT(e, end), turn, half == 0 ? after : skipped);
    builder_.SetInsertPoint(turn);
    llvm::Value* const element = Element(fold, e, true);
    // A chain starts at its first element.
    joined[half] = builder_.CreateSelect(is_first, element, Join(fold, sums[half], element));
    if (half == 0) continue;
    llvm::BasicBlock* const turn_end = builder_.GetInsertBlock();
    builder_.CreateBr(skipped);
    builder_.SetInsertPoint(skipped);
    llvm::PHINode* const high = builder_.CreatePHI(type, 2);
    high->addIncoming(sums[1], here);
    high->addIncoming(joined[1], turn_end);
    joined[1] = high;
  }
  row->addIncoming(builder_.CreateAdd(row, builder_.getInt64(FoldChains)), skipped);
  for (int k = 0; k < 2; ++k) sums[k]->addIncoming(joined[k], skipped);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(after);
  return {sums[0], sums[1]};
}

// Both chains of a thread in a whole block: several rows are loaded before the first is used.
std::pair<llvm::Value*, llvm::Value*> KernelEmitter::FoldWhole(const FoldMatch& fold,
                                                               llvm::Value* start,
                                                               llvm::Value* lane) {
  llvm::Type* const type = ops_.TypeOf(fold.type);
  auto element = [&](llvm::Value* e) { return Element(fold, builder_.CreateAdd(start, e), false); };
  llvm::Value* const half = builder_.getInt64(FoldChains / 2);
  llvm::Value* const first = element(lane);
  llvm::Value* const second = element(builder_.CreateAdd(lane, half));
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const turn = NewBlock("rows");
  llvm::BasicBlock* const after = NewBlock("after");
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(turn);
  llvm::PHINode* const row = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  llvm::PHINode* sums[] = {builder_.CreatePHI(type, 2), builder_.CreatePHI(type, 2)};
  row->addIncoming(builder_.getInt64(FoldChains), before);
  sums[0]->addIncoming(first, before);
  sums[1]->addIncoming(second, before);
  LlvmValues loaded;
  for (uint64_t r = 0; r < 2 * RowsAtOnce; ++r)
    loaded.push_back(element(
        builder_.CreateAdd(builder_.CreateAdd(row, lane), builder_.getInt64(r * FoldChains / 2))));
  llvm::Value* joined[] = {sums[0], sums[1]};
  for (uint64_t r = 0; r < 2 * RowsAtOnce; ++r)
    joined[r % 2] = Join(fold, joined[r % 2], loaded[r]);
  llvm::Value* const next = builder_.CreateAdd(row, builder_.getInt64(RowsAtOnce * FoldChains));
  llvm::BasicBlock* const end = builder_.GetInsertBlock();
  row->addIncoming(next, end);
  for (int k = 0; k < 2; ++k) sums[k]->addIncoming(joined[k], end);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, builder_.getInt64(FoldBlock)), turn, after);
  builder_.SetInsertPoint(after);
  return {joined[0], joined[1]};
}

llvm::Value* KernelEmitter::FoldBlocks(llvm::Value* count) {
  llvm::Value* const up = builder_.CreateAdd(count, builder_.getInt64(FoldBlock - 1));
  return builder_.CreateLShr(up, builder_.getInt64(12));
}

void KernelEmitter::EmitFoldBlocks(const FoldMatch& fold) {
  llvm::Value* const count = Get(fold.count);
  llvm::Value* const blocks = FoldBlocks(count);
  place_ = {builder_.getInt64(0), builder_.getInt64(0),
            builder_.getInt64(static_cast<uint64_t>(-FoldChains)), builder_.getTrue()};
  TrapIf(builder_.CreateICmpUGT(blocks, LengthOf(fold.blocks)), ir::Trap::OutOfBounds,
         ir::Op::Store);
  llvm::Value* const thread = ThreadInGrid();
  llvm::Value* const lane = builder_.CreateAnd(thread, builder_.getInt64(31));
  llvm::Value* const warps = builder_.CreateLShr(ThreadsInGrid(), 5);
  Stride(builder_.CreateLShr(thread, 5), blocks, warps, [&](llvm::Value* block) {
    llvm::Value* const start = builder_.CreateShl(block, 12);
    llvm::Value* const size = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, builder_.CreateSub(count, start), builder_.getInt64(FoldBlock));
    llvm::BasicBlock* const whole = NewBlock("whole");
    llvm::BasicBlock* const part = NewBlock("part");
    llvm::BasicBlock* const join = NewBlock("join");
    llvm::Value* const end = builder_.CreateAdd(start, size);
    llvm::Value* fits = builder_.CreateICmpEQ(size, builder_.getInt64(FoldBlock));
    for (ir::ValueId buffer : fold.buffers)
      fits = builder_.CreateAnd(fits, builder_.CreateICmpULE(end, LengthOf(buffer)));
    builder_.CreateCondBr(fits, whole, part);
    builder_.SetInsertPoint(whole);
    const auto [whole_low, whole_high] = FoldWhole(fold, start, lane);
    llvm::BasicBlock* const whole_end = builder_.GetInsertBlock();
    builder_.CreateBr(join);
    builder_.SetInsertPoint(part);
    llvm::Value* const first = builder_.CreateAdd(start, lane);
    const auto [part_low, part_high] = FoldPart(fold, first, end);
    llvm::BasicBlock* const part_end = builder_.GetInsertBlock();
    builder_.CreateBr(join);
    builder_.SetInsertPoint(join);
    llvm::PHINode* const low = builder_.CreatePHI(whole_low->getType(), 2);
    llvm::PHINode* const high = builder_.CreatePHI(whole_low->getType(), 2);
    low->addIncoming(whole_low, whole_end);
    low->addIncoming(part_low, part_end);
    high->addIncoming(whole_high, whole_end);
    high->addIncoming(part_high, part_end);
    // Chains that are absent are skipped.
    llvm::Value* sum = low;
    for (uint32_t distance = FoldChains / 2; distance > 0; distance /= 2) {
      llvm::Value* const other = distance == FoldChains / 2 ? high : FromLaneAbove(sum, distance);
      llvm::Value* const partner = builder_.CreateAdd(lane, builder_.getInt64(distance));
      llvm::Value* const present =
          builder_.CreateAnd(builder_.CreateICmpULT(partner, size),
                             builder_.CreateICmpULT(lane, builder_.getInt64(distance)));
      sum = builder_.CreateSelect(present, Join(fold, sum, other), sum);
    }
    llvm::BasicBlock* const store = NewBlock("store");
    llvm::BasicBlock* const done = NewBlock("done");
    builder_.CreateCondBr(builder_.CreateICmpEQ(lane, builder_.getInt64(0)), store, done);
    builder_.SetInsertPoint(store);
    StoreElement(fold.type, ElementAddress(fold.type, Get(fold.blocks), block), sum);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  });
}

void KernelEmitter::EmitFoldPairs(const FoldMatch& fold) {
  llvm::Value* const count = Get(fold.count);
  llvm::Value* const blocks = Get(fold.blocks);
  llvm::Value* const one = builder_.getInt64(1);
  auto address = [&](llvm::Value* i) { return ElementAddress(fold.type, blocks, i); };
  llvm::Value* const thread = Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
  llvm::Value* const threads = Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::Value* const start = FoldBlocks(count);
  llvm::BasicBlock* const turn = NewBlock("level");
  llvm::BasicBlock* const body = NewBlock("pairs");
  llvm::BasicBlock* const after = NewBlock("after");
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(turn);
  llvm::PHINode* const left = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  left->addIncoming(start, before);
  builder_.CreateCondBr(builder_.CreateICmpUGT(left, one), body, after);
  builder_.SetInsertPoint(body);
  llvm::Value* const half = builder_.CreateLShr(left, one);
  Stride(builder_.getInt64(0), half, threads, [&](llvm::Value* row) {
    llvm::Value* const i = builder_.CreateAdd(row, thread);
    llvm::Value* const mine = builder_.CreateICmpULT(i, half);
    // Threads without a pair read the first one again.
    llvm::Value* const pair =
        builder_.CreateSelect(mine, builder_.CreateShl(i, one), builder_.getInt64(0));
    llvm::Value* const sum = Join(fold, LoadElement(fold.type, address(pair)),
                                  LoadElement(fold.type, address(builder_.CreateAdd(pair, one))));
    Barrier();
    llvm::BasicBlock* const store = NewBlock("store");
    llvm::BasicBlock* const done = NewBlock("done");
    builder_.CreateCondBr(mine, store, done);
    builder_.SetInsertPoint(store);
    StoreElement(fold.type, address(i), sum);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    Barrier();
  });
  // The last one of an odd number moves up as it is.
  llvm::Value* const odd = builder_.CreateAnd(left, one);
  llvm::Value* const rest = LoadElement(fold.type, address(builder_.CreateSub(left, one)));
  Barrier();
  llvm::BasicBlock* const move = NewBlock("move");
  llvm::BasicBlock* const moved = NewBlock("moved");
  builder_.CreateCondBr(builder_.CreateAnd(builder_.CreateICmpNE(odd, builder_.getInt64(0)),
                                           builder_.CreateICmpEQ(thread, builder_.getInt64(0))),
                        move, moved);
  builder_.SetInsertPoint(move);
  StoreElement(fold.type, address(half), rest);
  builder_.CreateBr(moved);
  builder_.SetInsertPoint(moved);
  Barrier();
  left->addIncoming(builder_.CreateAdd(half, odd), builder_.GetInsertBlock());
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(after);
  // Without elements there is no block to read.
  llvm::BasicBlock* const some = NewBlock("some");
  llvm::BasicBlock* const joined = NewBlock("joined");
  builder_.CreateCondBr(builder_.CreateICmpEQ(count, builder_.getInt64(0)), joined, some);
  builder_.SetInsertPoint(some);
  llvm::Value* const total = LoadElement(fold.type, address(builder_.getInt64(0)));
  builder_.CreateBr(joined);
  builder_.SetInsertPoint(joined);
  llvm::PHINode* const result = builder_.CreatePHI(total->getType(), 2);
  result->addIncoming(ops_.Constant(fold.type, fold.identity), after);
  result->addIncoming(total, some);
  Set(fold.result, result);
  dirty_ = true;
}

}  // namespace frazil::targets::cuda
