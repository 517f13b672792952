// Instructions in lanes. Ops come from OpEmitter, which does scalars and vectors alike; here is what lanes add:
// indices that stay scalars, traps that are tested for all lanes at once, integer folds.
#include "targets/native/vectors/vector_lanes.h"

#include <llvm/IR/Constants.h>

#include <algorithm>

#include "base/check.h"
#include "ir/facts/inst_facts.h"

namespace frazil::targets::native {

using ir::Inst;
using ir::Op;

unsigned VectorBytes(exec::CpuLevel level) {
  switch (level) {
    case exec::CpuLevel::Baseline: return 16;
    case exec::CpuLevel::Avx2: return 32;
    case exec::CpuLevel::Avx512: return 64;
  }
  return 16;
}

LaneEmitter::LaneEmitter(FunctionEmitter& emitter, const LaneBlock& block)
    : emitter_(emitter), block_(block), builder_(emitter.builder()), ops_(emitter.ops()) {
  const ir::Function& function = emitter.function();
  frames_.push_back({&function, &emitter.facts(), std::vector<Lane>(function.values.size())});
}

void LaneEmitter::Run(LlvmValues& folds) {
  folds_ = &folds;
  if (block_.rest != nullptr) {
    tail_mask_ = FirstLanes(block_.lanes, block_.rest);
    mask_ = tail_mask_;
  }
  for (const LoopAccess& access : block_.plan.accesses)
    if (access.shape == LoopAccess::Shape::Unit && !access.hoisted && !access.ranged)
      UnitBound(access.buffer);
  SetLane(CounterOf(function(), block_.loop), {block_.counter, 1});
  for (size_t f = 0; f < folds.size(); ++f)
    SetLane(CarriedParam(function(), block_.loop, block_.plan.folds[f].carried),
            {nullptr, 0, folds[f]});
  EmitBody(ir::Function::region_of(block_.loop, 0));
  FlushStores();
}

std::vector<LaneStore> LaneEmitter::RunGiven() {
  tail_mask_ = mask_ = block_.given.mask;
  SetLane(CounterOf(function(), block_.loop), {block_.counter, 1});
  const ir::ValueId result = ir::Function::result_of(function().inst(block_.given.loop));
  const bool waits = IsOnlyStored(result) || !facts().canonical[result.index];
  SetLane(result, {nullptr, 0, waits ? block_.given.value : Canonical(block_.given.value)});
  EmitBody(ir::Function::region_of(block_.loop, 0));
  for (LaneStore& store : stores_) store.value = ToMemory(store.type, store.value);
  return std::move(stores_);
}

// A store of the given loop's tail makes it the one NaN together with its neighbors.
bool LaneEmitter::IsOnlyStored(ir::ValueId value) const {
  if (!block_.given.loop.valid() || !is_top()) return false;
  const ir::Function& all = function();
  for (const ir::Inst& user : all.insts)
    for (uint32_t i = 0; i < user.operands.count; ++i)
      if (all.operand(user, i) == value && (user.op != Op::Store || i != 2)) return false;
  return true;
}

llvm::Value* LaneEmitter::FirstLanes(unsigned lanes, llvm::Value* count) {
  // Lane numbers as narrow as the elements, or the mask takes several registers.
  llvm::Type* number = builder_.getIntNTy(lanes <= 16 ? 32 : 16);
  llvm::SmallVector<llvm::Constant*, 64> numbers;
  for (unsigned i = 0; i < lanes; ++i) numbers.push_back(llvm::ConstantInt::get(number, i));
  return builder_.CreateICmpULT(
      llvm::ConstantVector::get(numbers),
      builder_.CreateVectorSplat(lanes, builder_.CreateTrunc(count, number)), "tail");
}

const Inst& LaneEmitter::EmitBody(ir::RegionId region) {
  const std::vector<ir::InstId>& insts = function().region(region).insts;
  for (size_t i = 0; i + 1 < insts.size(); ++i)
    if (facts().needed[insts[i].index]) EmitInst(insts[i]);
  return function().inst(insts.back());
}

void LaneEmitter::EmitInst(ir::InstId id) {
  const Inst& inst = function().inst(id);
  if (is_top() && id == block_.given.loop) return;
  switch (inst.op) {
    case Op::Const:
      return SetLane(ir::Function::result_of(inst),
                     {ops_.Constant(inst.type, function().words_of(inst))});
    case Op::Length:
      return SetLane(ir::Function::result_of(inst),
                     {emitter_.LengthOf(function().operand(inst, 0))});
    case Op::Load: return EmitLoad(id);
    case Op::Store: return EmitStore(id);
    case Op::Lookup: return EmitLookup(inst);
    case Op::Assert: return BailIfAny(builder_.CreateNot(Vector(function().operand(inst, 0))));
    case Op::Unreachable:
      return BailIfAny(llvm::ConstantInt::getTrue(LanesOf(builder_.getInt1Ty())));
    case Op::If: return EmitIf(inst);
    case Op::For: return EmitInnerLoop(inst);
    case Op::While: return EmitWhile(inst);
    case Op::Call: return EmitCall(inst);
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor: return EmitDivision(inst);
    case Op::AddChecked:
    case Op::SubChecked:
    case Op::MulChecked:
    case Op::NegChecked:
    case Op::AbsChecked:
    case Op::DivChecked:
    case Op::RemChecked:
    case Op::CastChecked: return EmitChecked(inst);
    default:
      if (is_top())
        for (const LoopFold& fold : block_.plan.folds)
          if (fold.step == id) return EmitFold(inst);
      return EmitPure(inst);
  }
}

bool LaneEmitter::TakeOperands(const Inst& inst, LlvmValues& in) {
  std::span<const ir::ValueId> operands = function().operands_of(inst);
  bool is_uniform = true;
  for (ir::ValueId operand : operands) is_uniform = is_uniform && GetLane(operand).is_uniform();
  for (ir::ValueId operand : operands)
    in.push_back(is_uniform ? GetLane(operand).scalar : Vector(operand));
  return is_uniform;
}

void LaneEmitter::EmitPure(const Inst& inst) {
  if (EmitStride(inst)) return;
  LlvmValues in;
  const bool is_uniform = TakeOperands(inst, in);
  const ir::Type from = function().type(function().operand(inst, 0));
  const bool is_inside =
      inst.op == Op::Cast && !is_uniform && Contains(ir::sets::Wide, from.scalar) &&
      IsFixedInt(inst.type.scalar) &&
      OpEmitter::FitsInteger(inst.type, facts().ranges->Float(function().operand(inst, 0)));
  llvm::Value* value =
      is_inside ? ops_.CastInside(inst.type, in[0])
      : is_uniform || ops_.ComputesVector(inst.op, inst.type, from) || inst.op == Op::Select
          ? ops_.Compute(inst.op, inst.type, from, in)
          : LaneByLane(inst, from, in);
  const ir::ValueId result = ir::Function::result_of(inst);
  if (facts().canonical[result.index] && !IsOnlyStored(result)) value = Canonical(value);
  SetEither(inst, value);
}

// NaNs are rare: one comparison of one half with the other finds them, and only then lanes are chosen one by one.
llvm::Value* LaneEmitter::Canonical(llvm::Value* value) {
  if (!value->getType()->isVectorTy() || block_.lanes % 4 != 0 || mask_ != nullptr)
    return ops_.Canonical(value);
  // Pieces of a register each, or of half of a short block: two of them to a comparison.
  const unsigned element = value->getType()->getScalarSizeInBits() / 8;
  const unsigned piece = std::min(block_.lanes / 2, VectorBytes(emitter_.level()) / element);
  llvm::Value* found = nullptr;
  for (unsigned start = 0; start < block_.lanes; start += 2 * piece) {
    llvm::SmallVector<int, 64> low, high;
    for (unsigned i = start; i < start + piece; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + piece));
    }
    llvm::Value* pair = builder_.CreateFCmpUNO(builder_.CreateShuffleVector(value, low),
                                               builder_.CreateShuffleVector(value, high));
    found = found == nullptr ? pair : builder_.CreateOr(found, pair);
  }
  llvm::Value* any = Any(found);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* rare = emitter_.NewBlock("nan");
  llvm::BasicBlock* next = emitter_.NewBlock("numbers");
  emitter_.BranchUnlikely(any, rare, next);
  builder_.SetInsertPoint(rare);
  llvm::Value* fixed = ops_.Canonical(value);
  llvm::BasicBlock* rare_end = builder_.GetInsertBlock();
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
  llvm::PHINode* phi = builder_.CreatePHI(value->getType(), 2);
  phi->addIncoming(value, before);
  phi->addIncoming(fixed, rare_end);
  return phi;
}

