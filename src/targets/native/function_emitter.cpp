// Values, blocks, traps and the two forms of a function. A trap stores its place in the run and returns its status at
// once: scratch memory is on the run's stack, which its owner clears, so no cleanup code is needed on the way out.
#include "targets/native/function_emitter.h"

#include <fmt/format.h>
#include <llvm/IR/Intrinsics.h>

#include "targets/native/elf_linker.h"

namespace frazil::targets::native {

using namespace ir::names;
using exec::NativeRunLayout;

namespace {

constexpr llvm::Align WordAddress = llvm::Align::Constant<8>();

bool IsSeveralWords(ir::Type type) {
  return type.scalar == Scalar::Int || type.scalar == Scalar::XField ||
         type.scalar == Scalar::Digest;
}

}  // namespace

// --- the module -----------------------------------------------------------------------------------------------

llvm::Value* ModuleEmitter::Threshold(llvm::IRBuilderBase& builder, uint64_t usual,
                                      uint64_t least) {
  llvm::Type* const word = builder.getInt64Ty();
  llvm::GlobalVariable*& place = thresholds[{usual, least}];
  if (place == nullptr) {
    place = new llvm::GlobalVariable(
        module, word, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
        builder.getInt64(usual), fmt::format("{}{}.{}", ThresholdPrefix, thresholds.size(), least));
    place->setAlignment(llvm::Align(8));
  }
  // Volatile: the code generator may not take the number for granted.
  return builder.CreateAlignedLoad(word, place, llvm::Align(8), /*isVolatile=*/true);
}

llvm::Function* ModuleEmitter::AddFunction(llvm::FunctionType* type, const std::string& name) {
  llvm::Function* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  if (level == exec::CpuLevel::Avx512) {
    function->addFnAttr("prefer-vector-width", "512");
    function->addFnAttr("min-legal-vector-width", "512");
  }
  return function;
}

llvm::GlobalVariable* ModuleEmitter::Table(ir::DataId id) {
  if (tables[id.index] == nullptr) tables[id.index] = AddTable(module, program.data[id.index], 0);
  return tables[id.index];
}

// --- functions ------------------------------------------------------------------------------------------------

FunctionEmitter::FunctionEmitter(ModuleEmitter& shared, ir::FuncId id, llvm::Function* target,
                                 bool is_entry)
    : RegionEmitter(shared.program, shared.facts, id, target,
                    Machine{.modern = shared.is_modern(), .aligned = false}, this),
      shared_(shared),
      is_entry_(is_entry) {
  is_nested_ = true;
}

// Of several results, floats travel as bits: x86 returns the third float on the x87 stack, which quiets a signaling NaN.
llvm::Type* FunctionEmitter::Returned(llvm::Type* type) {
  return type->isFloatingPointTy()
             ? llvm::IntegerType::get(type->getContext(), type->getPrimitiveSizeInBits())
             : type;
}

llvm::FunctionType* FunctionEmitter::TypeOfFunction(const ModuleEmitter& shared, ir::FuncId id) {
  Builder builder(shared.module.getContext());
  const OpEmitter ops(builder, shared.is_modern(), nullptr);
  const ir::Function& function = shared.program.functions[id.index];
  std::vector<llvm::Type*> params;
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    const ir::Type type = function.param_type(i);
    params.push_back(type.is_buffer() ? builder.getPtrTy() : ops.TypeOf(type));
    if (type.is_buffer()) params.push_back(builder.getInt64Ty());
  }
  params.push_back(builder.getPtrTy());
  std::vector<llvm::Type*> results;
  if (shared.facts.fallible[id.index]) results.push_back(builder.getInt32Ty());
  for (ir::Type type : function.results) results.push_back(ops.TypeOf(type));
  if (results.size() > 1)
    for (llvm::Type*& type : results) type = Returned(type);
  return FunctionTypeOf(builder, params, results);
}

void FunctionEmitter::EmitFunction() {
  const uint32_t position = BindArguments();
  run_ = target_->getArg(position);
  if (shared_.facts.recursive[id_.index]) CheckStack();
  llvm::Value* const mark = OpenScratch(function_.body);
  const ir::Inst& last = EmitBody(function_.body);
  CloseScratch(mark);
  EmitReturn(last);
}

