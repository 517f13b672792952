// Branches, loops and math functions in lanes. Both arms of a branch run, each under its mask; an arm that costs
// much (or has a loop, whose length only its own condition makes sound) is passed over where no lane wants it.
#include "base/check.h"
#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

constexpr uint32_t HeavyArm = 16;  // instructions

uint32_t WorkOf(const ir::Program& program, const Function& function, ir::RegionId region) {
  uint32_t work = 0;
  for (ir::InstId id : function.region(region).insts) {
    const Inst& inst = function.inst(id);
    work += inst.op == Op::Const ? 0 : 1;
    if (inst.op == Op::For || inst.op == Op::While) work += HeavyArm;
    if (inst.op == Op::Call) {
      const Function& callee = program.functions[static_cast<size_t>(function.word(inst, 0))];
      work += WorkOf(program, callee, callee.body);
    }
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      work += WorkOf(program, function, Function::region_of(inst, i));
  }
  return work;
}

}  // namespace

ir::InstId LaneEmitter::LoopInLanes() const {
  return ir::InstId(static_cast<uint32_t>(&block_.loop - function().insts.data()));
}

bool LaneEmitter::IsHeavy(ir::RegionId region) const {
  return WorkOf(emitter_.program(), function(), region) > HeavyArm;
}

bool LaneEmitter::HasStore(ir::RegionId region) const {
  for (ir::InstId id : function().region(region).insts) {
    const Inst& inst = function().inst(id);
    // Rows are stored as their loop goes on: they do not wait.
    if (inst.op == Op::Store && block_.plan.AccessOf(id)->shape != LoopAccess::Shape::Row)
      return true;
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      if (HasStore(Function::region_of(inst, i))) return true;
  }
  return false;
}

void LaneEmitter::EmitIf(const Inst& inst) {
  const ir::RegionId then_region = Function::region_of(inst, 0);
  const ir::RegionId else_region = Function::region_of(inst, 1);
  const Lane condition = GetLane(function().operand(inst, 0));
  // What waits to be stored must be known at the end of the block, on every way there.
  if (condition.is_uniform() && !HasStore(then_region) && !HasStore(else_region))
    return EmitUniformIf(inst);
  llvm::Value* lanes = AsVector(condition);
  std::vector<Lane> then_values = EmitArm(inst, 0, Both(mask_, lanes));
  std::vector<Lane> else_values = EmitArm(inst, 1, Both(mask_, builder_.CreateNot(lanes)));
  for (uint32_t i = 0; i < inst.results.count; ++i)
    if (IsLive(inst, i))
      SetLane(Function::result_of(inst, i),
              {nullptr, 0,
               builder_.CreateSelect(lanes, AsVector(then_values[i]), AsVector(else_values[i]))});
}

std::vector<Lane> LaneEmitter::EmitArm(const Inst& inst, uint32_t region, llvm::Value* mask) {
  const ir::RegionId id = Function::region_of(inst, region);
  llvm::Value* outer = mask_;
  mask_ = mask;
  auto values_of = [&](const Inst& yield) {
    std::vector<Lane> values(inst.results.count);
    for (uint32_t i = 0; i < values.size(); ++i)
      if (IsLive(inst, i)) values[i] = GetLane(function().operand(yield, i));
    return values;
  };
  std::vector<Lane> values;
  if (HasStore(id) || !IsHeavy(id)) {
    values = values_of(EmitBody(id));
  } else {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* arm = emitter_.NewBlock("arm");
    llvm::BasicBlock* join = emitter_.NewBlock("join");
    builder_.CreateCondBr(Any(mask), arm, join);
    before = builder_.GetInsertBlock();
    builder_.SetInsertPoint(arm);
    values = values_of(EmitBody(id));
    LlvmValues vectors;
    for (uint32_t i = 0; i < values.size(); ++i)
      vectors.push_back(IsLive(inst, i) ? AsVector(values[i]) : nullptr);
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    builder_.CreateBr(join);
    builder_.SetInsertPoint(join);
    for (size_t i = 0; i < values.size(); ++i) {
      if (vectors[i] == nullptr) continue;
      llvm::PHINode* phi = builder_.CreatePHI(vectors[i]->getType(), 2);
      phi->addIncoming(vectors[i], end);
      phi->addIncoming(llvm::Constant::getNullValue(vectors[i]->getType()), before);
      values[i] = {nullptr, 0, phi};
    }
  }
  mask_ = outer;
  return values;
}