// For the few ops without vectors; in a long body they cost less than all of it one by one.
llvm::Value* LaneEmitter::LaneByLane(const Inst& inst, ir::Type from, const LlvmValues& in) {
  llvm::Value* result = llvm::PoisonValue::get(LanesOf(ops_.TypeOf(inst.type)));
  for (unsigned i = 0; i < block_.lanes; ++i) {
    LlvmValues scalars;
    for (llvm::Value* vector : in) scalars.push_back(builder_.CreateExtractElement(vector, i));
    result =
        builder_.CreateInsertElement(result, ops_.Compute(inst.op, inst.type, from, scalars), i);
  }
  return result;
}

// Integers that grow by the same amount from lane to lane: sums, products with a known number, and casts that cut.
bool LaneEmitter::EmitStride(const Inst& inst) {
  if (!inst.type.is_scalar() || !IsFixedInt(inst.type.scalar) || inst.results.count != 1)
    return false;
  auto known = [](const Lane& lane) -> const llvm::ConstantInt* {
    return lane.is_uniform() ? llvm::dyn_cast<llvm::ConstantInt>(lane.scalar) : nullptr;
  };
  const ir::ValueId result = ir::Function::result_of(inst);
  const Lane a = GetLane(function().operand(inst, 0));
  if (a.scalar == nullptr) return false;
  if (inst.op == Op::Cast) {
    const ir::Type from = function().type(function().operand(inst, 0));
    if (a.is_uniform() || !IsFixedInt(from.scalar) || BitsOf(from) < BitsOf(inst.type))
      return false;
    llvm::Value* cut = builder_.CreateTrunc(a.scalar, ops_.TypeOf(inst.type));
    return SetLane(result, {cut, a.stride}), true;
  }
  if (inst.op != Op::Add && inst.op != Op::Sub && inst.op != Op::Mul) return false;
  const Lane b = GetLane(function().operand(inst, 1));
  if (b.scalar == nullptr || (a.is_uniform() && b.is_uniform())) return false;
  // Strides wrap as the values do.
  const uint64_t x = static_cast<uint64_t>(a.stride);
  const uint64_t y = static_cast<uint64_t>(b.stride);
  if (inst.op == Op::Add)
    return SetLane(result, {builder_.CreateAdd(a.scalar, b.scalar), static_cast<int64_t>(x + y)}),
           true;
  if (inst.op == Op::Sub)
    return SetLane(result, {builder_.CreateSub(a.scalar, b.scalar), static_cast<int64_t>(x - y)}),
           true;
  const llvm::ConstantInt* factor = known(a) != nullptr ? known(a) : known(b);
  if (factor == nullptr) return false;
  const uint64_t stride = (x + y) * static_cast<uint64_t>(factor->getSExtValue());
  return SetLane(result, {builder_.CreateMul(a.scalar, b.scalar), static_cast<int64_t>(stride)}),
         true;
}

