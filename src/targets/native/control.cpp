// Regions, loops and calls. Loops are emitted with their test at the end, so that one branch a turn is left.
#include "base/check.h"
#include "targets/native/function_emitter.h"
#include "targets/native/vector_loop.h"

namespace frazil::targets::native {

using exec::NativeRunLayout;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::RegionId;
using ir::ValueId;

namespace {
constexpr llvm::Align WordAddress = llvm::Align::Constant<8>();
}  // namespace

const Inst& FunctionEmitter::EmitBody(RegionId region_id) {
  const ir::Region& region = function_.region(region_id);
  for (ir::InstId id : region.insts) {
    if (facts_.needed[id.index]) EmitInst(function_.inst(id));
  }
  return function_.inst(region.insts.back());
}

void FunctionEmitter::EmitInst(const Inst& inst) {
  switch (inst.op) {
    case Op::Return:
    case Op::Yield:
    case Op::Condition:
      return;
    case Op::If:
      return EmitIf(inst);
    case Op::Switch:
      return EmitSwitch(inst);
    case Op::For:
      return EmitFor(inst);
    case Op::While:
      return EmitWhile(inst);
    case Op::Parallel:
      return EmitParallel(inst);
    case Op::Call:
      return EmitCall(inst);
    case Op::Length:
      return SetResult(inst, LengthOf(function_.operand(inst, 0)));
    case Op::Const:
      return SetResult(inst, ops_.Constant(inst.type, function_.words_of(inst)));
    default:
      break;
  }
  if (EmitStatement(inst)) return;
  const ir::Type from = function_.type(function_.operand(inst, 0));
  const int64_t part = inst.attributes.count > 0 ? function_.word(inst, 0) : 0;
  SetResult(inst, ops_.Compute(inst.op, inst.type, from, Operands(inst), part));
}

// --- choices --------------------------------------------------------------------------------------------------

FunctionEmitter::Way FunctionEmitter::EmitWay(const Inst& inst, uint32_t i, llvm::BasicBlock* start,
                                              llvm::BasicBlock* join) {
  const RegionId region = Function::region_of(inst, i);
  builder_.SetInsertPoint(start);
  llvm::Value* const mark = OpenScratch(region);
  const Inst& yield = EmitBody(region);
  CloseScratch(mark);
  Way way;
  for (uint32_t k = 0; k < inst.results.count; ++k)
    way.values.push_back(IsLive(Function::result_of(inst, k)) ? Get(function_.operand(yield, k))
                                                              : nullptr);
  way.end = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  return way;
}

void FunctionEmitter::JoinWays(const Inst& inst, llvm::BasicBlock* join,
                               std::span<const Way> ways) {
  builder_.SetInsertPoint(join);
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const ValueId result = Function::result_of(inst, k);
    if (!IsLive(result)) continue;
    llvm::PHINode* const phi =
        builder_.CreatePHI(ops_.TypeOf(function_.type(result)), static_cast<uint32_t>(ways.size()));
    for (const Way& way : ways) phi->addIncoming(way.values[k], way.end);
    Set(result, phi);
  }
}

void FunctionEmitter::EmitIf(const Inst& inst) {
  llvm::BasicBlock* const then_start = NewBlock("then");
  llvm::BasicBlock* const else_start = NewBlock("else");
  llvm::BasicBlock* const join = NewBlock("join");
  builder_.CreateCondBr(Get(function_.operand(inst, 0)), then_start, else_start);
  const Way ways[] = {EmitWay(inst, 0, then_start, join), EmitWay(inst, 1, else_start, join)};
  JoinWays(inst, join, ways);
}

void FunctionEmitter::EmitSwitch(const Inst& inst) {
  const ValueId selector = function_.operand(inst, 0);
  std::vector<llvm::BasicBlock*> starts;
  for (uint32_t i = 0; i < inst.regions.count; ++i) starts.push_back(NewBlock("case"));
  llvm::BasicBlock* const join = NewBlock("join");
  llvm::SwitchInst* const choice =
      builder_.CreateSwitch(Get(selector), starts.back(), inst.attributes.count);
  for (uint32_t i = 0; i < inst.attributes.count; ++i) {
    auto* const value = llvm::cast<llvm::ConstantInt>(
        ops_.Constant(function_.type(selector), function_.words_of(inst).subspan(i, 1)));
    choice->addCase(value, starts[i]);
  }
  std::vector<Way> ways;
  for (uint32_t i = 0; i < inst.regions.count; ++i)
    ways.push_back(EmitWay(inst, i, starts[i], join));
  JoinWays(inst, join, ways);
}