void FunctionEmitter::EmitEntry() {
  llvm::Value* const arguments = target_->getArg(0);
  results_address_ = target_->getArg(1);
  run_ = target_->getArg(2);
  uint32_t word = 0;
  auto next = [&](uint32_t words) {
    llvm::Value* const address =
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), arguments, word);
    word += words;
    return address;
  };
  for (uint32_t i = 0; i < function_.param_count(); ++i) {
    const ValueId param = function_.param(i);
    const ir::Type type = function_.type(param);
    if (!type.is_buffer()) {
      llvm::Value* const address = next(ir::WordsOf(type));
      if (IsLive(param)) Set(param, FromWords(type, address));
      continue;
    }
    Set(param, builder_.CreateAlignedLoad(builder_.getPtrTy(), next(1), WordAddress));
    llvm::Value* const length = next(1);
    if (const std::optional<int64_t> known = KnownLengthOf(param))
      SetLength(param, builder_.getInt64(static_cast<uint64_t>(*known)));
    else
      SetLength(param, builder_.CreateAlignedLoad(builder_.getInt64Ty(), length, WordAddress));
  }
  llvm::Value* const mark = OpenScratch(function_.body);
  const ir::Inst& last = EmitBody(function_.body);
  CloseScratch(mark);
  EmitReturn(last);
}

// A tensor of a constant shape has no other: code for shorter ones would never run, and what never ran is not admitted.
std::optional<int64_t> FunctionEmitter::KnownLengthOf(ValueId param) const {
  const auto& shapes = shared_.facts.functions[id_.index].shapes;
  const auto shape = shapes.find(param.index);
  if (shape == shapes.end()) return std::nullopt;
  int64_t length = 1;
  for (const ir::Dim dim : shape->second)
    if (dim.is_symbol() || __builtin_mul_overflow(length, dim.value, &length)) return std::nullopt;
  return length;
}

void FunctionEmitter::EmitReturn(const ir::Inst& inst) {
  if (is_entry_) {
    uint32_t word = 0;
    for (ValueId value : function_.operands_of(inst)) {
      const ir::Type type = function_.type(value);
      ToWords(type, Get(value),
              builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), results_address_, word));
      word += ir::WordsOf(type);
    }
    builder_.CreateRet(builder_.getInt32(0));
    return;
  }
  LlvmValues results;
  if (shared_.facts.fallible[id_.index]) results.push_back(builder_.getInt32(0));
  for (ValueId value : function_.operands_of(inst)) results.push_back(Get(value));
  if (results.empty()) {
    builder_.CreateRetVoid();
  } else if (results.size() == 1) {
    builder_.CreateRet(results[0]);
  } else {
    for (llvm::Value*& value : results)
      value = builder_.CreateBitCast(value, Returned(value->getType()));
    builder_.CreateAggregateRet(results.data(), static_cast<uint32_t>(results.size()));
  }
}

llvm::Value* FunctionEmitter::FromWords(ir::Type type, llvm::Value* address) {
  if (IsSeveralWords(type))
    return builder_.CreateAlignedLoad(ops_.TypeOf(type), address, WordAddress);
  // The low bytes of a word come first.
  return LoadElement(type, address);
}

void FunctionEmitter::ToWords(ir::Type type, llvm::Value* value, llvm::Value* address) {
  if (!IsSeveralWords(type)) {
    llvm::Type* const word = builder_.getInt64Ty();
    if (value->getType()->isFloatingPointTy())
      value = builder_.CreateBitCast(value,
                                     builder_.getIntNTy(value->getType()->getScalarSizeInBits()));
    value = ir::IsSigned(type.scalar) ? builder_.CreateSExtOrTrunc(value, word)
                                      : builder_.CreateZExtOrTrunc(value, word);
  }
  builder_.CreateAlignedStore(value, address, WordAddress);
}

// --- traps ------------------------------------------------------------------------------------------------------