void LaneEmitter::EmitUniformIf(const Inst& inst) {
  llvm::BasicBlock* arms[] = {emitter_.NewBlock("then"), emitter_.NewBlock("else")};
  llvm::BasicBlock* ends[2];
  llvm::BasicBlock* join = emitter_.NewBlock("join");
  builder_.CreateCondBr(GetLane(function().operand(inst, 0)).scalar, arms[0], arms[1]);
  std::vector<bool> is_uniform(inst.results.count, true);
  std::vector<Lane> values[2];
  for (uint32_t r = 0; r < 2; ++r) {
    builder_.SetInsertPoint(arms[r]);
    const Inst& yield = EmitBody(Function::region_of(inst, r));
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      values[r].push_back(IsLive(inst, i) ? GetLane(function().operand(yield, i))
                                          : Lane{builder_.getFalse()});
      is_uniform[i] = is_uniform[i] && values[r][i].is_uniform();
    }
    ends[r] = builder_.GetInsertBlock();
  }
  std::vector<LlvmValues> incoming(2);
  for (uint32_t r = 0; r < 2; ++r) {
    builder_.SetInsertPoint(ends[r]);
    for (uint32_t i = 0; i < inst.results.count; ++i)
      incoming[r].push_back(is_uniform[i] ? values[r][i].scalar : AsVector(values[r][i]));
    builder_.CreateBr(join);
  }
  builder_.SetInsertPoint(join);
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    llvm::PHINode* phi = builder_.CreatePHI(incoming[0][i]->getType(), 2);
    for (uint32_t r = 0; r < 2; ++r) phi->addIncoming(incoming[r][i], ends[r]);
    SetLane(Function::result_of(inst, i), is_uniform[i] ? Lane{phi} : Lane{nullptr, 0, phi});
  }
}