// --- loops ----------------------------------------------------------------------------------------------------

LlvmValues FunctionEmitter::Inits(const Inst& loop) const {
  LlvmValues values;
  for (uint32_t k = 0; k < loop.results.count; ++k) {
    const bool is_read = IsLive(Function::result_of(loop, k));
    values.push_back(is_read ? Get(function_.operand(loop, FirstInit(loop) + k)) : nullptr);
  }
  return values;
}

void FunctionEmitter::SetLoopResults(const Inst& loop, std::span<llvm::Value* const> values) {
  for (uint32_t k = 0; k < loop.results.count; ++k) {
    const ValueId result = Function::result_of(loop, k);
    if (IsLive(result))
      Set(result, facts_.canonical[result.index] ? ops_.Canonical(values[k]) : values[k]);
  }
}

void FunctionEmitter::EmitFor(const Inst& inst) {
  if (meters()) TakeTrips(inst);
  if (shared_.vectorize && TryEmitVectorLoop(*this, inst)) return;
  SetLoopResults(inst, EmitScalarLoop(inst, Get(function_.operand(inst, 0)), Inits(inst)));
}

void FunctionEmitter::EmitParallel(const Inst& inst) {
  if (meters()) TakeTrips(inst);
  if (shared_.vectorize && TryEmitVectorLoop(*this, inst)) return;
  EmitScalarLoop(inst, Get(function_.operand(inst, 0)), {});
}

// Is there a turn after the one of this counter? The counter is below the bound: one more cannot overflow, and the
// distance to the bound is exact.
llvm::Value* FunctionEmitter::GoesOn(const Inst& loop, llvm::Value* counter, llvm::Value* next) {
  const uint64_t step = loop.op == Op::For ? static_cast<uint64_t>(function_.word(loop, 0)) : 1;
  const ValueId bound = function_.operand(loop, 1);
  llvm::Value* const hi = Get(bound);
  if (step == 1)
    return ir::IsSigned(function_.type(bound).scalar) ? builder_.CreateICmpSLT(next, hi)
                                                      : builder_.CreateICmpULT(next, hi);
  const uint32_t bits = counter->getType()->getScalarSizeInBits();
  if (bits < 64 && step >> bits != 0) return builder_.getFalse();
  llvm::Value* const left = builder_.CreateSub(hi, counter);
  return builder_.CreateICmpUGT(left, llvm::ConstantInt::get(left->getType(), step));
}