// Lanes that do not count may hold a zero: they divide by one.
void LaneEmitter::CheckDivisor(const Inst& inst, llvm::Value*& divisor) {
  llvm::Value* is_zero = ops_.IsZero(inst.type, divisor);
  if (DivisorMayBeZero(function(), facts(), inst)) BailIfAny(is_zero);
  if (mask_ != nullptr)
    divisor =
        builder_.CreateSelect(is_zero, llvm::ConstantInt::get(divisor->getType(), 1), divisor);
}

void LaneEmitter::EmitDivision(const Inst& inst) {
  LlvmValues in;
  TakeOperands(inst, in);
  CheckDivisor(inst, in[1]);
  if (in[0]->getType()->isVectorTy() && BitsOf(inst.type) == 64 && IsShort(inst, 0) &&
      IsShort(inst, 1)) {
    for (llvm::Value*& value : in)
      value = builder_.CreateTrunc(value, LanesOf(builder_.getInt32Ty()));
    llvm::Value* half = ops_.Compute(inst.op, ir::types::U32, ir::types::U32, in);
    return SetVector(inst, builder_.CreateZExt(half, LanesOf(builder_.getInt64Ty())));
  }
  SetEither(inst, ops_.Compute(inst.op, inst.type, inst.type, in));
}

// Does the operand fit 32 bits without a sign? Division then needs no second way for long numbers.
bool LaneEmitter::IsShort(const Inst& inst, uint32_t operand) const {
  const IntRange range = facts().ranges->Int(function().operand(inst, operand));
  return range.low >= 0 && range.high <= UINT32_MAX;
}

