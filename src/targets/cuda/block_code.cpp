// What threads do in their own way: scratch memory, atomics, loops that watch the stop flag; and what the threads of a
// block do together. In cooperative code every thread computes all scalars, so that branches are taken by all; a store
// is made by one thread between two barriers, because others may not have read the old element yet.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "targets/cuda/kernel_emitter.h"

namespace frazil::targets::cuda {

using namespace ir::names;

namespace {

constexpr llvm::Align WordAlign = llvm::Align::Constant<8>();
constexpr uint32_t StopWord = 3;
// A loop looks at the stop flag once in so many turns.
constexpr uint32_t TurnsPerPoll = 4096;

}  // namespace

bool KernelEmitter::EmitOwn(const Inst& inst) {
  const auto id = static_cast<size_t>(&inst - function_.insts.data());
  switch (inst.op) {
    case Op::Parallel:
      if (!cooperative_ || !shared_.plan.shared_out[id]) return false;
      EmitShared(inst);
      return true;
    case Op::Call: EmitCall(inst); return true;
    case Op::Alloc: cooperative_ ? EmitAlloc(inst) : EmitLocalAlloc(inst); return true;
    case Op::AtomicRmw:
    case Op::AtomicCas: EmitAtomic(inst); return true;
    case Op::Min:
    case Op::Max:
      if (!ir::Contains(ir::sets::Wide, inst.type.scalar)) return false;
      SetResult(inst, Combine(inst.op, inst.type, Get(function_.operand(inst, 0)),
                              Get(function_.operand(inst, 1))));
      return true;
    case Op::Load:
      dirty_ = true;
      if (row_ != nullptr) return EmitInRow(inst);
      return group_ && EmitFromGroup(inst);
    case Op::Store: {
      if (row_ != nullptr) return EmitInRow(inst);
      if (!cooperative_) return false;
      llvm::Value* const address = CheckedAddress(inst);
      ByOneThread([&] {
        StoreElement(function_.type(function_.operand(inst, 0)).element(), address,
                     Get(function_.operand(inst, 2)));
      });
      return true;
    }
    default: return false;
  }
}

// --- threads of a block -------------------------------------------------------------------------------------------

void KernelEmitter::OpenBlock() {
  shared_offset_ = builder_.getInt64(0);
  llvm::Value* const thread = Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
  llvm::BasicBlock* const first = NewBlock("first");
  llvm::BasicBlock* const go = NewBlock("go");
  builder_.CreateCondBr(builder_.CreateICmpEQ(thread, builder_.getInt64(0)), first, go);
  builder_.SetInsertPoint(first);
  builder_.CreateAlignedStore(builder_.getInt64(0), shared_.Block(), WordAlign);
  builder_.CreateBr(go);
  builder_.SetInsertPoint(go);
  Barrier();
}

void KernelEmitter::Barrier() {
  builder_.CreateIntrinsic(builder_.getVoidTy(), llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all,
                           {builder_.getInt32(0)});
  dirty_ = false;
}

void KernelEmitter::ByOneThread(const std::function<void()>& code) {
  if (!cooperative_) return code();
  if (dirty_) Barrier();
  llvm::BasicBlock* const one = NewBlock("one");
  llvm::BasicBlock* const all = NewBlock("all");
  llvm::Value* const thread = Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
  builder_.CreateCondBr(builder_.CreateICmpEQ(thread, builder_.getInt64(0)), one, all);
  builder_.SetInsertPoint(one);
  code();
  builder_.CreateBr(all);
  builder_.SetInsertPoint(all);
  Barrier();
}

// The barrier before has made the flag visible.
void KernelEmitter::StopIfTrapped() {
  llvm::BasicBlock* const stop = NewBlock("stop");
  llvm::BasicBlock* const go = NewBlock("go");
  llvm::LoadInst* const flag =
      builder_.CreateAlignedLoad(builder_.getInt64Ty(), shared_.Block(), WordAlign);
  flag->setVolatile(true);
  BranchUnlikely(builder_.CreateICmpNE(flag, builder_.getInt64(0)), stop, go);
  builder_.SetInsertPoint(stop);
  builder_.CreateIntrinsic(builder_.getVoidTy(), llvm::Intrinsic::nvvm_exit, {});
  builder_.CreateUnreachable();
  builder_.SetInsertPoint(go);
}

void KernelEmitter::EmitShared(const Inst& parallel) {
  if (dirty_) Barrier();
  const ir::RegionId region = Function::region_of(parallel, 0);
  llvm::Value* const lo = Get(function_.operand(parallel, 0));
  llvm::Value* const trips = Trips(lo, Get(function_.operand(parallel, 1)));
  const Place outer = CurrentPlace();
  llvm::Value* const outer_index = parallel_index_;
  // In kernels, the only ones that cooperate, `inside` is a constant.
  const bool in_parallel =
      outer_index != nullptr || llvm::cast<llvm::ConstantInt>(place_.inside)->isOne();
  const Place before = place_;
  cooperative_ = false;
  Stride(Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x), trips,
         Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x), [&](llvm::Value* j) {
           Set(Function::param_of(function_.region(region), 0), builder_.CreateAdd(lo, j));
           if (in_parallel) {
             // Block first, then lane; the iteration is that of the outermost parallel.
             llvm::Value* const lane = builder_.CreateBinaryIntrinsic(
                 llvm::Intrinsic::umin, j, builder_.getInt64((1 << 20) - 1));
             place_ = {builder_.CreateAdd(outer.t, lane), outer.lo,
                       outer_index != nullptr ? builder_.getInt64(1 << 20) : outer.div,
                       builder_.getTrue()};
           } else {
             place_ = {j, lo, builder_.getInt64(1), builder_.getTrue()};
           }
           parallel_index_ = nullptr;
           EmitBody(region);
         });
  parallel_index_ = outer_index;
  place_ = before;
  cooperative_ = true;
  Barrier();
  StopIfTrapped();
}