llvm::BasicBlock* FunctionEmitter::TrapBlock(ir::Trap kind, Op op) {
  const auto [place, is_new] = trap_blocks_.try_emplace({kind, op, parallel_index_}, nullptr);
  if (!is_new) return place->second;
  llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  if (trap_exit_ == nullptr) {
    trap_exit_ = NewBlock("trapped");
    builder_.SetInsertPoint(trap_exit_);
    llvm::PHINode* const status = builder_.CreatePHI(builder_.getInt32Ty(), 4);
    llvm::PHINode* const where = builder_.CreatePHI(builder_.getInt32Ty(), 4);
    llvm::PHINode* const index = builder_.CreatePHI(builder_.getInt64Ty(), 4);
    builder_.CreateAlignedStore(where, RunField(NativeRunLayout::TrapOp), WordAddress);
    builder_.CreateAlignedStore(index, RunField(NativeRunLayout::TrapIndex), WordAddress);
    ReturnStatus(status);
  }
  place->second = NewBlock("trap");
  builder_.SetInsertPoint(place->second);
  builder_.CreateBr(trap_exit_);
  llvm::Value* const incoming[] = {
      builder_.getInt32(1 + static_cast<uint32_t>(kind)),
      builder_.getInt32(static_cast<uint32_t>(op)),
      parallel_index_ != nullptr ? parallel_index_ : builder_.getInt64(static_cast<uint64_t>(-1))};
  auto phi = trap_exit_->begin();
  for (llvm::Value* value : incoming)
    llvm::cast<llvm::PHINode>(&*phi++)->addIncoming(value, place->second);
  return place->second;
}

void FunctionEmitter::ReturnStatus(llvm::Value* status) {
  llvm::Type* const type = target_->getReturnType();
  if (!type->isStructTy()) {
    builder_.CreateRet(status);
    return;
  }
  builder_.CreateRet(builder_.CreateInsertValue(llvm::Constant::getNullValue(type), status, 0));
}

void FunctionEmitter::PropagateIf(llvm::Value* status, std::optional<Op> op) {
  llvm::BasicBlock* const failed = NewBlock("failed");
  llvm::BasicBlock* const next = NewBlock("go");
  BranchUnlikely(builder_.CreateICmpNE(status, builder_.getInt32(0)), failed, next);
  builder_.SetInsertPoint(failed);
  if (op)
    builder_.CreateAlignedStore(builder_.getInt32(static_cast<uint32_t>(*op)),
                                RunField(NativeRunLayout::TrapOp), WordAddress);
  if (op || parallel_index_ != nullptr)
    builder_.CreateAlignedStore(
        parallel_index_ != nullptr ? parallel_index_ : builder_.getInt64(static_cast<uint64_t>(-1)),
        RunField(NativeRunLayout::TrapIndex), WordAddress);
  ReturnStatus(status);
  builder_.SetInsertPoint(next);
}

// --- the run --------------------------------------------------------------------------------------------------

llvm::Value* FunctionEmitter::RunField(size_t offset) {
  shared_.uses_run = true;
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), run_, offset);
}

llvm::Value* FunctionEmitter::CallHelper(exec::NativeHelper helper, llvm::Type* result,
                                         std::span<llvm::Value* const> arguments) {
  llvm::Type* const pointer = builder_.getPtrTy();
  llvm::Value* const table =
      builder_.CreateAlignedLoad(pointer, RunField(NativeRunLayout::Helpers), WordAddress);
  llvm::Value* const place =
      builder_.CreateConstInBoundsGEP1_64(pointer, table, static_cast<uint64_t>(helper));
  llvm::Value* const function = builder_.CreateAlignedLoad(pointer, place, WordAddress);
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::CallInst* const call =
      builder_.CreateCall(llvm::FunctionType::get(result, types, false), function,
                          llvm::ArrayRef(arguments.data(), arguments.size()));
  call->setDoesNotThrow();
  return call;
}

llvm::Value* FunctionEmitter::StackWords(uint32_t number, uint32_t words) {
  llvm::AllocaInst*& place = stack_words_[{number, words}];
  if (place == nullptr) {
    llvm::IRBuilderBase::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(&target_->getEntryBlock(), target_->getEntryBlock().begin());
    place = builder_.CreateAlloca(builder_.getInt64Ty(), builder_.getInt32(words));
    place->setAlignment(WordAddress);
  }
  return place;
}

void FunctionEmitter::CheckStack() {
  llvm::Value* const frame = builder_.CreateIntrinsic(
      llvm::Intrinsic::frameaddress, {builder_.getPtrTy()}, {builder_.getInt32(0)});
  llvm::Value* const limit = builder_.CreateAlignedLoad(
      builder_.getInt64Ty(), RunField(NativeRunLayout::StackLimit), WordAddress);
  llvm::Value* const here = builder_.CreatePtrToInt(frame, builder_.getInt64Ty());
  TrapIf(builder_.CreateICmpULT(here, limit), ir::Trap::Depth, Op::Call);
}

}  // namespace frazil::targets::native