void LaneEmitter::EmitChecked(const Inst& inst) {
  LlvmValues in;
  TakeOperands(inst, in);
  if (inst.op == Op::DivChecked || inst.op == Op::RemChecked) CheckDivisor(inst, in[1]);
  const ir::Type from = function().type(function().operand(inst, 0));
  OpEmitter::Checked checked = ops_.ComputeChecked(inst.op, inst.type, from, in);
  if (checked.overflow != nullptr) BailIfAny(checked.overflow);
  SetEither(inst, checked.value);
}

void LaneEmitter::EmitFold(const Inst& inst) {
  llvm::Value* in[] = {Vector(function().operand(inst, 0)), Vector(function().operand(inst, 1))};
  for (size_t f = 0; f < folds_->size(); ++f) {
    const LoopFold& fold = block_.plan.folds[f];
    if (&function().inst(fold.step) != &inst) continue;
    llvm::Value* next = ops_.Compute(inst.op, inst.type, inst.type, in);
    if (mask_ != nullptr) next = builder_.CreateSelect(mask_, next, (*folds_)[f]);
    (*folds_)[f] = next;
    SetVector(inst, next);
  }
}

void LaneEmitter::SetVector(const Inst& inst, llvm::Value* vector) {
  SetLane(ir::Function::result_of(inst), {nullptr, 0, vector});
}

void LaneEmitter::SetEither(const Inst& inst, llvm::Value* value) {
  SetLane(ir::Function::result_of(inst),
          value->getType()->isVectorTy() ? Lane{nullptr, 0, value} : Lane{value});
}

Lane LaneEmitter::GetLane(ir::ValueId value) const {
  const Lane& lane = frames_.back().values[value.index];
  if (lane.scalar != nullptr || lane.vector != nullptr) return lane;
  CHECK(is_top());
  return {emitter_.Get(value)};
}

llvm::VectorType* LaneEmitter::LanesOf(llvm::Type* scalar) const {
  return llvm::FixedVectorType::get(scalar, block_.lanes);
}

llvm::Value* LaneEmitter::AsVector(const Lane& lane) {
  if (lane.vector != nullptr) return lane.vector;
  llvm::Value* splat = builder_.CreateVectorSplat(block_.lanes, lane.scalar);
  if (lane.stride == 0) return splat;
  llvm::SmallVector<llvm::Constant*, 64> distances;
  for (unsigned i = 0; i < block_.lanes; ++i)
    distances.push_back(llvm::ConstantInt::get(lane.scalar->getType(),
                                               static_cast<uint64_t>(lane.stride) * i,
                                               /*IsSigned=*/false, /*ImplicitTrunc=*/true));
  return builder_.CreateAdd(splat, llvm::ConstantVector::get(distances));
}

llvm::Value* LaneEmitter::LaneZero(const Lane& lane) {
  return lane.scalar != nullptr ? lane.scalar
                                : builder_.CreateExtractElement(lane.vector, uint64_t{0});
}

llvm::Value* LaneEmitter::Vector(ir::ValueId value) { return AsVector(GetLane(value)); }

llvm::Value* LaneEmitter::Both(llvm::Value* mask, llvm::Value* other) {
  return mask == nullptr ? other : builder_.CreateAnd(mask, other);
}

llvm::Value* LaneEmitter::Any(llvm::Value* mask) {
  llvm::Type* bits =
      builder_.getIntNTy(llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements());
  return builder_.CreateICmpNE(builder_.CreateBitCast(mask, bits), llvm::ConstantInt::get(bits, 0));
}

void LaneEmitter::BailIfAny(llvm::Value* lanes_or_bit) {
  llvm::Value* bit = lanes_or_bit;
  if (llvm::isa<llvm::Constant>(bit) && llvm::cast<llvm::Constant>(bit)->isNullValue()) return;
  if (bit->getType()->isVectorTy()) bit = Any(Both(mask_, bit));
  llvm::BasicBlock* next = emitter_.NewBlock("fine");
  emitter_.BranchUnlikely(bit, block_.bail, next);
  builder_.SetInsertPoint(next);
}

}  // namespace frazil::targets::native
