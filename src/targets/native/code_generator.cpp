// LLVM's code generator without its IR passes: position-independent, small model, one module per program. A target
// machine costs more than a small program and is kept; contexts are not, so that memory stays flat.
#include "targets/native/code_generator.h"

#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "ir/lower/lower.h"
#include "targets/native/folds.h"
#include "targets/native/function_emitter.h"
#include "targets/native/hoist.h"
#include "targets/native/split_sum.h"

namespace frazil::targets::native {
namespace {

using exec::CpuLevel;

constexpr const char* TripleName = "x86_64-unknown-linux-gnu";

struct LevelNames {
  const char* cpu;
  const char* features;
};
constexpr std::array<LevelNames, exec::CpuLevelCount> Levels = {{
    {"x86-64", ""},
    {"x86-64-v3", ""},
    {"x86-64-v4", "-prefer-256-bit"},
}};

// The optimizing generator takes more than linear time: 50 ms for a function of 2,000 instructions, 2 s for 20,000, where
// the quick one takes 0.2 s. A huge program is better compiled soon than well.
constexpr size_t MostOptimizedInsts = 10'000;

bool IsHuge(const ir::Program& program) {
  return std::ranges::any_of(
      program.functions, [](const ir::Function& f) { return f.insts.size() > MostOptimizedInsts; });
}

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    // Strength reduction takes a quarter of a millisecond and finds nothing: addresses are base plus scaled index.
    const char* const arguments[] = {"frazil", "-disable-lsr"};
    llvm::cl::ParseCommandLineOptions(2, arguments, "", &llvm::nulls());
  });
}

// Target machines are not shared between threads: one is taken, used and given back.
class MachinePool {
 public:
  using Machine = std::unique_ptr<llvm::TargetMachine>;

  static MachinePool& Get() {
    static MachinePool* pool = new MachinePool;
    return *pool;
  }

  Result<Machine> Take(CpuLevel level, bool optimize) {
    {
      std::lock_guard lock(mutex_);
      std::vector<Machine>& free = Free(level, optimize);
      if (!free.empty()) {
        Machine machine = std::move(free.back());
        free.pop_back();
        return machine;
      }
    }
    return Create(level, optimize);
  }

  void GiveBack(Machine machine, CpuLevel level, bool optimize) {
    std::lock_guard lock(mutex_);
    Free(level, optimize).push_back(std::move(machine));
  }

 private:
  std::vector<Machine>& Free(CpuLevel level, bool optimize) {
    return free_[2 * static_cast<size_t>(level) + (optimize ? 1 : 0)];
  }

  static Result<Machine> Create(CpuLevel level, bool optimize) {
    const llvm::Triple triple(TripleName);
    std::string error;
    const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, error);
    if (target == nullptr)
      return Fail(Diag::MissingLibrary, "the code generator has no x86-64: " + error);
    const LevelNames& names = Levels[static_cast<size_t>(level)];
    llvm::TargetOptions options;
    Machine machine(target->createTargetMachine(
        triple, names.cpu, names.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
        optimize ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::None, /*JIT=*/false));
    if (machine == nullptr)
      return Fail(Diag::MissingLibrary, "the code generator cannot be started");
    return machine;
  }

  std::mutex mutex_;
  std::array<std::vector<Machine>, 2 * exec::CpuLevelCount> free_;
};

// What the code generator complains about becomes an error, where it would otherwise print and exit.
class Complaints : public llvm::DiagnosticHandler {
 public:
  explicit Complaints(std::string& first) : first_(first) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error && first_.empty()) {
      llvm::raw_string_ostream stream(first_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

 private:
  std::string& first_;
};

// Every called function, callees first, then the entry in its uniform form.
void EmitModule(const ir::Program& lowered, const ProgramFacts& facts, const BufferTests& tests,
                const Borders& borders, const NativeOptions& options, llvm::Module& module,
                Generated& generated) {
  ModuleEmitter shared{lowered,           facts,         options.level,        options.metered,
                       options.vectorize, options.tuned, options.stream_bytes, tests,
                       borders,           module};
  shared.functions.assign(lowered.functions.size(), nullptr);
  shared.tables.assign(lowered.data.size(), nullptr);
  for (ir::FuncId id : facts.order) {
    if (!facts.called[id.index]) continue;
    shared.functions[id.index] = shared.AddFunction(FunctionEmitter::TypeOfFunction(shared, id),
                                                    "fn." + lowered.functions[id.index].name);
  }
  for (ir::FuncId id : facts.order)
    if (facts.called[id.index])
      FunctionEmitter(shared, id, shared.functions[id.index], false).EmitFunction();
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const pointer = llvm::PointerType::get(context, 0);
  llvm::Function* const entry = shared.AddFunction(
      llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer, pointer, pointer}, false),
      EntryName);
  entry->setLinkage(llvm::GlobalValue::ExternalLinkage);
  entry->setVisibility(llvm::GlobalValue::HiddenVisibility);
  entry->setDSOLocal(true);
  FunctionEmitter(shared, lowered.entry, entry, true).EmitEntry();
  generated.uses_run = shared.uses_run;
  generated.tuned = !shared.could_tune;
  generated.lost_fold = shared.lost_fold;
}

