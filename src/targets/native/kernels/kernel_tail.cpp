// Lanes (vector_lanes.h) do the work, so that whatever a vector loop can do a tail can do. Light tails stay in the registers of
// the tile; the sums of others go through a few lines of the first-level cache, which 24 copies of a math function
// would cost more than.
#include "targets/native/kernels/kernel_tail.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "targets/native/vectors/vector_index.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;
using Shape = LoopAccess::Shape;

constexpr uint32_t MostInRegisters = 64;  // instructions, those of indices included

}  // namespace

LlvmValues TailArguments(FunctionEmitter& emitter, const MatmulTail& tail) {
  LlvmValues arguments;
  for (ValueId value : tail.outside) {
    arguments.push_back(emitter.Get(value));
    if (emitter.function().type(value).is_buffer()) arguments.push_back(emitter.LengthOf(value));
  }
  return arguments;
}

TailEmitter::TailEmitter(FunctionEmitter& emitter, const MatmulTail& tail,
                         const LlvmValues& arguments, unsigned first)
    : emitter_(emitter),
      builder_(emitter.builder()),
      tail_(tail),
      function_(emitter.function()),
      hoisted_(tail.plan.accesses.size()) {
  llvm::Function* target = builder_.GetInsertBlock()->getParent();
  unsigned next = 0;
  const auto take = [&]() -> llvm::Value* {
    llvm::Value* outer = arguments[next];
    llvm::Value* inner = target->getArg(first + next);
    ++next;
    return llvm::isa<llvm::Constant>(outer) ? outer : inner;
  };
  for (ValueId value : tail.outside) {
    emitter_.Set(value, take());
    if (function_.type(value).is_buffer()) emitter_.SetLength(value, take());
  }
}

bool TailEmitter::WantsFunction(const MatmulTail& tail) {
  return tail.plan.has_call || tail.plan.work > MostInRegisters;
}

void TailEmitter::BeginTile(llvm::Value* row) {
  firsts_.clear();
  for (const TailPlace& place : tail_.places)
    firsts_.push_back(
        builder_.CreateAdd(EvaluateForm(emitter_, place.offset),
                           builder_.CreateMul(EvaluateForm(emitter_, place.by_row), row)));
}

void TailEmitter::BeginRow(llvm::Value* row, llvm::Value* row_in_tile) {
  const Inst& rows = function_.inst(tail_.rows);
  emitter_.Set(CounterOf(function_, rows), builder_.CreateAdd(row, row_in_tile));
  for (ir::InstId id : function_.region(Function::region_of(rows, 0)).insts)
    if (id != tail_.columns && emitter_.facts().needed[id.index] &&
        function_.inst(id).op != Op::Yield)
      emitter_.EmitInst(function_.inst(id));
  for (size_t i = 0; i < hoisted_.size(); ++i) {
    const LoopAccess& access = tail_.plan.accesses[i];
    const ir::Type element = function_.type(access.buffer).element();
    llvm::Value* at = builder_.CreateAdd(
        firsts_[i],
        builder_.CreateMul(EvaluateForm(emitter_, tail_.places[i].by_row), row_in_tile));
    hoisted_[i].address = emitter_.ElementAddress(element, emitter_.Get(access.buffer), at);
    if (access.shape == Shape::Uniform)
      hoisted_[i].value = emitter_.LoadElement(element, hoisted_[i].address);
  }
}

std::vector<LaneStore> TailEmitter::EmitVector(llvm::Value* column, unsigned lanes,
                                               llvm::Value* sums, llvm::Value* mask) {
  LaneBlock block{
      tail_.plan, function_.inst(tail_.columns), hoisted_, lanes, column, column, nullptr, nullptr};
  block.given = {tail_.chain, sums, mask};
  return LaneEmitter(emitter_, block).RunGiven();
}

void TailEmitter::EmitInRegisters(llvm::Value* row, llvm::Value* column, const TileShape& shape,
                                  std::span<llvm::Value* const> sums,
                                  std::span<llvm::Value* const> masks) {
  std::vector<LaneStore> stores;
  BeginTile(row);
  size_t next = 0;
  for (unsigned r = 0; r < shape.rows; ++r) {
    BeginRow(row, builder_.getInt64(r));
    unsigned start = 0;
    for (size_t v = 0; v < shape.vectors.size(); ++v) {
      llvm::Value* at = builder_.CreateAdd(column, builder_.getInt64(start));
      for (LaneStore& store : EmitVector(at, shape.vectors[v].lanes, sums[next++], masks[v]))
        stores.push_back(store);
      start += shape.vectors[v].lanes;
    }
  }
  LlvmValues any;
  for (const LaneStore& store : stores)
    if (store.is_any_nan) any.push_back(store.value);
  MakeOneNan(builder_, emitter_.ops(), any);
  next = 0;
  for (LaneStore& store : stores) {
    if (store.is_any_nan) store.value = any[next++];
    LaneEmitter::EmitStore(builder_, store);
  }
}

