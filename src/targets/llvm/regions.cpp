// Regions and loops. Loops are emitted with their test at the end, so that one branch a turn is left.
#include <algorithm>

#include "targets/llvm/order_facts.h"
#include "targets/llvm/region_emitter.h"

namespace frazil::targets {

using namespace ir::names;

const Inst& RegionEmitter::EmitBody(RegionId region_id) {
  const ir::Region& region = function_.region(region_id);
  for (ir::InstId id : region.insts) {
    if (facts_.needed[id.index]) EmitInst(function_.inst(id));
  }
  return function_.inst(region.insts.back());
}

void RegionEmitter::EmitInst(const Inst& inst) {
  if (EmitOwn(inst)) return;
  switch (inst.op) {
    case Op::Return:
    case Op::Yield:
    case Op::Condition: return;
    case Op::If: return EmitIf(inst);
    case Op::Switch: return EmitSwitch(inst);
    case Op::For:
    case Op::Parallel:
      return SetLoopResults(inst,
                            EmitScalarLoop(inst, Get(function_.operand(inst, 0)), Inits(inst)));
    case Op::While: return EmitWhile(inst);
    case Op::Length: return SetResult(inst, LengthOf(function_.operand(inst, 0)));
    case Op::Const: return SetResult(inst, ops_.Constant(inst.type, function_.words_of(inst)));
    default: break;
  }
  if (EmitStatement(inst)) return;
  const ir::Type from = function_.type(function_.operand(inst, 0));
  const int64_t part = inst.attributes.count > 0 ? function_.word(inst, 0) : 0;
  SetResult(inst, ops_.Compute(inst.op, inst.type, from, Operands(inst), part));
}

// --- choices --------------------------------------------------------------------------------------------------

RegionEmitter::Way RegionEmitter::EmitWay(const Inst& inst, uint32_t i, llvm::BasicBlock* start,
                                          llvm::BasicBlock* join) {
  const RegionId region = Function::region_of(inst, i);
  const size_t checked = checked_.size();
  builder_.SetInsertPoint(start);
  llvm::Value* const mark = OpenScratch(region);
  const Inst& yield = EmitBody(region);
  CloseScratch(mark);
  checked_.resize(checked);
  Way way;
  for (uint32_t k = 0; k < inst.results.count; ++k)
    way.values.push_back(IsLive(Function::result_of(inst, k)) ? Get(function_.operand(yield, k))
                                                              : nullptr);
  way.end = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  return way;
}

void RegionEmitter::JoinWays(const Inst& inst, llvm::BasicBlock* join, std::span<const Way> ways) {
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

void RegionEmitter::EmitIf(const Inst& inst) {
  llvm::BasicBlock* const then_start = NewBlock("then");
  llvm::BasicBlock* const else_start = NewBlock("else");
  llvm::BasicBlock* const join = NewBlock("join");
  if (const std::optional<bool> known = Decided(function_, facts_, inst)) {
    llvm::BasicBlock* const start = *known ? then_start : else_start;
    (*known ? else_start : then_start)->eraseFromParent();
    builder_.CreateBr(start);
    const Way way = EmitWay(inst, *known ? 0 : 1, start, join);
    return JoinWays(inst, join, std::span(&way, 1));
  }
  builder_.CreateCondBr(Get(function_.operand(inst, 0)), then_start, else_start);
  const Way ways[] = {EmitWay(inst, 0, then_start, join), EmitWay(inst, 1, else_start, join)};
  JoinWays(inst, join, ways);
}

void RegionEmitter::EmitSwitch(const Inst& inst) {
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

LlvmValues RegionEmitter::Inits(const Inst& loop) const {
  LlvmValues values;
  for (uint32_t k = 0; k < loop.results.count; ++k) {
    const bool is_read = IsLive(Function::result_of(loop, k));
    values.push_back(is_read ? Get(function_.operand(loop, FirstInit(loop) + k)) : nullptr);
  }
  return values;
}

void RegionEmitter::SetLoopResults(const Inst& loop, std::span<llvm::Value* const> values) {
  for (uint32_t k = 0; k < loop.results.count; ++k) {
    const ValueId result = Function::result_of(loop, k);
    if (IsLive(result))
      Set(result, facts_.canonical[result.index] ? ops_.Canonical(values[k]) : values[k]);
  }
}

// Is there a turn from lo on, which may be behind the loop's own beginning?
llvm::Value* RegionEmitter::Runs(const Inst& loop, llvm::Value* lo, llvm::Value* hi) {
  const ValueId first = function_.operand(loop, 0);
  if (lo == Get(first) && SurelyRuns(function_, facts_, loop)) return builder_.getTrue();
  const bool is_signed = ir::IsSigned(function_.type(first).scalar);
  return is_signed ? builder_.CreateICmpSLT(lo, hi) : builder_.CreateICmpULT(lo, hi);
}

// Is there a turn after the one of this counter? The counter is below the bound: the distance to it is exact.
llvm::Value* RegionEmitter::GoesOn(const Inst& loop, llvm::Value* counter) {
  const uint64_t step = static_cast<uint64_t>(function_.word(loop, 0));
  const uint32_t bits = counter->getType()->getScalarSizeInBits();
  if (bits < 64 && step >> bits != 0) return builder_.getFalse();
  llvm::Value* const left = builder_.CreateSub(Get(function_.operand(loop, 1)), counter);
  return builder_.CreateICmpUGT(left, llvm::ConstantInt::get(left->getType(), step));
}

// Steps of one are tested in one place, at the top (the code generator turns the loop around): a test before the loop, too,
// is code that cannot always be reached. Longer steps may overflow and are tested before they are made.
LlvmValues RegionEmitter::EmitScalarLoop(const Inst& loop, llvm::Value* lo,
                                         std::span<llvm::Value* const> carried) {
  const RegionId body = Function::region_of(loop, 0);
  const ValueId counter = Function::param_of(function_.region(body), 0);
  llvm::Value* const hi = Get(function_.operand(loop, 1));
  const uint64_t step = loop.op == Op::For ? static_cast<uint64_t>(function_.word(loop, 0)) : 1;
  const IntRange first = facts_.ranges->Int(function_.operand(loop, 0));
  const IntRange last = facts_.ranges->Int(function_.operand(loop, 1));
  const bool has_one_turn = last.high - first.low <= 1;
  const bool tests_first = step == 1 && !has_one_turn;
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const turn = NewBlock("turn");
  llvm::BasicBlock* const after = NewBlock("after");
  if (tests_first)
    builder_.CreateBr(turn);
  else
    builder_.CreateCondBr(Runs(loop, lo, hi), turn, after);
  builder_.SetInsertPoint(turn);
  llvm::PHINode* const i = builder_.CreatePHI(lo->getType(), 2);
  i->addIncoming(lo, before);
  Set(counter, i);
  const std::vector<llvm::PHINode*> phis = BeginCarried(loop, carried, before);
  if (tests_first) {
    llvm::BasicBlock* const inside = NewBlock("inside");
    builder_.CreateCondBr(Runs(loop, i, hi), inside, after);
    builder_.SetInsertPoint(inside);
  }
  llvm::Value* const outer_index = parallel_index_;
  if (loop.op == Op::Parallel && outer_index == nullptr) parallel_index_ = i;
  BeginTurn(loop);
  const size_t checked = checked_.size();
  llvm::Value* const mark = OpenScratch(body);
  const Inst& yield = EmitBody(body);
  CloseScratch(mark);
  checked_.resize(checked);
  parallel_index_ = outer_index;
  llvm::Value* const next =
      builder_.CreateAdd(i, ops_.Constant(function_.type(counter), std::span(&step, 1)));
  llvm::BasicBlock* const end = builder_.GetInsertBlock();
  if (tests_first)
    builder_.CreateBr(turn);
  else if (has_one_turn)
    builder_.CreateBr(after);
  else
    builder_.CreateCondBr(GoesOn(loop, i), turn, after);
  if (!has_one_turn) i->addIncoming(next, end);
  LlvmValues results;
  for (uint32_t k = 0; k < carried.size(); ++k)
    if (phis[k] != nullptr && !has_one_turn)
      phis[k]->addIncoming(Get(function_.operand(yield, k)), end);
  builder_.SetInsertPoint(after);
  for (uint32_t k = 0; k < carried.size(); ++k) {
    if (phis[k] == nullptr || tests_first) {
      results.push_back(phis[k]);
      continue;
    }
    llvm::PHINode* const result = builder_.CreatePHI(phis[k]->getType(), 2);
    result->addIncoming(carried[k], before);
    result->addIncoming(Get(function_.operand(yield, k)), end);
    results.push_back(result);
  }
  return results;
}

LlvmValues RegionEmitter::EmitUnrolled(const Inst& loop, llvm::Value* lo, uint32_t copies,
                                       std::span<llvm::Value* const> carried) {
  const RegionId body = Function::region_of(loop, 0);
  const ValueId counter = Function::param_of(function_.region(body), 0);
  llvm::Value* const hi = Get(function_.operand(loop, 1));
  llvm::Value* const zero = builder_.getInt64(0);
  llvm::Value* const count =
      builder_.CreateSelect(builder_.CreateICmpSLT(lo, hi), builder_.CreateSub(hi, lo), zero);
  llvm::Value* const rest = builder_.CreateURem(count, builder_.getInt64(copies));
  llvm::Value* const end = builder_.CreateAdd(lo, builder_.CreateSub(count, rest));
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const turn = NewBlock("turns");
  llvm::BasicBlock* const inside = NewBlock("several");
  llvm::BasicBlock* const after = NewBlock("rest");
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(turn);
  llvm::PHINode* const first = builder_.CreatePHI(lo->getType(), 2);
  first->addIncoming(lo, before);
  const std::vector<llvm::PHINode*> phis = BeginCarried(loop, carried, before);
  builder_.CreateCondBr(builder_.CreateICmpSLT(first, end), inside, after);
  builder_.SetInsertPoint(inside);
  llvm::Value* const outer_index = parallel_index_;
  LlvmValues values(phis.begin(), phis.end());
  for (uint32_t copy = 0; copy < copies; ++copy) {
    llvm::Value* const i = builder_.CreateAdd(first, builder_.getInt64(copy));
    Set(counter, i);
    if (loop.op == Op::Parallel && outer_index == nullptr) parallel_index_ = i;
    for (uint32_t k = 0; k < values.size(); ++k)
      if (values[k] != nullptr) Set(CarriedParam(function_, loop, k), values[k]);
    const size_t checked = checked_.size();
    const Inst& yield = EmitBody(body);
    checked_.resize(checked);
    for (uint32_t k = 0; k < values.size(); ++k)
      if (values[k] != nullptr) values[k] = Get(function_.operand(yield, k));
  }
  parallel_index_ = outer_index;
  first->addIncoming(builder_.CreateAdd(first, builder_.getInt64(copies)),
                     builder_.GetInsertBlock());
  for (uint32_t k = 0; k < phis.size(); ++k)
    if (phis[k] != nullptr) phis[k]->addIncoming(values[k], builder_.GetInsertBlock());
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(after);
  return EmitScalarLoop(loop, first, LlvmValues(phis.begin(), phis.end()));
}

// The carried values of this turn; null where nobody reads one.
std::vector<llvm::PHINode*> RegionEmitter::BeginCarried(const Inst& loop,
                                                        std::span<llvm::Value* const> inits,
                                                        llvm::BasicBlock* before) {
  std::vector<llvm::PHINode*> phis;
  for (uint32_t k = 0; k < inits.size(); ++k) {
    phis.push_back(nullptr);
    if (inits[k] == nullptr) continue;
    phis[k] = builder_.CreatePHI(inits[k]->getType(), 2);
    phis[k]->addIncoming(inits[k], before);
    Set(CarriedParam(function_, loop, k), phis[k]);
  }
  return phis;
}

// "This, and then that" is an `if` that gives false otherwise: each of them leaves the loop by a branch of its own, and the
// body stands behind both (rows of 64 sorted by insertion: 0.64 of Numba, and 0.91).
void RegionEmitter::EmitTest(RegionId test, llvm::BasicBlock* body, llvm::BasicBlock* after) {
  const std::vector<ir::InstId>& insts = function_.region(test).insts;
  const ValueId holds = function_.operand(function_.inst(insts.back()), 0);
  const ir::InstId last = insts.size() < 2 ? ir::InstId() : insts[insts.size() - 2];
  const bool is_if = is_nested_ && last.valid() && function_.inst(last).op == Op::If &&
                     Function::result_of(function_.inst(last)) == holds &&
                     function_.inst(last).results.count == 1 &&
                     std::ranges::count(function_.operands, holds) == 1 &&
                     !Decided(function_, facts_, function_.inst(last));
  const RegionId then = is_if ? Function::region_of(function_.inst(last), 0) : test;
  const RegionId otherwise = is_if ? Function::region_of(function_.inst(last), 1) : test;
  const auto is_false = [&] {
    const Inst& yield = function_.inst(function_.region(otherwise).insts.back());
    const auto words = ConstantOf(function_, facts_, function_.operand(yield, 0));
    return words && (*words)[0] == 0;
  };
  if (!is_if || !is_false() || facts_.allocates[then.index]) {
    EmitBody(test);
    builder_.CreateCondBr(Get(holds), body, after);
    return;
  }
  for (const ir::InstId id : insts)
    if (id != last && facts_.needed[id.index]) EmitInst(function_.inst(id));
  llvm::BasicBlock* const both = NewBlock("and");
  builder_.CreateCondBr(Get(function_.operand(function_.inst(last), 0)), both, after);
  builder_.SetInsertPoint(both);
  const Inst& yield = EmitBody(then);
  builder_.CreateCondBr(Get(function_.operand(yield, 0)), body, after);
}

// What the test defines is visible in the body, its scratch too.
void RegionEmitter::EmitWhile(const Inst& inst) {
  const RegionId test = Function::region_of(inst, 0);
  const RegionId body = Function::region_of(inst, 1);
  const LlvmValues inits = Inits(inst);
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const turn = NewBlock("test");
  llvm::BasicBlock* const body_start = NewBlock("body");
  llvm::BasicBlock* const after = NewBlock("after");
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(turn);
  const std::vector<llvm::PHINode*> phis = BeginCarried(inst, inits, before);
  const size_t checked = checked_.size();
  llvm::Value* const test_mark = OpenScratch(test);
  EmitTest(test, body_start, after);
  builder_.SetInsertPoint(body_start);
  llvm::Value* const mark = OpenScratch(body);
  // The body's parameters are the carried values of this turn.
  const ir::Region& body_region = function_.region(body);
  for (uint32_t k = 0; k < body_region.params.count && k < phis.size(); ++k)
    if (phis[k] != nullptr) Set(Function::param_of(body_region, k), phis[k]);
  const Inst& yield = EmitBody(body);
  CloseScratch(test_mark != nullptr ? test_mark : mark);
  checked_.resize(checked);
  EndWhileTurn();
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

}  // namespace frazil::targets
