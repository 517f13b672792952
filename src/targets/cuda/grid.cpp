// Iterations over the threads of a grid. Any number of threads gives the right result: each takes every n-th iteration.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <set>

#include "targets/cuda/kernel_emitter.h"

namespace frazil::targets::cuda {

using namespace ir::names;

namespace {

constexpr llvm::Align GroupAlign = llvm::Align::Constant<16>();
// Traps of a block's threads: the block first, then the lane.
constexpr uint64_t LanesOfBlock = 1 << 20;

// As an element stands in memory.
llvm::Type* StoredType(const OpEmitter& ops, Builder& builder, ir::Type type) {
  return type.scalar == ir::Scalar::Bool ? builder.getInt8Ty() : ops.TypeOf(type);
}

// What a region reads and writes, regions inside of it included.
void FindBuffers(const Function& function, const FunctionFacts& facts, ir::RegionId region,
                 std::set<uint32_t>& found) {
  for (ir::InstId id : function.region(region).insts) {
    const Inst& inst = function.inst(id);
    if (!facts.needed[id.index]) continue;
    if (inst.op == Op::Load || inst.op == Op::Store) found.insert(function.operand(inst, 0).index);
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      FindBuffers(function, facts, Function::region_of(inst, r), found);
  }
}

}  // namespace

llvm::Value* KernelEmitter::Sreg(llvm::Intrinsic::ID id) {
  return builder_.CreateZExt(builder_.CreateIntrinsic(builder_.getInt32Ty(), id, {}),
                             builder_.getInt64Ty());
}

llvm::Value* KernelEmitter::ThreadInGrid() {
  llvm::Value* const block = Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  llvm::Value* const threads = Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  return builder_.CreateAdd(builder_.CreateMul(block, threads),
                            Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
}

llvm::Value* KernelEmitter::ThreadsInGrid() {
  return builder_.CreateMul(Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x),
                            Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x));
}

llvm::Value* KernelEmitter::Trips(llvm::Value* lo, llvm::Value* hi) {
  return builder_.CreateSelect(builder_.CreateICmpSLT(lo, hi), builder_.CreateSub(hi, lo),
                               builder_.getInt64(0));
}

// for (j = start; j < end; j += step), unsigned.
void KernelEmitter::Stride(llvm::Value* start, llvm::Value* end, llvm::Value* step,
                           const std::function<void(llvm::Value*)>& body) {
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const turn = NewBlock("turn");
  llvm::BasicBlock* const after = NewBlock("after");
  builder_.CreateCondBr(builder_.CreateICmpULT(start, end), turn, after);
  builder_.SetInsertPoint(turn);
  llvm::PHINode* const j = builder_.CreatePHI(start->getType(), 2);
  j->addIncoming(start, before);
  body(j);
  llvm::Value* const next = builder_.CreateAdd(j, step);
  j->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpULT(next, end), turn, after);
  builder_.SetInsertPoint(after);
}

void KernelEmitter::EmitIteration(const Inst& parallel, llvm::Value* t, llvm::Value* i) {
  const ir::RegionId region = Function::region_of(parallel, 0);
  Set(Function::param_of(function_.region(region), 0), i);
  place_.t = t;
  EmitBody(region);
}

void KernelEmitter::EmitFlat(const Step& step) {
  const Inst& parallel = function_.inst(step.insts[0]);
  llvm::Value* const lo = Get(function_.operand(parallel, 0));
  llvm::Value* const trips = Trips(lo, Get(function_.operand(parallel, 1)));
  place_ = {nullptr, lo, builder_.getInt64(1), builder_.getTrue()};
  if (step.launch.items > 1) return EmitGroups(parallel, step.launch.items, lo, trips);
  Stride(ThreadInGrid(), trips, ThreadsInGrid(),
         [&](llvm::Value* j) { EmitIteration(parallel, j, builder_.CreateAdd(lo, j)); });
}

