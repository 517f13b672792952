// LLVM's NVPTX code generator. Calls are inlined before it: a call in PTX keeps its arguments in memory, and math
// functions are calls. Strict fusion makes it write `.rn` on every add and multiply, which the driver's compiler must then
// leave apart.
#include <fmt/format.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <mutex>

#include "base/check.h"
#include "ir/lower/lower.h"
#include "targets/cuda/cuda.h"
#include "targets/cuda/kernel_emitter.h"

namespace frazil::targets::cuda {
namespace {

struct Arch {
  const char* name;
  const char* features;  // the oldest PTX that knows it
};
constexpr Arch Archs[] = {{"sm_80", "+ptx70"}, {"sm_90", "+ptx78"}};

// Kernel parameters may take 4 KB.
constexpr size_t MostParams = 512;

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

Result<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const PtxOptions& options) {
  InitializeLlvm();
  const Arch* arch = nullptr;
  for (const Arch& known : Archs)
    if (options.arch == known.name) arch = &known;
  if (arch == nullptr)
    return Fail(Diag::Unsupported,
                fmt::format("no architecture '{}'; there are sm_80 and sm_90", options.arch));
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr)
    return Fail(Diag::MissingLibrary, "the code generator has no NVPTX: " + error);
  llvm::TargetOptions target_options;
  target_options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, arch->name, arch->features, target_options, std::nullopt,
                                  std::nullopt, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr)
    return Fail(Diag::MissingLibrary, "the code generator for NVPTX cannot be started");
  return machine;
}

void Finish(const KernelEmitter& emitter, llvm::Function& function) {
  if (emitter.slots().empty()) return;
  llvm::DominatorTree tree(function);
  llvm::PromoteMemToReg(emitter.slots(), tree);
}

// Callees come first, so that one round over a function leaves no call in it.
void InlineCalls(llvm::Function& function) {
  std::vector<llvm::CallBase*> calls;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& inst : block)
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&inst))
        if (llvm::Function* callee = call->getCalledFunction();
            callee != nullptr && !callee->isDeclaration())
          calls.push_back(call);
  for (llvm::CallBase* call : calls) {
    llvm::InlineFunctionInfo info;
    CHECK(llvm::InlineFunction(*call, info).isSuccess());
  }
}

void EmitModule(const ir::Program& lowered, const ProgramFacts& facts, const Plan& plan,
                const PtxOptions& options, llvm::Module& module) {
  ModuleEmitter shared{lowered, facts, plan, module, options.tile, options.rows};
  shared.functions.assign(lowered.functions.size(), nullptr);
  shared.tables.assign(lowered.data.size(), nullptr);
  for (ir::FuncId id : facts.order) {
    if (!facts.called[id.index]) continue;
    llvm::Function* const function = llvm::Function::Create(
        KernelEmitter::TypeOfFunction(shared, id), llvm::GlobalValue::InternalLinkage,
        "fn_" + std::to_string(id.index), module);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    shared.functions[id.index] = function;
    KernelEmitter emitter(shared, id, function);
    emitter.EmitFunction();
    Finish(emitter, *function);
    InlineCalls(*function);
  }
  bool is_first = true;
  for (const Step& step : plan.steps) {
    if (step.launch.kind == StepKind::Alloc) continue;
    const bool is_rows = step.launch.kind == StepKind::Rows;
    for (const bool long_rows : {false, true}) {
      if (long_rows && !is_rows) continue;
      llvm::Function* const kernel = llvm::Function::Create(
          KernelEmitter::TypeOfKernel(shared), llvm::GlobalValue::ExternalLinkage,
          long_rows ? LongRowsOf(step.launch.entry) : step.launch.entry, module);
      kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
      kernel->addFnAttr(llvm::Attribute::NoUnwind);
      const bool in_block =
          step.launch.kind == StepKind::Blocks || step.launch.kind == StepKind::Single;
      kernel->addFnAttr("nvvm.maxntid", in_block ? "1024" : std::to_string(step.launch.threads));
      if (step.launch.kind == StepKind::Tiles)
        kernel->addFnAttr("nvvm.minctasm", std::to_string(options.tile.blocks));
      if (is_rows)
        kernel->addFnAttr("nvvm.minctasm", std::to_string(long_rows ? options.rows.long_blocks
                                                                    : options.rows.blocks));
      KernelEmitter emitter(shared, lowered.entry, kernel);
      emitter.EmitStep(step, is_first, long_rows);
      Finish(emitter, *kernel);
      InlineCalls(*kernel);
      ForgetNanBits(*kernel);
    }
    is_first = false;
  }
  for (llvm::Function* function : shared.functions)
    if (function != nullptr && function->use_empty()) function->eraseFromParent();
}

