// The module around the functions: which of them are needed and what holds of them, where tables
// and constants lie, and the exported entry with its plain i64 words for int<k>.
#include "targets/wasm/emit/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "targets/wasm/emit/entry_wrapper.h"
#include "targets/wasm/emit/function_emitter.h"
#include "targets/wasm/emit/module_context.h"
#include "targets/wasm/module/bytes.h"

namespace frazil::targets::wasm {
namespace {

using Ir = ir::Op;

constexpr uint32_t FirstAddress = 16;  // 0 means "no room" to helpers
constexpr uint32_t Page = 65536;
// Limits that engines share.
constexpr size_t MaxParams = 1000;
constexpr size_t MaxResults = 1000;
constexpr size_t MaxLocals = 50'000;
constexpr size_t MaxBody = 7'654'321;
constexpr uint64_t MaxStatic = 1u << 30;

uint32_t Aligned(uint64_t address) { return static_cast<uint32_t>((address + 15) & ~uint64_t{15}); }

// The functions that the entry reaches, it first, and what is true of each.
class Survey {
 public:
  Survey(const ir::Program& program, bool metered)
      : program_(program), facts_(program.functions.size()) {
    Reach();
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t f : order_) changed |= Visit(f, metered);
    }
  }
  const std::vector<uint32_t>& order() const { return order_; }
  std::vector<FunctionFacts> TakeFacts() { return std::move(facts_); }

 private:
  void Reach() {
    std::vector<bool> seen(program_.functions.size());
    order_.push_back(program_.entry.index);
    seen[program_.entry.index] = true;
    for (size_t i = 0; i < order_.size(); ++i) {
      const ir::Function& function = program_.functions[order_[i]];
      for (const ir::Region& region : function.regions)
        for (ir::InstId id : region.insts) {
          if (function.inst(id).op != Ir::Call) continue;
          uint32_t callee = static_cast<uint32_t>(function.word(function.inst(id), 0));
          facts_[callee].is_called = true;
          if (!seen[callee]) order_.push_back(callee);
          seen[callee] = true;
        }
    }
  }

  bool Visit(uint32_t f, bool metered) {
    const ir::Function& function = program_.functions[f];
    bool changed = false;
    auto set = [&](bool& fact) {
      changed |= !fact;
      fact = true;
    };
    // Regions with whether they stand in a parallel.
    std::vector<std::pair<ir::RegionId, bool>> open = {{function.body, facts_[f].under_parallel}};
    while (!open.empty()) {
      auto [region, in_parallel] = open.back();
      open.pop_back();
      for (ir::InstId id : function.region(region).insts) {
        const ir::Inst& inst = function.inst(id);
        bool is_loop = inst.op == Ir::For || inst.op == Ir::While || inst.op == Ir::Parallel;
        if (inst.op == Ir::Call) {
          FunctionFacts& callee = facts_[static_cast<size_t>(function.word(inst, 0))];
          bool is_prelude =
              program_.functions[static_cast<size_t>(function.word(inst, 0))].is_prelude;
          if (!is_prelude) set(callee.can_trap);
          if (callee.can_trap) set(facts_[f].can_trap);
          if (in_parallel) set(callee.under_parallel);
        } else if (ir::Info(inst.op).traps != 0 && (!is_loop || metered)) {
          set(facts_[f].can_trap);
        }
        for (uint32_t i = 0; i < inst.regions.count; ++i)
          open.emplace_back(ir::Function::region_of(inst, i),
                            in_parallel || inst.op == Ir::Parallel);
      }
    }
    return changed;
  }

  const ir::Program& program_;
  std::vector<uint32_t> order_;
  std::vector<FunctionFacts> facts_;
};

class ModuleEmitter {
 public:
  ModuleEmitter(const ir::Program& program, const exec::EmitOptions& options)
      : program_(program), options_(options), survey_(program, options.metered) {}

  Result<std::string> Emit() {
    layout_.metered = options_.metered;
    layout_.facts = survey_.TakeFacts();
    PlaceTables();
    layout_.function_index.resize(program_.functions.size());
    for (uint32_t f : survey_.order())
      layout_.function_index[f] = module_.writer().AddFunction(
          FunctionEmitter::TypeOf(program_.functions[f]), program_.functions[f].name);
    ConstantPool constants(static_end_);
    for (uint32_t f : survey_.order()) {
      FunctionEmitter emitter(module_, layout_, constants, program_, ir::FuncId(f));
      std::string body = emitter.Emit();
      if (body.size() > MaxBody)
        return Fail(Diag::Unsupported,
                    fmt::format("function @{} is too large for one WASM function",
                                program_.functions[f].name));
      if (emitter.local_count() > MaxLocals)
        return Fail(Diag::Unsupported,
                    fmt::format("function @{} needs more locals than WASM engines allow",
                                program_.functions[f].name));
      module_.writer().SetBody(layout_.function_index[f], std::move(body));
    }
    module_.BuildHelpers();
    ExportEntry();
    if (!constants.bytes().empty())
      module_.writer().AddData(constants.address(), constants.bytes());
    static_end_ = Aligned(constants.end());
    if (static_end_ > MaxStatic)
      return Fail(Diag::Unsupported, "tables and constants take more than 1 GiB");
    module_.BuildHelpers();
    PlaceMemory();
    return module_.writer().Finish();
  }