// A value that the iterations of a loop agree on, although it is computed inside.
llvm::Value* KernelEmitter::Invariant(ValueId value) {
  const ir::InstId made = facts_.definition[value.index];
  const bool is_inside = made.valid() && facts_.owner[facts_.home[value.index].index].valid();
  if (is_inside) {
    const Inst& inst = function_.inst(made);
    for (ValueId operand : function_.operands_of(inst)) Invariant(operand);
    EmitInst(inst);
  }
  return function_.type(value).is_buffer() ? nullptr : Get(value);
}

void KernelEmitter::EmitNest(const Step& step) {
  const Inst& outer = function_.inst(step.insts[0]);
  const Inst& inner = function_.inst(step.inner);
  llvm::Value* const lo = Get(function_.operand(outer, 0));
  llvm::Value* const rows = Trips(lo, Get(function_.operand(outer, 1)));
  llvm::Value* const inner_lo = Invariant(function_.operand(inner, 0));
  llvm::Value* const columns = Trips(inner_lo, Invariant(function_.operand(inner, 1)));
  const ir::RegionId outer_region = Function::region_of(outer, 0);
  place_ = {nullptr, lo,
            builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, columns, builder_.getInt64(1)),
            builder_.getTrue()};
  Stride(ThreadInGrid(), builder_.CreateMul(rows, columns), ThreadsInGrid(), [&](llvm::Value* j) {
    Set(Function::param_of(function_.region(outer_region), 0),
        builder_.CreateAdd(lo, builder_.CreateUDiv(j, columns)));
    place_.t = j;
    for (ir::InstId id : function_.region(outer_region).insts)
      if (id != step.inner && facts_.needed[id.index]) EmitInst(function_.inst(id));
    EmitIteration(inner, j, builder_.CreateAdd(inner_lo, builder_.CreateURem(j, columns)));
  });
}

// --- several neighboring iterations in one thread ---------------------------------------------------------------

void KernelEmitter::EmitGroups(const Inst& parallel, uint32_t items, llvm::Value* lo,
                               llvm::Value* trips) {
  llvm::Value* const size = builder_.getInt64(items);
  llvm::Value* const groups = builder_.CreateUDiv(trips, size);
  Stride(ThreadInGrid(), groups, ThreadsInGrid(), [&](llvm::Value* group) {
    llvm::Value* const t = builder_.CreateMul(group, size);
    llvm::Value* const first = builder_.CreateAdd(lo, t);
    llvm::BasicBlock* const together = NewBlock("together");
    llvm::BasicBlock* const singly = NewBlock("singly");
    llvm::BasicBlock* const done = NewBlock("done");
    BranchUnlikely(builder_.CreateNot(GroupFits(parallel, items, first)), singly, together);
    builder_.SetInsertPoint(together);
    EmitGroup(parallel, items, first, t, singly);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(singly);
    Stride(t, builder_.CreateAdd(t, size), builder_.getInt64(1),
           [&](llvm::Value* j) { EmitIteration(parallel, j, builder_.CreateAdd(lo, j)); });
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  });
  Stride(builder_.CreateAdd(builder_.CreateMul(groups, size), ThreadInGrid()), trips,
         ThreadsInGrid(),
         [&](llvm::Value* j) { EmitIteration(parallel, j, builder_.CreateAdd(lo, j)); });
}

// Aligned, and inside of every buffer that the body reads or writes.
llvm::Value* KernelEmitter::GroupFits(const Inst& parallel, uint32_t items, llvm::Value* first) {
  llvm::Value* fits = builder_.CreateICmpEQ(builder_.CreateAnd(first, builder_.getInt64(items - 1)),
                                            builder_.getInt64(0));
  std::set<uint32_t> buffers;
  FindBuffers(function_, facts_, Function::region_of(parallel, 0), buffers);
  for (uint32_t buffer : buffers) {
    llvm::Value* const last =
        builder_.CreateSub(LengthOf(ValueId(buffer)), builder_.getInt64(items));
    fits = builder_.CreateAnd(fits, builder_.CreateICmpSGE(last, builder_.getInt64(0)));
    fits = builder_.CreateAnd(fits, builder_.CreateICmpULE(first, last));
  }
  return fits;
}