// --- scratch memory -----------------------------------------------------------------------------------------------

llvm::Value* KernelEmitter::OpenScratch(ir::RegionId) {
  offsets_.push_back(shared_offset_);
  dirty_ = true;
  return nullptr;
}

void KernelEmitter::CloseScratch(llvm::Value*) {
  shared_offset_ = offsets_.back();
  offsets_.pop_back();
  dirty_ = true;
}

void KernelEmitter::EmitAlloc(const Inst& inst) {
  const ValueId result = Function::result_of(inst);
  llvm::Value* const length = Get(function_.operand(inst, 0));
  TrapIf(builder_.CreateICmpSLT(length, builder_.getInt64(0)), ir::Trap::Memory, inst.trap_op());
  llvm::Value* const bytes = builder_.CreateMul(length, builder_.getInt64(ir::BytesOf(inst.type)));
  llvm::Value* const room = builder_.CreateAnd(builder_.CreateAdd(bytes, builder_.getInt64(15)),
                                               builder_.getInt64(~uint64_t{15}));
  llvm::Value* const base =
      builder_.CreateInBoundsGEP(builder_.getInt8Ty(), shared_.Dynamic(), shared_offset_);
  Barrier();
  Stride(Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x), builder_.CreateLShr(room, 2),
         Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x), [&](llvm::Value* j) {
           builder_.CreateAlignedStore(builder_.getInt32(0),
                                       builder_.CreateInBoundsGEP(builder_.getInt32Ty(), base, j),
                                       llvm::Align(4));
         });
  Barrier();
  shared_offset_ = builder_.CreateAdd(shared_offset_, room);
  Set(result, base);
  SetLength(result, length);
}

void KernelEmitter::EmitLocalAlloc(const Inst& inst) {
  const ValueId result = Function::result_of(inst);
  llvm::Value* const length = Get(function_.operand(inst, 0));
  const int64_t constant = ConstantBytes(function_, facts_, inst);
  const auto bytes = static_cast<uint64_t>(constant > 0 ? constant : 0);
  llvm::AllocaInst* local = nullptr;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(&target_->getEntryBlock(), target_->getEntryBlock().begin());
    local = builder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt64Ty(), (bytes + 7) / 8));
    local->setAlignment(llvm::Align(16));
  }
  if (bytes > 0) {
    Stride(builder_.getInt64(0), builder_.getInt64((bytes + 7) / 8), builder_.getInt64(1),
           [&](llvm::Value* j) {
             builder_.CreateAlignedStore(
                 builder_.getInt64(0), builder_.CreateInBoundsGEP(builder_.getInt64Ty(), local, j),
                 WordAlign);
           });
  }
  Set(result, local);
  SetLength(result, length);
}

// --- loops and atomics ----------------------------------------------------------------------------------------------