Result<std::string> RunCodeGenerator(llvm::Module& module, llvm::TargetMachine& machine,
                                     Output output) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const auto kind = output == Output::Object ? llvm::CodeGenFileType::ObjectFile
                                             : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind, /*DisableVerify=*/true))
    return Fail(Diag::MissingLibrary, "the code generator cannot write this kind of file");
  passes.run(module);
  return std::string(bytes);
}

}  // namespace

Result<Generated> Generate(const ir::Program& given, const ir::Program& source,
                           const NativeOptions& options, Output output) {
  ir::Program lowered = given;
  TRY_VOID(PlaceFolds(lowered, options));
  HoistInvariants(lowered);
  BufferTests tests(lowered.functions.size());
  Borders borders(lowered.functions.size());
  if (options.vectorize && !options.metered) {
    TRY_VOID(SplitSums(lowered));
    tests = TRY(SplitProducts(lowered, options.level));
    HoistInvariants(lowered);
    // Its copy would give the values that `tests` names other numbers.
    if (std::ranges::all_of(tests, [](const auto& of_function) { return of_function.empty(); })) {
      borders = TRY(SplitBorders(lowered));
      HoistInvariants(lowered);
    }
  }
  InitializeLlvm();
  std::string complaint;
  llvm::LLVMContext context;
  context.setDiscardValueNames(output != Output::Llvm);
  context.setDiagnosticHandler(std::make_unique<Complaints>(complaint));
  llvm::Module module("frazil", context);
  const bool optimize = options.optimize && !IsHuge(lowered);
  auto machine = TRY(MachinePool::Get().Take(options.level, optimize));
  machine->Options.EmitStackSizeSection =
      output == Output::Object;  // for the linker, not for readers
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::SmallPIC);
  ProgramFacts facts = FindFacts(lowered, options.metered);
  facts.functions[lowered.entry.index].shapes =
      ShapesOf(source.entry_function(), lowered.entry_function());
  Generated generated;
  EmitModule(lowered, facts, tests, borders, options, module, generated);
  // What loops were made into since PlaceFolds may have left a fold that is no tree any more.
  if (generated.lost_fold) {
    MachinePool::Get().GiveBack(std::move(machine), options.level, optimize);
    return Generate(TRY(ir::ExpandFolds(given)), source, options, output);
  }
  generated.recursive = std::ranges::find(facts.recursive, true) != facts.recursive.end();
  llvm::raw_string_ostream stream(generated.bytes);
  // Wrong code would be compiled without a word.
  std::string why;
  llvm::raw_string_ostream why_stream(why);
  if (llvm::verifyModule(module, &why_stream))
    return Fail(Diag::Internal, "the code generator was given wrong code: " + why);
  if (output == Output::Llvm) {
    module.print(stream, nullptr);
  } else {
    generated.bytes = TRY(RunCodeGenerator(module, *machine, output));
  }
  MachinePool::Get().GiveBack(std::move(machine), options.level, optimize);
  if (!complaint.empty())
    return Fail(Diag::Unsupported, "the code generator refuses: " + complaint);
  return generated;
}

Result<std::string> GenerateFromText(const std::string& text, const NativeOptions& options) {
  InitializeLlvm();
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, wrong, context);
  if (module == nullptr)
    return Fail(Diag::BadArtifact, "the text is no module: " + wrong.getMessage().str());
  auto machine = TRY(MachinePool::Get().Take(options.level, options.optimize));
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  Result<std::string> object = RunCodeGenerator(*module, *machine, Output::Object);
  MachinePool::Get().GiveBack(std::move(machine), options.level, options.optimize);
  return object;
}

}  // namespace frazil::targets::native
