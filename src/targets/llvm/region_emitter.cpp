// Values, memory and blocks.
#include "targets/llvm/region_emitter.h"

#include <llvm/IR/MDBuilder.h>

#include "base/check.h"

namespace frazil::targets {

using namespace ir::names;

namespace {

bool IsSeveralWords(ir::Type type) {
  return type.scalar == Scalar::Int || type.scalar == Scalar::XField ||
         type.scalar == Scalar::Digest;
}

}  // namespace

llvm::GlobalVariable* AddTable(llvm::Module& module, const ir::Data& data, unsigned address_space) {
  llvm::LLVMContext& context = module.getContext();
  const uint32_t bytes = ir::BytesOf(data.element) / ir::WordsOf(data.element);
  auto array = [&]<typename T>(T) {
    const std::vector<T> elements(data.words.begin(), data.words.end());
    return llvm::ConstantDataArray::get(context, llvm::ArrayRef<T>(elements));
  };
  llvm::Constant* const content = bytes == 1   ? array(uint8_t{})
                                  : bytes == 2 ? array(uint16_t{})
                                  : bytes == 4 ? array(uint32_t{})
                                               : array(uint64_t{});
  auto* const table = new llvm::GlobalVariable(
      module, content->getType(), true, llvm::GlobalValue::PrivateLinkage, content,
      "data." + data.name, nullptr, llvm::GlobalValue::NotThreadLocal, address_space);
  table->setAlignment(llvm::Align(64));
  return table;
}

llvm::FunctionType* FunctionTypeOf(Builder& builder, std::span<llvm::Type* const> params,
                                   std::span<llvm::Type* const> results) {
  const llvm::ArrayRef<llvm::Type*> all(results.data(), results.size());
  llvm::Type* const result = all.empty()       ? builder.getVoidTy()
                             : all.size() == 1 ? all[0]
                                               : llvm::StructType::get(builder.getContext(), all);
  return llvm::FunctionType::get(result, llvm::ArrayRef<llvm::Type*>(params.data(), params.size()),
                                 false);
}

RegionEmitter::RegionEmitter(const ir::Program& program, const ProgramFacts& facts, ir::FuncId id,
                             llvm::Function* target, const Machine& machine, HelperCaller* helpers)
    : program_(program),
      id_(id),
      function_(program.functions[id.index]),
      facts_(facts.functions[id.index]),
      target_(target),
      machine_(machine),
      builder_(llvm::BasicBlock::Create(target->getContext(), "start", target)),
      ops_(builder_, machine.modern, helpers),
      values_(function_.values.size(), nullptr),
      lengths_(function_.values.size(), nullptr) {}

uint32_t RegionEmitter::BindArguments() {
  uint32_t position = 0;
  for (uint32_t i = 0; i < function_.param_count(); ++i) {
    const ir::ValueId param = function_.param(i);
    Set(param, target_->getArg(position++));
    if (function_.type(param).is_buffer()) SetLength(param, target_->getArg(position++));
  }
  return position;
}

llvm::Align RegionEmitter::AlignOf(ir::Type element) const {
  if (!machine_.aligned) return llvm::Align(1);
  return llvm::Align(IsSeveralWords(element) ? 8 : ir::BytesOf(element));
}

// --- values and memory ----------------------------------------------------------------------------------------

llvm::Value* RegionEmitter::Get(ValueId value) const {
  CHECK(values_[value.index] != nullptr);
  return values_[value.index];
}

LlvmValues RegionEmitter::Operands(const ir::Inst& inst) const {
  LlvmValues values;
  values.reserve(inst.operands.count);
  for (ValueId operand : function_.operands_of(inst)) values.push_back(Get(operand));
  return values;
}

void RegionEmitter::SetResult(const ir::Inst& inst, llvm::Value* value) {
  const ValueId result = Function::result_of(inst);
  Set(result, facts_.canonical[result.index] ? ops_.Canonical(value) : value);
}

llvm::Value* RegionEmitter::ElementAddress(ir::Type element, llvm::Value* base,
                                           llvm::Value* index) {
  llvm::Type* const type =
      IsSeveralWords(element)
          ? llvm::ArrayType::get(builder_.getInt64Ty(), ir::WordsOf(element))
          : static_cast<llvm::Type*>(builder_.getIntNTy(8 * ir::BytesOf(element)));
  return builder_.CreateInBoundsGEP(type, base, index);
}

llvm::Value* RegionEmitter::LoadElement(ir::Type element, llvm::Value* address) {
  if (element.scalar != Scalar::Bool)
    return builder_.CreateAlignedLoad(ops_.TypeOf(element), address, AlignOf(element));
  llvm::Value* const byte =
      builder_.CreateAlignedLoad(builder_.getInt8Ty(), address, llvm::Align(1));
  return builder_.CreateICmpNE(byte, builder_.getInt8(0));
}

void RegionEmitter::StoreElement(ir::Type element, llvm::Value* address, llvm::Value* value) {
  if (element.scalar == Scalar::Bool) value = builder_.CreateZExt(value, builder_.getInt8Ty());
  builder_.CreateAlignedStore(value, address, AlignOf(element));
}

// --- blocks and traps -----------------------------------------------------------------------------------------

llvm::BasicBlock* RegionEmitter::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(context(), name, target_);
}

void RegionEmitter::BranchUnlikely(llvm::Value* rare, llvm::BasicBlock* then_rare,
                                   llvm::BasicBlock* otherwise) {
  builder_.CreateCondBr(rare, then_rare, otherwise,
                        llvm::MDBuilder(context()).createBranchWeights(1, 1 << 20));
}

void RegionEmitter::TrapIf(llvm::Value* condition, ir::Trap kind, Op op) {
  const auto* const constant = llvm::dyn_cast<llvm::ConstantInt>(condition);
  if (constant != nullptr && constant->isZero()) return;
  llvm::BasicBlock* const trap = TrapBlock(kind, op);
  llvm::BasicBlock* const next = NewBlock("go");
  // The code generator would test what is known.
  if (constant != nullptr)
    builder_.CreateBr(trap);
  else
    BranchUnlikely(condition, trap, next);
  builder_.SetInsertPoint(next);
}

}  // namespace frazil::targets
