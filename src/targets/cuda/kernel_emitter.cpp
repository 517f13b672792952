// Parameters, words, traps and calls. A trap ends its thread at once by `exit`, in functions too, so that no status
// travels back through calls.
#include "targets/cuda/kernel_emitter.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "base/check.h"

namespace frazil::targets::cuda {

using namespace ir::names;

namespace {

constexpr unsigned GlobalSpace = 1;
constexpr unsigned SharedSpace = 3;
constexpr llvm::Align WordAlign = llvm::Align::Constant<8>();
constexpr uint32_t HiddenArguments = 5;  // of functions: run, t, lo, div, inside
constexpr uint32_t FirstFrameWord = 4;
constexpr Machine Gpu{.modern = true, .aligned = true};

}  // namespace

// --- the module -----------------------------------------------------------------------------------------------

llvm::GlobalVariable* ModuleEmitter::Dynamic() {
  if (dynamic == nullptr) {
    llvm::Type* const bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
    dynamic = new llvm::GlobalVariable(module, bytes, false, llvm::GlobalValue::ExternalLinkage,
                                       nullptr, "scratch", nullptr,
                                       llvm::GlobalValue::NotThreadLocal, SharedSpace);
    dynamic->setAlignment(llvm::Align(16));
  }
  return dynamic;
}

llvm::GlobalVariable* ModuleEmitter::Block() {
  if (block == nullptr) {
    llvm::Type* const words = llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), 2);
    block = new llvm::GlobalVariable(module, words, false, llvm::GlobalValue::InternalLinkage,
                                     llvm::UndefValue::get(words), "block_words", nullptr,
                                     llvm::GlobalValue::NotThreadLocal, SharedSpace);
    block->setAlignment(llvm::Align(16));
  }
  return block;
}

KernelEmitter::KernelEmitter(ModuleEmitter& shared, ir::FuncId id, llvm::Function* target)
    : RegionEmitter(shared.program, shared.facts, id, target, Gpu, nullptr), shared_(shared) {}

llvm::GlobalVariable* KernelEmitter::Table(ir::DataId id) {
  llvm::GlobalVariable*& table = shared_.tables[id.index];
  if (table == nullptr) table = AddTable(shared_.module, program_.data[id.index], GlobalSpace);
  return table;
}

// --- forms of functions -----------------------------------------------------------------------------------------

llvm::FunctionType* KernelEmitter::TypeOfKernel(const ModuleEmitter& shared) {
  llvm::LLVMContext& context = shared.module.getContext();
  llvm::Type* const word = llvm::Type::getInt64Ty(context);
  llvm::Type* const pointer = llvm::PointerType::get(context, GlobalSpace);
  const Function& entry = shared.program.entry_function();
  std::vector<llvm::Type*> params;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_buffer())
      params.insert(params.end(), {pointer, word});
    else
      params.insert(params.end(), ir::WordsOf(type), word);
  }
  for (uint32_t i = 0; i < shared.plan.scratch_count; ++i)
    params.insert(params.end(), {pointer, word});
  params.push_back(pointer);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context), params, false);
}

llvm::FunctionType* KernelEmitter::TypeOfFunction(const ModuleEmitter& shared, ir::FuncId id) {
  Builder builder(shared.module.getContext());
  const OpEmitter ops(builder, Gpu.modern, nullptr);
  const Function& function = shared.program.functions[id.index];
  llvm::Type* const word = builder.getInt64Ty();
  std::vector<llvm::Type*> params;
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    const ir::Type type = function.param_type(i);
    params.push_back(type.is_buffer() ? builder.getPtrTy() : ops.TypeOf(type));
    if (type.is_buffer()) params.push_back(word);
  }
  params.insert(params.end(),
                {builder.getPtrTy(GlobalSpace), word, word, word, builder.getInt1Ty()});
  std::vector<llvm::Type*> results;
  for (ir::Type type : function.results) results.push_back(ops.TypeOf(type));
  return FunctionTypeOf(builder, params, results);
}

