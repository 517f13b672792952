// Loops that may run in lanes, calls, fuel and scratch memory.
#include "targets/native/function_emitter.h"
#include "targets/native/vectors/tested_loop.h"
#include "targets/native/vectors/vector_loop.h"

namespace frazil::targets::native {

using namespace ir::names;
using exec::NativeRunLayout;

namespace {
constexpr llvm::Align WordAddress = llvm::Align::Constant<8>();
// Of a few instructions each, so that the counter costs little (bytes counted in a table of 256: 462 us for 2^20 of them one
// at a time, 359 four at a time, 346 eight at a time).
constexpr uint32_t UnrolledTurns = 8;
}  // namespace

bool FunctionEmitter::EmitOwn(const Inst& inst) {
  switch (inst.op) {
    case Op::Const: return EmitBufferTest(inst);
    case Op::For: EmitFor(inst); return true;
    case Op::Parallel: EmitParallel(inst); return true;
    case Op::Call: EmitCall(inst); return true;
    case Op::AtomicRmw:
    case Op::AtomicCas: EmitAtomic(inst); return true;
    case Op::Alloc: EmitAlloc(inst); return true;
    case Op::Input:
    case Op::Hint: EmitRead(inst); return true;
    case Op::Output: EmitOutput(inst); return true;
    default: return false;
  }
}

void FunctionEmitter::BeginTurn(const Inst& loop) {
  if (meters()) PollStop(loop.op);
}

bool FunctionEmitter::EmitBufferTest(const Inst& inst) {
  const auto& tests = shared_.buffer_tests[id_.index];
  auto found = tests.find(ir::Function::result_of(inst).index);
  if (found == tests.end()) return false;
  llvm::Value* differs = builder_.getTrue();
  for (ValueId other : found->second.others)
    differs =
        builder_.CreateAnd(differs, builder_.CreateICmpNE(Get(found->second.buffer), Get(other)));
  Set(ir::Function::result_of(inst), differs);
  return true;
}

const BufferTest* FunctionEmitter::TestAround(RegionId region) const {
  const auto& tests = shared_.buffer_tests[id_.index];
  while (!tests.empty()) {
    const ir::InstId owner = facts_.owner[region.index];
    if (!owner.valid()) break;
    const Inst& branch = function_.inst(owner);
    const bool is_then = branch.op == Op::If && region == Function::region_of(branch, 0);
    region = facts_.region[owner.index];
    if (!is_then) continue;
    // The tests are a chain of `and` that begins with the answer about buffers.
    ValueId all = function_.operand(branch, 0);
    while (facts_.definition[all.index].valid() &&
           function_.inst(facts_.definition[all.index]).op == Op::And)
      all = function_.operand(function_.inst(facts_.definition[all.index]), 0);
    if (const auto found = tests.find(all.index); found != tests.end()) return &found->second;
  }
  return nullptr;
}

bool FunctionEmitter::IsScratch(ValueId buffer) const {
  const ir::InstId made = facts_.definition[buffer.index];
  return made.valid() && function_.inst(made).op == Op::Alloc;
}

bool FunctionEmitter::NeverSame(ValueId a, ValueId b) const {
  // A tensor is a value, and memory has one type: a launch in which what is written lies where either says otherwise is
  // refused (exec/launch.cpp).
  const auto is_tensor = [&](ValueId buffer) { return facts_.shapes.contains(buffer.index); };
  const auto is_written = [&](ValueId buffer) {
    return function_.type(buffer).access != ir::Access::In;
  };
  const bool is_apart =
      is_tensor(a) || is_tensor(b) || function_.type(a).element() != function_.type(b).element();
  return a != b && (IsScratch(a) || IsScratch(b) || (is_apart && (is_written(a) || is_written(b))));
}

bool FunctionEmitter::IsDistinct(RegionId region, ValueId a, ValueId b) const {
  const BufferTest* const test = TestAround(region);
  if (test == nullptr || (a != test->buffer && b != test->buffer)) return false;
  return std::ranges::find(test->others, a == test->buffer ? b : a) != test->others.end();
}

void FunctionEmitter::EndWhileTurn() {
  if (meters()) TakeFuel(builder_.getInt64(1), Op::While);
  if (!function_.is_prelude) PollStop(Op::While);
}

void FunctionEmitter::EmitFor(const Inst& inst) {
  if (meters()) TakeTrips(inst);
  if (shared_.vectorize && TryEmitVectorLoop(*this, inst)) return;
  SetLoopResults(inst, EmitOneByOne(inst));
}

void FunctionEmitter::EmitParallel(const Inst& inst) {
  if (meters()) TakeTrips(inst);
  if (shared_.vectorize && TryEmitVectorLoop(*this, inst)) return;
  EmitOneByOne(inst);
}

// Twice where that pays: without the tests of what was tested before it, and as it is.
LlvmValues FunctionEmitter::EmitOneByOne(const Inst& loop) {
  llvm::Value* const lo = Get(function_.operand(loop, 0));
  const LlvmValues inits = Inits(loop);
  LoopTests tests;
  if (shared_.vectorize && !meters()) tests = TestLoop(*this, loop);
  if (tests.insts.empty()) return EmitScalarLoop(loop, lo, inits);
  if (!shared_.tuned) {
    shared_.could_tune = true;
    return EmitScalarLoop(loop, lo, inits);
  }
  llvm::BasicBlock* const plain = NewBlock("tested");
  llvm::BasicBlock* const careful = NewBlock("careful");
  llvm::BasicBlock* const done = NewBlock("looped");
  builder_.CreateCondBr(tests.fits, plain, careful);
  builder_.SetInsertPoint(plain);
  tested_.insert(tests.insts.begin(), tests.insts.end());
  const LlvmValues first = tests.is_short ? EmitUnrolled(loop, lo, UnrolledTurns, inits)
                                          : EmitScalarLoop(loop, lo, inits);
  for (const uint32_t inst : tests.insts) tested_.erase(inst);
  llvm::BasicBlock* const plain_end = builder_.GetInsertBlock();
  builder_.CreateBr(done);
  builder_.SetInsertPoint(careful);
  LlvmValues results = EmitScalarLoop(loop, lo, inits);
  llvm::BasicBlock* const careful_end = builder_.GetInsertBlock();
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
  for (size_t k = 0; k < results.size(); ++k) {
    if (results[k] == nullptr) continue;
    llvm::PHINode* const phi = builder_.CreatePHI(results[k]->getType(), 2);
    phi->addIncoming(first[k], plain_end);
    phi->addIncoming(results[k], careful_end);
    results[k] = phi;
  }
  return results;
}

// --- calls, fuel, scratch -------------------------------------------------------------------------------------

void FunctionEmitter::EmitCall(const Inst& inst) {
  const uint32_t callee = static_cast<uint32_t>(function_.word(inst, 0));
  const bool fallible = shared_.facts.fallible[callee];
  const bool counted = !program().functions[callee].is_prelude && !function_.is_prelude;
  llvm::Value* depth_left = nullptr;
  if (counted) {
    if (meters()) {
      TakeFuel(builder_.getInt64(1), Op::Call);
      PollStop(Op::Call);
    }
    depth_left = builder_.CreateAlignedLoad(builder_.getInt64Ty(),
                                            RunField(NativeRunLayout::DepthLeft), WordAddress);
    TrapIf(builder_.CreateICmpEQ(depth_left, builder_.getInt64(0)), ir::Trap::Depth, Op::Call);
    builder_.CreateAlignedStore(builder_.CreateSub(depth_left, builder_.getInt64(1)),
                                RunField(NativeRunLayout::DepthLeft), WordAddress);
  }
  LlvmValues arguments;
  for (ValueId operand : function_.operands_of(inst)) {
    arguments.push_back(Get(operand));
    if (function_.type(operand).is_buffer()) arguments.push_back(LengthOf(operand));
  }
  arguments.push_back(run_);
  llvm::CallInst* const call = builder_.CreateCall(shared_.functions[callee], arguments);
  call->setDoesNotThrow();
  const bool is_struct = call->getType()->isStructTy();
  const uint32_t first = fallible ? 1 : 0;
  if (fallible) PropagateIf(is_struct ? builder_.CreateExtractValue(call, 0) : call, std::nullopt);
  if (counted)
    builder_.CreateAlignedStore(depth_left, RunField(NativeRunLayout::DepthLeft), WordAddress);
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const ValueId result = Function::result_of(inst, k);
    if (IsLive(result))
      Set(result, is_struct ? builder_.CreateBitCast(builder_.CreateExtractValue(call, k + first),
                                                     ops_.TypeOf(function_.type(result)))
                            : call);
  }
}