// The driver's compiler (580.159) takes the negation and the absolute value of a 16-bit -32768 for 32768 where it is
// sign-extended next. In the upper half of 32 bits they wrap.
void WidenNegations(llvm::Module& module) {
  auto is_negation = [](const llvm::Instruction& inst) {
    const auto* zero = inst.getOpcode() == llvm::Instruction::Sub
                           ? llvm::dyn_cast<llvm::ConstantInt>(inst.getOperand(0))
                           : nullptr;
    return zero != nullptr && zero->isZero();
  };
  auto is_absolute = [](const llvm::Instruction& inst) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&inst);
    return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::abs;
  };
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& inst : llvm::make_early_inc_range(block)) {
        if (!inst.getType()->isIntegerTy(16) || !(is_negation(inst) || is_absolute(inst))) continue;
        llvm::IRBuilder<> builder(&inst);
        llvm::Value* const from = inst.getOperand(is_negation(inst) ? 1 : 0);
        llvm::Value* const wide =
            builder.CreateShl(builder.CreateZExt(from, builder.getInt32Ty()), 16);
        llvm::Value* const result =
            is_negation(inst)
                ? builder.CreateNeg(wide)
                : builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, wide, builder.getFalse());
        inst.replaceAllUsesWith(
            builder.CreateTrunc(builder.CreateAShr(result, 16), inst.getType()));
        inst.eraseFromParent();
      }
    }
  }
}

Result<std::string> Generate(const ir::Program& program, const PtxOptions& options, bool as_llvm,
                             PtxModule* out) {
  auto machine = TRY(MakeMachine(options));
  const PlannedProgram prepared = TRY(PlanProgram(program, options.tile));
  llvm::LLVMContext context;
  context.setDiscardValueNames(!as_llvm);
  llvm::Module module("frazil", context);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  EmitModule(prepared.lowered, prepared.facts, prepared.plan, options, module);
  WidenNegations(module);
  std::string text;
  llvm::raw_string_ostream text_stream(text);
  if (as_llvm) module.print(text_stream, nullptr);
  std::string why;
  llvm::raw_string_ostream why_stream(why);
  if (llvm::verifyModule(module, &why_stream))
    return Fail(Diag::Internal, "the code generator was given wrong code: " + why + text);
  for (const llvm::Function& function : module)
    if (function.arg_size() > MostParams)
      return Fail(
          Diag::Unsupported,
          "the cuda target cannot do this program: a kernel has more than 512 words of arguments");
  if (out != nullptr) *out = prepared.plan.module;
  if (as_llvm) return text;
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                   /*DisableVerify=*/true))
    return Fail(Diag::MissingLibrary, "the code generator cannot write PTX");
  passes.run(module);
  return std::string(bytes);
}

}  // namespace

Result<PtxModule> EmitPtx(const ir::Program& program, const PtxOptions& options) {
  PtxModule module;
  std::string text = TRY(Generate(program, options, false, &module));
  module.text = std::move(text);
  module.arch = options.arch;
  module.source = program;
  return module;
}

Result<std::string> EmitPtxLlvm(const ir::Program& program, const PtxOptions& options) {
  return Generate(program, options, true, nullptr);
}

}  // namespace frazil::targets::cuda