void KernelEmitter::EmitFunction() {
  const uint32_t position = BindArguments();
  run_ = target_->getArg(position);
  place_ = {target_->getArg(position + 1), target_->getArg(position + 2),
            target_->getArg(position + 3), target_->getArg(position + 4)};
  for (const Step& step : shared_.plan.steps)
    in_block_ |= step.launch.kind == StepKind::Blocks || step.launch.kind == StepKind::Single;
  const Inst& last = EmitBody(function_.body);
  LlvmValues results;
  for (ValueId value : function_.operands_of(last)) results.push_back(Get(value));
  if (results.empty())
    builder_.CreateRetVoid();
  else if (results.size() == 1)
    builder_.CreateRet(results[0]);
  else
    builder_.CreateAggregateRet(results.data(), static_cast<uint32_t>(results.size()));
}

void KernelEmitter::BindParams() {
  uint32_t position = 0;
  auto buffer = [&](ValueId value) {
    target_->addParamAttr(position, llvm::Attribute::getWithAlignment(context(), llvm::Align(16)));
    Set(value, target_->getArg(position));
    SetLength(value, target_->getArg(position + 1));
    position += 2;
  };
  for (uint32_t i = 0; i < function_.param_count(); ++i) {
    const ValueId param = function_.param(i);
    const ir::Type type = function_.type(param);
    if (type.is_buffer()) {
      buffer(param);
      continue;
    }
    LlvmValues words;
    for (uint32_t w = 0; w < ir::WordsOf(type); ++w) words.push_back(target_->getArg(position++));
    Set(param, FromWords(type, words));
  }
  std::vector<ValueId> scratch(shared_.plan.scratch_count);
  for (uint32_t v = 0; v < function_.values.size(); ++v)
    if (shared_.plan.scratch[v] >= 0)
      scratch[static_cast<size_t>(shared_.plan.scratch[v])] = ValueId(v);
  for (ValueId value : scratch) buffer(value);
  run_ = target_->getArg(position);
  target_->addParamAttr(position, llvm::Attribute::getWithAlignment(context(), llvm::Align(16)));
}

// --- steps --------------------------------------------------------------------------------------------------------

void KernelEmitter::EmitStep(const Step& step, bool is_first, bool long_rows) {
  long_rows_ = long_rows;
  BindParams();
  llvm::Value* const word_minus_one = builder_.getInt64(~uint64_t{0});
  place_ = {builder_.getInt64(0), word_minus_one, builder_.getInt64(1), builder_.getFalse()};
  if (!is_first) {
    llvm::BasicBlock* const stop = NewBlock("stop");
    llvm::BasicBlock* const go = NewBlock("go");
    llvm::Value* const key =
        builder_.CreateAlignedLoad(builder_.getInt64Ty(), RunWord(0), WordAlign);
    BranchUnlikely(builder_.CreateICmpNE(key, word_minus_one), stop, go);
    builder_.SetInsertPoint(stop);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(go);
  }
  in_block_ = step.launch.kind == StepKind::Blocks || step.launch.kind == StepKind::Single;
  EmitAgain(step);
  if (in_block_) OpenBlock();
  switch (step.launch.kind) {
    case StepKind::Alloc: break;
    case StepKind::Flat:
      if (step.fold)
        EmitFoldBlocks(*step.fold);
      else
        step.inner.valid() ? EmitNest(step) : EmitFlat(step);
      break;
    case StepKind::Blocks:
      cooperative_ = true;
      EmitBlocks(step);
      break;
    case StepKind::Single:
      cooperative_ = true;
      if (step.fold) {
        EmitFoldPairs(*step.fold);
        HandOn(step);
      } else {
        EmitInsts(step);
      }
      break;
    case StepKind::Serial: EmitInsts(step); break;
    case StepKind::Tiles: EmitTiles(step); break;
    case StepKind::Rows: EmitRows(step); break;
  }
  builder_.CreateRetVoid();
}

