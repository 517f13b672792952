// Loops that lanes leave one by one. The block goes on while some lane does; a lane that is done keeps what it carries.
// The stop flag ends such a loop too: the scalar loop takes over and traps as it would have.
#include "base/check.h"
#include "exec/native/native_run.h"
#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {

using namespace ir::names;

std::vector<uint32_t> LaneEmitter::LiveResults(const Inst& inst) const {
  std::vector<uint32_t> numbers;
  for (uint32_t k = 0; k < inst.results.count; ++k)
    if (IsLive(inst, k)) numbers.push_back(k);
  return numbers;
}

LlvmValues LaneEmitter::CarriedInits(const Inst& inst, const std::vector<uint32_t>& numbers) {
  LlvmValues inits;
  for (uint32_t k : numbers) {
    const Lane lane = GetLane(function().operand(inst, FirstInit(inst) + k));
    const bool is_uniform = block_.plan.uniform[CarriedParam(function(), inst, k).index];
    inits.push_back(is_uniform ? LaneZero(lane) : AsVector(lane));
  }
  return inits;
}

LaneEmitter::Carried LaneEmitter::BeginCarried(const Inst& inst, llvm::BasicBlock* before,
                                               const LlvmValues& inits,
                                               const std::vector<uint32_t>& numbers) {
  Carried carried{numbers, {}};
  for (size_t i = 0; i < numbers.size(); ++i) {
    carried.phis.push_back(builder_.CreatePHI(inits[i]->getType(), 2));
    carried.phis[i]->addIncoming(inits[i], before);
    const bool is_uniform = !inits[i]->getType()->isVectorTy();
    SetLane(CarriedParam(function(), inst, numbers[i]),
            is_uniform ? Lane{carried.phis[i]} : Lane{nullptr, 0, carried.phis[i]});
  }
  return carried;
}

// What the next turn starts from; lanes that are not active keep what they have.
void LaneEmitter::EndTurn(const Inst& inst, const Inst& yield, const Carried& carried,
                          llvm::Value* active) {
  LlvmValues next;
  for (size_t i = 0; i < carried.numbers.size(); ++i) {
    const Lane lane = GetLane(function().operand(yield, carried.numbers[i]));
    if (!carried.phis[i]->getType()->isVectorTy()) {
      next.push_back(LaneZero(lane));
      continue;
    }
    llvm::Value* value = AsVector(lane);
    next.push_back(active == nullptr ? value
                                     : builder_.CreateSelect(active, value, carried.phis[i]));
  }
  if (inst.op == Op::While) BailIfStopped();
  for (size_t i = 0; i < next.size(); ++i)
    carried.phis[i]->addIncoming(next[i], builder_.GetInsertBlock());
}

void LaneEmitter::SetCarriedResults(const Inst& inst, const Carried& carried) {
  for (size_t i = 0; i < carried.numbers.size(); ++i) {
    const ir::ValueId result = Function::result_of(inst, carried.numbers[i]);
    llvm::Value* value = carried.phis[i];
    if (facts().canonical[result.index]) value = ops_.Canonical(value);
    SetLane(result, value->getType()->isVectorTy() ? Lane{nullptr, 0, value} : Lane{value});
  }
}

void LaneEmitter::BailIfStopped() {
  llvm::Value* flag = builder_.CreateAlignedLoad(
      builder_.getPtrTy(), emitter_.RunField(exec::NativeRunLayout::Stop), llvm::Align(8));
  llvm::LoadInst* stopped = builder_.CreateAlignedLoad(builder_.getInt8Ty(), flag, llvm::Align(1));
  stopped->setAtomic(llvm::AtomicOrdering::Monotonic);
  BailIfAny(builder_.CreateICmpNE(stopped, builder_.getInt8(0)));
}

// A loop whose test comes first: what follows is written into the test.
LaneEmitter::TurnBlocks LaneEmitter::BeginTurn(const std::string& name) {
  const TurnBlocks blocks = {builder_.GetInsertBlock(), emitter_.NewBlock((name + ".test").c_str()),
                             emitter_.NewBlock((name + ".body").c_str()),
                             emitter_.NewBlock((name + ".end").c_str())};
  builder_.CreateBr(blocks.turn);
  builder_.SetInsertPoint(blocks.turn);
  return blocks;
}