llvm::Function* TailEmitter::EmitFunction(ModuleEmitter& shared, ir::FuncId id,
                                          const MatmulTail& tail, const LlvmValues& arguments,
                                          unsigned width, unsigned lanes) {
  llvm::LLVMContext& context = shared.module.getContext();
  llvm::Type* index = llvm::Type::getInt64Ty(context);
  std::vector<llvm::Type*> types = {llvm::PointerType::get(context, 0), index, index, index, index};
  const unsigned first = static_cast<unsigned>(types.size());
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Function* function = shared.AddFunction(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false), "tail");
  FunctionEmitter emitter(shared, id, function, false);
  Builder& builder = emitter.builder();
  TailEmitter made(emitter, tail, arguments, first);
  llvm::Value* rows = function->getArg(3);
  const ir::Type type = made.function_.type(Function::result_of(made.function_.inst(tail.chain)));
  made.BeginTile(function->getArg(1));
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* turn = emitter.NewBlock("row");
  llvm::BasicBlock* after = emitter.NewBlock("rows.end");
  builder.CreateBr(turn);
  builder.SetInsertPoint(turn);
  llvm::PHINode* r = builder.CreatePHI(index, 2);
  r->addIncoming(builder.getInt64(0), before);
  made.BeginRow(function->getArg(1), r);
  llvm::Value* sums = emitter.ElementAddress(type, function->getArg(0),
                                             builder.CreateMul(r, builder.getInt64(width)));
  made.EmitRow(sums, function->getArg(2), function->getArg(4), lanes);
  llvm::Value* next = builder.CreateAdd(r, builder.getInt64(1));
  r->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpULT(next, rows), turn, after);
  builder.SetInsertPoint(after);
  builder.CreateRetVoid();
  return function;
}

// Whole vectors, then one under a mask.
void TailEmitter::EmitRow(llvm::Value* sums, llvm::Value* column, llvm::Value* columns,
                          unsigned lanes) {
  const ir::Type type = function_.type(Function::result_of(function_.inst(tail_.chain)));
  llvm::Type* vector = llvm::FixedVectorType::get(emitter_.ops().TypeOf(type), lanes);
  llvm::Value* step = builder_.getInt64(lanes);
  const auto emit = [&](llvm::Value* at, llvm::Value* mask) {
    llvm::Value* sum =
        builder_.CreateAlignedLoad(vector, emitter_.ElementAddress(type, sums, at), llvm::Align(4));
    for (LaneStore& store : EmitVector(builder_.CreateAdd(column, at), lanes, sum, mask)) {
      if (store.is_any_nan) store.value = emitter_.ops().Canonical(store.value);
      LaneEmitter::EmitStore(builder_, store);
    }
  };
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* whole = emitter_.NewBlock("whole");
  llvm::BasicBlock* rest = emitter_.NewBlock("rest");
  llvm::BasicBlock* masked = emitter_.NewBlock("masked");
  llvm::BasicBlock* end = emitter_.NewBlock("row.end");
  llvm::Value* left = builder_.CreateURem(columns, step);
  llvm::Value* wholes = builder_.CreateSub(columns, left);
  builder_.CreateCondBr(builder_.CreateICmpNE(wholes, builder_.getInt64(0)), whole, rest);
  builder_.SetInsertPoint(whole);
  llvm::PHINode* at = builder_.CreatePHI(step->getType(), 2);
  at->addIncoming(builder_.getInt64(0), before);
  emit(at, nullptr);
  llvm::Value* next = builder_.CreateAdd(at, step);
  at->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpULT(next, wholes), whole, rest);
  builder_.SetInsertPoint(rest);
  builder_.CreateCondBr(builder_.CreateICmpNE(left, builder_.getInt64(0)), masked, end);
  builder_.SetInsertPoint(masked);
  emit(wholes, FirstLanes(builder_, lanes, left));
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
}

}  // namespace frazil::targets::native