// What every kernel computes for itself, and what earlier steps hand on.
void KernelEmitter::EmitAgain(const Step& step) {
  std::vector<bool> own(function_.values.size(), false);
  for (ir::InstId id : step.insts) {
    const Inst& inst = function_.inst(id);
    for (uint32_t k = 0; k < inst.results.count; ++k) own[inst.results.begin + k] = true;
  }
  for (uint32_t v = 0; v < function_.values.size(); ++v) {
    if (shared_.plan.frame[v] < 0 || own[v]) continue;
    const ir::Type type = function_.type(ValueId(v));
    LlvmValues words;
    for (uint32_t w = 0; w < ir::WordsOf(type); ++w)
      words.push_back(builder_.CreateAlignedLoad(
          builder_.getInt64Ty(),
          RunWord(FirstFrameWord + static_cast<uint32_t>(shared_.plan.frame[v]) + w), WordAlign));
    Set(ValueId(v), FromWords(type, words));
  }
  for (ir::InstId id : shared_.plan.again_order) EmitInst(function_.inst(id));
}

void KernelEmitter::EmitInsts(const Step& step) {
  for (ir::InstId id : step.insts) {
    const Inst& inst = function_.inst(id);
    if (inst.op == Op::Return)
      EmitReturn(inst);
    else
      EmitInst(inst);
  }
  HandOn(step);
}

void KernelEmitter::HandOn(const Step& step) {
  ByOneThread([&] {
    for (ir::InstId id : step.insts) {
      const Inst& inst = function_.inst(id);
      for (uint32_t k = 0; k < inst.results.count; ++k) {
        const ValueId value = Function::result_of(inst, k);
        const int32_t slot = shared_.plan.frame[value.index];
        if (slot >= 0)
          StoreWords(function_.type(value), Get(value),
                     FirstFrameWord + static_cast<uint32_t>(slot));
      }
    }
  });
}

void KernelEmitter::EmitReturn(const Inst& inst) {
  ByOneThread([&] {
    uint32_t word = FirstFrameWord + shared_.plan.module.frame_words;
    for (ValueId value : function_.operands_of(inst)) {
      const ir::Type type = function_.type(value);
      StoreWords(type, Get(value), word);
      word += ir::WordsOf(type);
    }
  });
}

// --- words ----------------------------------------------------------------------------------------------------------

llvm::Value* KernelEmitter::RunWord(uint32_t word) {
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), run_, word);
}

llvm::Value* KernelEmitter::FromWords(ir::Type type, std::span<llvm::Value* const> words) {
  llvm::Type* const to = ops_.TypeOf(type);
  if (type.scalar == Scalar::XField || type.scalar == Scalar::Digest) {
    llvm::Value* value = llvm::PoisonValue::get(to);
    for (uint32_t w = 0; w < words.size(); ++w)
      value = builder_.CreateInsertValue(value, words[w], w);
    return value;
  }
  if (!to->isFloatingPointTy()) return builder_.CreateTrunc(words[0], to);
  llvm::Value* const bits =
      builder_.CreateTrunc(words[0], builder_.getIntNTy(to->getScalarSizeInBits()));
  return builder_.CreateBitCast(bits, to);
}

LlvmValues KernelEmitter::ToWords(ir::Type type, llvm::Value* value) {
  if (type.scalar == Scalar::XField || type.scalar == Scalar::Digest) {
    LlvmValues words;
    for (uint32_t w = 0; w < ir::WordsOf(type); ++w)
      words.push_back(builder_.CreateExtractValue(value, w));
    return words;
  }
  if (value->getType()->isFloatingPointTy())
    value =
        builder_.CreateBitCast(value, builder_.getIntNTy(value->getType()->getScalarSizeInBits()));
  return {ir::IsSigned(type.scalar) ? builder_.CreateSExt(value, builder_.getInt64Ty())
                                    : builder_.CreateZExt(value, builder_.getInt64Ty())};
}

void KernelEmitter::StoreWords(ir::Type type, llvm::Value* value, uint32_t first_word) {
  for (llvm::Value* word : ToWords(type, value))
    builder_.CreateAlignedStore(word, RunWord(first_word++), WordAlign);
}