void FunctionEmitter::TakeFuel(llvm::Value* units, Op op) {
  llvm::Value* const fuel = builder_.CreateAlignedLoad(
      builder_.getInt64Ty(), RunField(NativeRunLayout::Fuel), WordAddress);
  TrapIf(builder_.CreateICmpULT(fuel, units), ir::Trap::Fuel, op);
  builder_.CreateAlignedStore(builder_.CreateSub(fuel, units), RunField(NativeRunLayout::Fuel),
                              WordAddress);
}

void FunctionEmitter::TakeTrips(const Inst& loop) {
  llvm::Value* const lo = Get(function_.operand(loop, 0));
  llvm::Value* const hi = Get(function_.operand(loop, 1));
  const bool is_signed = ir::IsSigned(function_.type(function_.operand(loop, 0)).scalar);
  const uint64_t step = loop.op == Op::For ? static_cast<uint64_t>(function_.word(loop, 0)) : 1;
  llvm::Value* trips = builder_.CreateZExt(builder_.CreateSub(hi, lo), builder_.getInt64Ty());
  if (step != 1) {
    trips = builder_.CreateUDiv(builder_.CreateSub(trips, builder_.getInt64(1)),
                                builder_.getInt64(step));
    trips = builder_.CreateAdd(trips, builder_.getInt64(1));
  }
  llvm::Value* const runs =
      is_signed ? builder_.CreateICmpSLT(lo, hi) : builder_.CreateICmpULT(lo, hi);
  TakeFuel(builder_.CreateSelect(runs, trips, builder_.getInt64(0)), loop.op);
}