// The counter is the same in all lanes; carried values are scalars where the plan says so, else vectors.
void LaneEmitter::EmitInnerLoop(const Inst& inst) {
  CHECK(is_top());
  if (!block_.plan.uniform[CounterOf(function(), inst).index]) return EmitDivergentFor(inst);
  if (WalksRows(ir::InstId(static_cast<uint32_t>(&inst - function().insts.data()))))
    return IsRowMap(inst) ? EmitRowByRow(inst) : EmitTiledLoop(inst);
  const ir::Type type = function().type(CounterOf(function(), inst));
  llvm::Value* lo = LaneZero(GetLane(function().operand(inst, 0)));
  llvm::Value* hi = LaneZero(GetLane(function().operand(inst, 1)));
  const uint64_t step = static_cast<uint64_t>(function().word(inst, 0));
  llvm::Type* wide = builder_.getInt64Ty();
  const bool is_signed = IsSigned(type.scalar);
  llvm::Value* runs = SurelyRuns(function(), facts(), inst, LoopInLanes()) ? builder_.getTrue()
                      : is_signed ? builder_.CreateICmpSLT(lo, hi)
                                  : builder_.CreateICmpULT(lo, hi);
  // ceil((hi - lo) / step), which fits if there is a first iteration.
  llvm::Value* distance = builder_.CreateZExt(builder_.CreateSub(hi, lo), wide);
  llvm::Value* trips =
      builder_.CreateAdd(builder_.CreateUDiv(builder_.CreateSub(distance, builder_.getInt64(1)),
                                             builder_.getInt64(step)),
                         builder_.getInt64(1));

  std::vector<ir::ValueId> carried;
  std::vector<uint32_t> numbers;  // of those that somebody reads
  LlvmValues values;
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    if (!IsLive(inst, k)) continue;
    numbers.push_back(k);
    carried.push_back(CarriedParam(function(), inst, k));
    const Lane init = GetLane(function().operand(inst, FirstInit(inst) + k));
    values.push_back(block_.plan.uniform[carried.back().index] ? LaneZero(init) : AsVector(init));
  }
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* body = emitter_.NewBlock("inner");
  llvm::BasicBlock* after = emitter_.NewBlock("inner.end");
  builder_.CreateCondBr(runs, body, after);
  builder_.SetInsertPoint(body);
  llvm::PHINode* counter = builder_.CreatePHI(lo->getType(), 2);
  llvm::PHINode* left = builder_.CreatePHI(wide, 2);
  counter->addIncoming(lo, before);
  left->addIncoming(trips, before);
  SetLane(CounterOf(function(), inst), {counter});
  std::vector<llvm::PHINode*> phis;
  for (size_t k = 0; k < carried.size(); ++k) {
    phis.push_back(builder_.CreatePHI(values[k]->getType(), 2));
    phis[k]->addIncoming(values[k], before);
    SetLane(carried[k],
            block_.plan.uniform[carried[k].index] ? Lane{phis[k]} : Lane{nullptr, 0, phis[k]});
  }
  const Inst& yield = EmitBody(Function::region_of(inst, 0));
  LlvmValues next;
  for (size_t k = 0; k < carried.size(); ++k) {
    const Lane lane = GetLane(function().operand(yield, numbers[k]));
    next.push_back(block_.plan.uniform[carried[k].index] ? LaneZero(lane) : AsVector(lane));
  }
  llvm::Value* next_counter = builder_.CreateAdd(
      counter,
      llvm::ConstantInt::get(counter->getType(), step, /*IsSigned=*/false, /*ImplicitTrunc=*/true));
  llvm::Value* next_left = builder_.CreateSub(left, builder_.getInt64(1));
  llvm::BasicBlock* end = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpNE(next_left, builder_.getInt64(0)), body, after);
  counter->addIncoming(next_counter, end);
  left->addIncoming(next_left, end);
  builder_.SetInsertPoint(after);
  std::vector<llvm::PHINode*> results;
  for (size_t k = 0; k < carried.size(); ++k) {
    phis[k]->addIncoming(next[k], end);
    results.push_back(builder_.CreatePHI(values[k]->getType(), 2));
    results[k]->addIncoming(values[k], before);
    results[k]->addIncoming(next[k], end);
  }
  for (size_t k = 0; k < carried.size(); ++k) {
    const ir::ValueId result = Function::result_of(inst, numbers[k]);
    llvm::Value* value = results[k];
    if (facts().canonical[result.index]) value = ops_.Canonical(value);
    SetLane(result, block_.plan.uniform[carried[k].index] ? Lane{value} : Lane{nullptr, 0, value});
  }
}

// Only math functions: they have no loops and no memory, and take neither fuel nor depth.
void LaneEmitter::EmitCall(const Inst& inst) {
  const size_t callee_id = static_cast<size_t>(function().word(inst, 0));
  const Function& callee = emitter_.program().functions[callee_id];
  Frame frame{&callee, &emitter_.shared().facts.functions[callee_id],
              std::vector<Lane>(callee.values.size())};
  for (uint32_t i = 0; i < callee.param_count(); ++i)
    frame.values[callee.param(i).index] = GetLane(function().operand(inst, i));
  frames_.push_back(std::move(frame));
  const Inst& end = EmitBody(callee.body);
  std::vector<Lane> results;
  for (ir::ValueId value : callee.operands_of(end)) results.push_back(GetLane(value));
  frames_.pop_back();
  for (uint32_t i = 0; i < inst.results.count; ++i)
    SetLane(Function::result_of(inst, i), results[i]);
}

}  // namespace frazil::targets::native