void LaneEmitter::EmitWhile(const Inst& inst) {
  CHECK(is_top());
  llvm::Value* const outer = mask_;
  const ir::RegionId test = Function::region_of(inst, 0), body = Function::region_of(inst, 1);
  const Inst& condition = function().inst(function().region(test).insts.back());
  const bool diverges = !block_.plan.uniform[function().operand(condition, 0).index];
  const std::vector<uint32_t> numbers = LiveResults(inst);
  const LlvmValues inits = CarriedInits(inst, numbers);
  llvm::Value* everyone =
      outer != nullptr ? outer : llvm::ConstantInt::getTrue(LanesOf(builder_.getInt1Ty()));
  const auto [before, turn, work, after] = BeginTurn("while");
  const Carried carried = BeginCarried(inst, before, inits, numbers);
  llvm::PHINode* active = nullptr;
  if (diverges) {
    active = builder_.CreatePHI(everyone->getType(), 2, "active");
    active->addIncoming(everyone, before);
    mask_ = active;
  }
  EmitBody(test);
  const Lane holds = GetLane(function().operand(condition, 0));
  llvm::Value* going = nullptr;
  if (diverges) {
    going = builder_.CreateAnd(active, AsVector(holds));
    builder_.CreateCondBr(Any(going), work, after);
    mask_ = going;
  } else {
    builder_.CreateCondBr(LaneZero(holds), work, after);
  }
  builder_.SetInsertPoint(work);
  const ir::Region& region = function().region(body);
  for (uint32_t k : numbers)
    if (k < region.params.count)
      SetLane(Function::param_of(region, k), GetLane(CarriedParam(function(), inst, k)));
  const Inst& yield = EmitBody(body);
  EndTurn(inst, yield, carried, going);
  if (diverges) active->addIncoming(going, builder_.GetInsertBlock());
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(after);
  mask_ = outer;
  SetCarriedResults(inst, carried);
}

// Every lane has bounds of its own: it counts down its own trips.
void LaneEmitter::EmitDivergentFor(const Inst& inst) {
  llvm::Value* const outer = mask_;
  const ir::ValueId counter_value = CounterOf(function(), inst);
  const bool is_signed = IsSigned(function().type(counter_value).scalar);
  const uint64_t step = static_cast<uint64_t>(function().word(inst, 0));
  llvm::Value* lo = Vector(function().operand(inst, 0));
  llvm::Value* hi = Vector(function().operand(inst, 1));
  llvm::Value* runs = is_signed ? builder_.CreateICmpSLT(lo, hi) : builder_.CreateICmpULT(lo, hi);
  llvm::Value* everyone = Both(outer, runs);
  llvm::Value* distance = builder_.CreateSub(hi, lo);
  llvm::Value* one = llvm::ConstantInt::get(distance->getType(), 1);
  llvm::Value* by =
      llvm::ConstantInt::get(distance->getType(), step, /*IsSigned=*/false, /*ImplicitTrunc=*/true);
  // Turns after the first; what lanes without a turn have is never looked at.
  llvm::Value* more = builder_.CreateSub(distance, one);
  if (step != 1) more = builder_.CreateUDiv(more, by);
  const std::vector<uint32_t> numbers = LiveResults(inst);
  const LlvmValues inits = CarriedInits(inst, numbers);
  const auto [before, turn, work, after] = BeginTurn("for");
  const Carried carried = BeginCarried(inst, before, inits, numbers);
  llvm::PHINode* active = builder_.CreatePHI(everyone->getType(), 2, "active");
  llvm::PHINode* counter = builder_.CreatePHI(lo->getType(), 2);
  llvm::PHINode* left = builder_.CreatePHI(more->getType(), 2);
  active->addIncoming(everyone, before);
  counter->addIncoming(lo, before);
  left->addIncoming(more, before);
  builder_.CreateCondBr(Any(active), work, after);
  builder_.SetInsertPoint(work);
  mask_ = active;
  SetLane(counter_value, {nullptr, 0, counter});
  const Inst& yield = EmitBody(Function::region_of(inst, 0));
  EndTurn(inst, yield, carried, active);
  llvm::Value* zero = llvm::Constant::getNullValue(left->getType());
  llvm::Value* going = builder_.CreateAnd(active, builder_.CreateICmpNE(left, zero));
  llvm::Value* next = builder_.CreateAdd(counter, by);
  llvm::Value* fewer = builder_.CreateSub(left, one);
  llvm::BasicBlock* end = builder_.GetInsertBlock();
  active->addIncoming(going, end);
  counter->addIncoming(next, end);
  left->addIncoming(fewer, end);
  builder_.CreateBr(turn);
  builder_.SetInsertPoint(after);
  mask_ = outer;
  SetCarriedResults(inst, carried);
}

}  // namespace frazil::targets::native