 private:
  void PlaceTables() {
    uint64_t address = FirstAddress;
    // Only what a reachable function looks up.
    layout_.table_address.assign(program_.data.size(), 0);
    std::vector<bool> used(program_.data.size());
    for (uint32_t f : survey_.order()) {
      const ir::Function& function = program_.functions[f];
      for (const ir::Region& region : function.regions)
        for (ir::InstId id : region.insts)
          if (function.inst(id).op == Ir::Lookup)
            used[static_cast<size_t>(function.word(function.inst(id), 0))] = true;
    }
    for (size_t i = 0; i < program_.data.size(); ++i) {
      if (!used[i]) continue;
      const ir::Data& data = program_.data[i];
      layout_.table_address[i] = static_cast<uint32_t>(address);
      int word_bytes = static_cast<int>(ir::BytesOf(data.element) / ir::WordsOf(data.element));
      std::string bytes;
      for (uint64_t word : data.words) AppendFixed(bytes, word, word_bytes);
      address = Aligned(address + bytes.size());
      module_.writer().AddData(layout_.table_address[i], std::move(bytes));
    }
    static_end_ = static_cast<uint32_t>(std::min<uint64_t>(address, MaxStatic + 16));
  }

  // Memory is there if something lies in it or moves through it.
  void PlaceMemory() {
    bool needed = static_end_ > FirstAddress || module_.uses(GlobalVar::Heap) ||
                  module_.uses(GlobalVar::Output) || module_.uses(GlobalVar::Input) ||
                  module_.uses(GlobalVar::Hint);
    for (uint32_t i = 0; i < program_.entry_function().param_count(); ++i)
      needed |= program_.entry_function().param_type(i).is_buffer();
    if (!needed) return;
    ModuleWriter& writer = module_.writer();
    if (module_.uses(GlobalVar::Heap)) writer.SetInitial(module_.Use(GlobalVar::Heap), static_end_);
    uint64_t end = static_end_;
    if (module_.uses(GlobalVar::Output)) {
      end = Aligned(end + Page);
      writer.SetInitial(module_.Use(GlobalVar::Output), static_cast<int64_t>(end));
      writer.SetInitial(module_.Use(GlobalVar::OutputEnd), static_cast<int64_t>(end));
    }
    for (GlobalVar global :
         {GlobalVar::Input, GlobalVar::InputEnd, GlobalVar::Hint, GlobalVar::HintEnd})
      if (module_.uses(global)) writer.SetInitial(module_.Use(global), FirstAddress);
    writer.NeedMemory(end);
  }

  // The entry itself, unless the host needs another shape of it.
  void ExportEntry() {
    const ir::Function& entry = program_.entry_function();
    uint32_t inner = layout_.function_index[program_.entry.index];
    FuncType host = HostType(entry), inside = FunctionEmitter::TypeOf(entry);
    bool is_called = layout_.facts[program_.entry.index].is_called;
    if (host == inside && !is_called && !CountsInGlobals(module_))
      return module_.writer().ExportFunction(options_.symbol, inner);
    uint32_t wrapper = module_.writer().AddFunction(host, fmt::format("host.{}", entry.name));
    module_.writer().SetBody(wrapper,
                             WrapEntry(module_, entry, inner, is_called, options_.metered));
    module_.writer().ExportFunction(options_.symbol, wrapper);
  }

  const ir::Program& program_;
  const exec::EmitOptions& options_;
  Survey survey_;
  ModuleContext module_;
  ModuleLayout layout_;
  uint32_t static_end_ = FirstAddress;
};

}  // namespace

std::string RefusalOf(const ir::Program& program) {
  for (const ir::Function& function : program.functions) {
    bool is_entry = &function == &program.entry_function();
    FuncType type = is_entry ? HostType(function) : FunctionEmitter::TypeOf(function);
    if (type.params.size() > MaxParams || type.results.size() > MaxResults)
      return fmt::format("@{} takes or gives more than {} words, the most that WASM engines allow",
                         function.name, MaxParams);
  }
  return "";
}

Result<std::string> EmitModule(const ir::Program& program, const exec::EmitOptions& options) {
  std::string refusal = RefusalOf(program);
  if (!refusal.empty()) return Fail(Diag::Unsupported, std::move(refusal));
  return ModuleEmitter(program, options).Emit();
}

}  // namespace frazil::targets::wasm