// Loads of all iterations of the group, each buffer once: nothing is stored before the last of them.
void KernelEmitter::FindGroup(ir::RegionId region, uint32_t items, llvm::Value* first) {
  for (ir::InstId id : function_.region(region).insts) {
    const Inst& inst = function_.inst(id);
    if (!facts_.needed[id.index]) continue;
    if (inst.op == Op::Load) {
      llvm::Value*& vector = group_->loaded[function_.operand(inst, 0).index];
      if (vector != nullptr) continue;
      llvm::Value* const address =
          ElementAddress(inst.type, Get(function_.operand(inst, 0)), first);
      vector = builder_.CreateAlignedLoad(
          llvm::FixedVectorType::get(StoredType(ops_, builder_, inst.type), items), address,
          GroupAlign);
    }
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      FindGroup(Function::region_of(inst, r), items, first);
  }
}

bool KernelEmitter::EmitFromGroup(const Inst& load) {
  const auto place = group_->loaded.find(function_.operand(load, 0).index);
  if (place == group_->loaded.end() || function_.operand(load, 1) != group_->counter) return false;
  llvm::Value* value = builder_.CreateExtractElement(place->second, group_->item);
  if (load.type.scalar == ir::Scalar::Bool)
    value = builder_.CreateICmpNE(value, builder_.getInt8(0));
  SetResult(load, value);
  return true;
}

// One that would trap has stored nothing: one by one, those before it store, and it traps.
void KernelEmitter::EmitGroup(const Inst& parallel, uint32_t items, llvm::Value* first,
                              llvm::Value* t, llvm::BasicBlock* singly) {
  const ir::RegionId region_id = Function::region_of(parallel, 0);
  const ir::Region& region = function_.region(region_id);
  group_ = Group{Function::param_of(region, 0), {}, 0, singly};
  FindGroup(region_id, items, first);
  std::map<const Inst*, llvm::Value*> stores;
  for (uint32_t k = 0; k < items; ++k) {
    group_->item = k;
    Set(group_->counter, builder_.CreateAdd(first, builder_.getInt64(k)));
    place_.t = builder_.CreateAdd(t, builder_.getInt64(k));
    for (ir::InstId id : region.insts) {
      const Inst& inst = function_.inst(id);
      if (!facts_.needed[id.index]) continue;
      if (inst.op != Op::Store) {
        EmitInst(inst);
        continue;
      }
      llvm::Value* value = Get(function_.operand(inst, 2));
      if (inst.type.scalar == ir::Scalar::Bool)
        value = builder_.CreateZExt(value, builder_.getInt8Ty());
      llvm::Value*& vector = stores[&inst];
      if (vector == nullptr)
        vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(value->getType(), items));
      vector = builder_.CreateInsertElement(vector, value, k);
    }
  }
  group_.reset();
  for (ir::InstId id : region.insts) {
    const Inst& inst = function_.inst(id);
    if (const auto store = stores.find(&inst); store != stores.end())
      builder_.CreateAlignedStore(store->second,
                                  ElementAddress(inst.type, Get(function_.operand(inst, 0)), first),
                                  GroupAlign);
  }
}

// --- a block of threads for each iteration ------------------------------------------------------------------------

void KernelEmitter::EmitBlocks(const Step& step) {
  const Inst& parallel = function_.inst(step.insts[0]);
  const ir::RegionId region = Function::region_of(parallel, 0);
  llvm::Value* const lo = Get(function_.operand(parallel, 0));
  llvm::Value* const trips = Trips(lo, Get(function_.operand(parallel, 1)));
  place_ = {nullptr, lo, builder_.getInt64(LanesOfBlock), builder_.getTrue()};
  Stride(Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), trips,
         Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x), [&](llvm::Value* j) {
           Set(Function::param_of(function_.region(region), 0), builder_.CreateAdd(lo, j));
           place_.t = builder_.CreateMul(j, builder_.getInt64(LanesOfBlock));
           OpenScratch(region);
           EmitBody(region);
           CloseScratch(nullptr);
           Barrier();
         });
}

}  // namespace frazil::targets::cuda