void FunctionEmitter::PollStop(Op op) {
  // Where the flag stands does not change: it is looked up once, and not in every turn of a loop.
  if (stop_flag_ == nullptr) {
    shared_.uses_run = true;
    llvm::BasicBlock& entry = target_->getEntryBlock();
    Builder at_entry(&entry, entry.begin());
    stop_flag_ = at_entry.CreateAlignedLoad(
        builder_.getPtrTy(),
        at_entry.CreateConstGEP1_64(builder_.getInt8Ty(), run_, NativeRunLayout::Stop),
        WordAddress);
  }
  llvm::LoadInst* const stopped =
      builder_.CreateAlignedLoad(builder_.getInt8Ty(), stop_flag_, llvm::Align(1));
  stopped->setAtomic(llvm::AtomicOrdering::Monotonic);
  TrapIf(builder_.CreateICmpNE(stopped, builder_.getInt8(0)), ir::Trap::Fuel, op);
}

llvm::Value* FunctionEmitter::OpenScratch(RegionId region) {
  if (!facts_.allocates[region.index]) return nullptr;
  return builder_.CreateAlignedLoad(builder_.getPtrTy(), RunField(NativeRunLayout::Scratch),
                                    WordAddress);
}

void FunctionEmitter::CloseScratch(llvm::Value* mark) {
  if (mark == nullptr) return;
  llvm::Value* const arguments[] = {run_, mark};
  CallHelper(exec::NativeHelper::Release, builder_.getVoidTy(), arguments);
}

}  // namespace frazil::targets::native