// --- traps and calls --------------------------------------------------------------------------------------------------

KernelEmitter::Place KernelEmitter::CurrentPlace() {
  if (parallel_index_ == nullptr) return place_;
  // A parallel that runs in order: its iteration tells the place, unless another one is around it.
  Place place;
  place.t = builder_.CreateSelect(place_.inside, place_.t, builder_.getInt64(0));
  place.lo = builder_.CreateSelect(place_.inside, place_.lo, parallel_index_);
  place.div = builder_.CreateSelect(place_.inside, place_.div, builder_.getInt64(1));
  place.inside = builder_.getTrue();
  return place;
}

llvm::BasicBlock* KernelEmitter::TrapBlock(ir::Trap kind, Op op) {
  if (group_) return group_->singly;
  const auto [slot, is_new] =
      trap_blocks_.try_emplace({kind, op, place_.t, parallel_index_}, nullptr);
  if (!is_new) return slot->second;
  llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  llvm::Type* const word = builder_.getInt64Ty();
  if (trap_exit_ == nullptr) {
    trap_exit_ = NewBlock("trapped");
    builder_.SetInsertPoint(trap_exit_);
    llvm::PHINode* const code = builder_.CreatePHI(word, 4);
    llvm::PHINode* const t = builder_.CreatePHI(word, 4);
    llvm::PHINode* const lo = builder_.CreatePHI(word, 4);
    llvm::PHINode* const div = builder_.CreatePHI(word, 4);
    llvm::Value* const key = builder_.CreateOr(builder_.CreateShl(t, 12), code);
    builder_.CreateAtomicRMW(llvm::AtomicRMWInst::UMin, RunWord(0), key, WordAlign,
                             llvm::AtomicOrdering::Monotonic);
    builder_.CreateAlignedStore(lo, RunWord(1), WordAlign);
    builder_.CreateAlignedStore(div, RunWord(2), WordAlign);
    if (in_block_) builder_.CreateAlignedStore(builder_.getInt64(1), shared_.Block(), WordAlign);
    builder_.CreateIntrinsic(builder_.getVoidTy(), llvm::Intrinsic::nvvm_exit, {});
    builder_.CreateUnreachable();
  }
  slot->second = NewBlock("trap");
  builder_.SetInsertPoint(slot->second);
  const Place place = CurrentPlace();
  builder_.CreateBr(trap_exit_);
  llvm::Value* const incoming[] = {
      builder_.getInt64(static_cast<uint64_t>(kind) << 8 | static_cast<uint64_t>(op)), place.t,
      place.lo, place.div};
  auto phi = trap_exit_->begin();
  for (llvm::Value* value : incoming)
    llvm::cast<llvm::PHINode>(&*phi++)->addIncoming(value, slot->second);
  return slot->second;
}

void KernelEmitter::EmitCall(const Inst& inst) {
  const auto callee = static_cast<uint32_t>(function_.word(inst, 0));
  LlvmValues arguments;
  for (ValueId operand : function_.operands_of(inst)) {
    llvm::Value* value = Get(operand);
    if (function_.type(operand).is_buffer())
      value = builder_.CreateAddrSpaceCast(value, builder_.getPtrTy());
    arguments.push_back(value);
    if (function_.type(operand).is_buffer()) arguments.push_back(LengthOf(operand));
  }
  const Place place = CurrentPlace();
  arguments.insert(arguments.end(), {run_, place.t, place.lo, place.div, place.inside});
  static_assert(HiddenArguments == 5);
  llvm::CallInst* const call = builder_.CreateCall(shared_.functions[callee], arguments);
  call->setDoesNotThrow();
  const bool is_struct = call->getType()->isStructTy();
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const ValueId result = Function::result_of(inst, k);
    if (IsLive(result)) Set(result, is_struct ? builder_.CreateExtractValue(call, k) : call);
  }
}

}  // namespace frazil::targets::cuda