void KernelEmitter::EndWhileTurn() {
  if (function_.is_prelude) return;
  if (turns_ == nullptr) {
    llvm::IRBuilderBase::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(&target_->getEntryBlock(), target_->getEntryBlock().begin());
    turns_ = builder_.CreateAlloca(builder_.getInt32Ty());
    builder_.CreateStore(builder_.getInt32(0), turns_);
    slots_.push_back(turns_);
  }
  llvm::Value* const turns =
      builder_.CreateAdd(builder_.CreateLoad(builder_.getInt32Ty(), turns_), builder_.getInt32(1));
  builder_.CreateStore(turns, turns_);
  llvm::BasicBlock* const poll = NewBlock("poll");
  llvm::BasicBlock* const go = NewBlock("go");
  llvm::Value* const low = builder_.CreateAnd(turns, builder_.getInt32(TurnsPerPoll - 1));
  BranchUnlikely(builder_.CreateICmpEQ(low, builder_.getInt32(0)), poll, go);
  builder_.SetInsertPoint(poll);
  llvm::LoadInst* const flag =
      builder_.CreateAlignedLoad(builder_.getInt64Ty(), RunWord(StopWord), WordAlign);
  flag->setVolatile(true);
  TrapIf(builder_.CreateICmpNE(flag, builder_.getInt64(0)), ir::Trap::Fuel, Op::While);
  builder_.CreateBr(go);
  builder_.SetInsertPoint(go);
}

void KernelEmitter::EmitAtomic(const Inst& inst) {
  llvm::Value* const address = CheckedAddress(inst);
  const ValueId result = Function::result_of(inst);
  if (!cooperative_) {
    llvm::Value* const old = Atomically(inst, address);
    return Set(result, old);
  }
  llvm::Value* const slot =
      builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), shared_.Block(), 1);
  ByOneThread([&] {
    builder_.CreateAlignedStore(ToWords(inst.type, Atomically(inst, address))[0], slot, WordAlign);
  });
  llvm::Value* const word = builder_.CreateAlignedLoad(builder_.getInt64Ty(), slot, WordAlign);
  Set(result, FromWords(inst.type, std::span(&word, 1)));
  dirty_ = true;
}

llvm::Value* KernelEmitter::Atomically(const Inst& inst, llvm::Value* address) {
  using Rmw = llvm::AtomicRMWInst;
  constexpr auto Order = llvm::AtomicOrdering::Monotonic;
  llvm::Value* const operand = Get(function_.operand(inst, 2));
  const llvm::Align align = AlignOf(inst.type);
  if (inst.op == Op::AtomicCas) {
    llvm::Value* const pair = builder_.CreateAtomicCmpXchg(
        address, operand, Get(function_.operand(inst, 3)), align, Order, Order);
    return builder_.CreateExtractValue(pair, 0);
  }
  const auto kind = static_cast<ir::AtomicKind>(function_.word(inst, 0));
  const bool is_signed = ir::IsSigned(inst.type.scalar);
  if (!ir::IsFloat(inst.type.scalar)) {
    const Rmw::BinOp op = kind == ir::AtomicKind::Add   ? Rmw::Add
                          : kind == ir::AtomicKind::Min ? (is_signed ? Rmw::Min : Rmw::UMin)
                          : kind == ir::AtomicKind::Max ? (is_signed ? Rmw::Max : Rmw::UMax)
                          : kind == ir::AtomicKind::And ? Rmw::And
                          : kind == ir::AtomicKind::Or  ? Rmw::Or
                          : kind == ir::AtomicKind::Xor ? Rmw::Xor
                                                        : Rmw::Xchg;
    return builder_.CreateAtomicRMW(op, address, operand, align, Order);
  }
  // The hardware's float atomics flush subnormal numbers: compare and exchange until nobody was in between.
  llvm::Type* const bits = builder_.getIntNTy(operand->getType()->getScalarSizeInBits());
  llvm::Value* const start = builder_.CreateAlignedLoad(bits, address, align);
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const turn = NewBlock("again");
  llvm::BasicBlock* const done = NewBlock("done");
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(turn);
  llvm::PHINode* const old = builder_.CreatePHI(bits, 2);
  old->addIncoming(start, before);
  llvm::Value* const value = builder_.CreateBitCast(old, operand->getType());
  llvm::Value* const wanted =
      builder_.CreateBitCast(ops_.Combine(kind, inst.type, value, operand), bits);
  llvm::Value* const pair = builder_.CreateAtomicCmpXchg(address, old, wanted, align, Order, Order);
  old->addIncoming(builder_.CreateExtractValue(pair, 0), builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateExtractValue(pair, 1), done, turn);
  builder_.SetInsertPoint(done);
  return value;
}

}  // namespace frazil::targets::cuda