LlvmValues FunctionEmitter::EmitScalarLoop(const Inst& loop, llvm::Value* lo,
                                           std::span<llvm::Value* const> carried) {
  const RegionId body = Function::region_of(loop, 0);
  const ValueId counter = Function::param_of(function_.region(body), 0);
  const bool is_signed = ir::IsSigned(function_.type(counter).scalar);
  llvm::Value* const hi = Get(function_.operand(loop, 1));
  const uint64_t step = loop.op == Op::For ? static_cast<uint64_t>(function_.word(loop, 0)) : 1;
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const turn = NewBlock("turn");
  llvm::BasicBlock* const after = NewBlock("after");
  builder_.CreateCondBr(is_signed ? builder_.CreateICmpSLT(lo, hi) : builder_.CreateICmpULT(lo, hi),
                        turn, after);
  builder_.SetInsertPoint(turn);
  llvm::PHINode* const i = builder_.CreatePHI(lo->getType(), 2);
  i->addIncoming(lo, before);
  Set(counter, i);
  std::vector<llvm::PHINode*> phis;
  for (uint32_t k = 0; k < carried.size(); ++k) {
    phis.push_back(nullptr);
    if (carried[k] == nullptr) continue;
    phis[k] = builder_.CreatePHI(carried[k]->getType(), 2);
    phis[k]->addIncoming(carried[k], before);
    Set(CarriedParam(function_, loop, k), phis[k]);
  }
  llvm::Value* const outer_index = parallel_index_;
  if (loop.op == Op::Parallel && outer_index == nullptr) parallel_index_ = i;
  if (meters()) PollStop(loop.op);
  llvm::Value* const mark = OpenScratch(body);
  const Inst& yield = EmitBody(body);
  CloseScratch(mark);
  parallel_index_ = outer_index;
  llvm::Value* const next =
      builder_.CreateAdd(i, ops_.Constant(function_.type(counter), std::span(&step, 1)));
  llvm::Value* const goes_on = GoesOn(loop, i, next);
  llvm::BasicBlock* const end = builder_.GetInsertBlock();
  builder_.CreateCondBr(goes_on, turn, after);
  i->addIncoming(next, end);
  LlvmValues results;
  for (uint32_t k = 0; k < carried.size(); ++k)
    if (phis[k] != nullptr) phis[k]->addIncoming(Get(function_.operand(yield, k)), end);
  builder_.SetInsertPoint(after);
  for (uint32_t k = 0; k < carried.size(); ++k) {
    if (phis[k] == nullptr) {
      results.push_back(nullptr);
      continue;
    }
    llvm::PHINode* const result = builder_.CreatePHI(phis[k]->getType(), 2);
    result->addIncoming(carried[k], before);
    result->addIncoming(Get(function_.operand(yield, k)), end);
    results.push_back(result);
  }
  return results;
}

// What the test defines is visible in the body, its scratch too.
void FunctionEmitter::EmitWhile(const Inst& inst) {
  const RegionId test = Function::region_of(inst, 0);
  const RegionId body = Function::region_of(inst, 1);
  const LlvmValues inits = Inits(inst);
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const turn = NewBlock("test");
  llvm::BasicBlock* const body_start = NewBlock("body");
  llvm::BasicBlock* const after = NewBlock("after");
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(turn);
  std::vector<llvm::PHINode*> phis;
  for (uint32_t k = 0; k < inits.size(); ++k) {
    phis.push_back(nullptr);
    if (inits[k] == nullptr) continue;
    phis[k] = builder_.CreatePHI(inits[k]->getType(), 2);
    phis[k]->addIncoming(inits[k], before);
    Set(CarriedParam(function_, inst, k), phis[k]);
  }
  llvm::Value* const test_mark = OpenScratch(test);
  const Inst& condition = EmitBody(test);
  builder_.CreateCondBr(Get(function_.operand(condition, 0)), body_start, after);
  builder_.SetInsertPoint(body_start);
  llvm::Value* const mark = OpenScratch(body);
  // The body's parameters are the carried values of this turn.
  const ir::Region& body_region = function_.region(body);
  for (uint32_t k = 0; k < body_region.params.count && k < phis.size(); ++k)
    if (phis[k] != nullptr) Set(Function::param_of(body_region, k), phis[k]);
  const Inst& yield = EmitBody(body);
  CloseScratch(test_mark != nullptr ? test_mark : mark);
  if (meters()) TakeFuel(builder_.getInt64(1), Op::While);
  if (!function_.is_prelude) PollStop(Op::While);
  llvm::BasicBlock* const end = builder_.GetInsertBlock();
  builder_.CreateBr(turn);
  LlvmValues results;
  for (uint32_t k = 0; k < inits.size(); ++k) {
    if (phis[k] != nullptr) phis[k]->addIncoming(Get(function_.operand(yield, k)), end);
    results.push_back(phis[k]);
  }
  builder_.SetInsertPoint(after);
  CloseScratch(test_mark);
  SetLoopResults(inst, results);
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
      Set(result, is_struct ? builder_.CreateExtractValue(call, k + first) : call);
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
  llvm::Value* const flag =
      builder_.CreateAlignedLoad(builder_.getPtrTy(), RunField(NativeRunLayout::Stop), WordAddress);
  llvm::LoadInst* const stopped =
      builder_.CreateAlignedLoad(builder_.getInt8Ty(), flag, llvm::Align(1));
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
