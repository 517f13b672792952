// ExpandPrelude: math ops become calls. The functions stand before the program's own, under the
// prefix `prelude.` that ir::Check keeps free for them, so that in the text form the entry stays
// what it was.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ir/clone.h"
#include "ir/lower.h"
#include "ir/prelude.h"
#include "ir/prelude_library.h"

namespace frazil::ir {
namespace {

constexpr std::string_view Prefix = "prelude.";

bool IsMath(const Inst& inst) { return Info(inst.op).law == Law::Prelude; }

// The functions and tables that the math ops of a program need, each once, and where they will
// stand. A program that was expanded before may have some of them already.
struct Needs {
  struct Item {
    const Program* program;
    const Function* function;
  };
  std::vector<Item> functions;
  std::unordered_map<std::string, uint32_t> function_ids;  // with the prefix
  std::vector<Data> data;
  std::unordered_map<std::string, uint32_t> data_ids;

  FuncId Find(std::string_view name, const Program& user) const {
    std::string full = fmt::format("{}{}", Prefix, name);
    auto found = function_ids.find(full);
    if (found != function_ids.end()) return FuncId(found->second);
    FuncId there = user.FindFunction(full);
    return there.valid() ? FuncId(there.index + static_cast<uint32_t>(functions.size())) : there;
  }
  DataId FindTable(std::string_view name, const Program& user) const {
    std::string full = fmt::format("{}{}", Prefix, name);
    auto found = data_ids.find(full);
    if (found == data_ids.end()) return user.FindData(full);
    return DataId(static_cast<uint32_t>(user.data.size()) + found->second);
  }
};

Result<void> CollectFrom(const PreludeLibrary& library, const Program& user,
                         const Function& function, Needs& needs) {
  for (const Inst& inst : function.insts) {
    if (!IsMath(inst)) continue;
    std::string name = PreludeFunctionName(inst.op, inst.type);
    if (needs.Find(name, user).valid()) continue;
    const Program* program = TRY(library.Load(name));
    for (const Function& helper : program->functions) {
      if (needs.Find(helper.name, user).valid()) continue;
      needs.function_ids.emplace(fmt::format("{}{}", Prefix, helper.name),
                                 static_cast<uint32_t>(needs.functions.size()));
      needs.functions.push_back({program, &helper});
    }
    for (const Data& table : program->data) {
      if (needs.FindTable(table.name, user).valid()) continue;
      std::string full = fmt::format("{}{}", Prefix, table.name);
      needs.data_ids.emplace(full, static_cast<uint32_t>(needs.data.size()));
      needs.data.push_back({full, table.element, table.words});
    }
  }
  return {};
}

class Expander : public Cloner {
 public:
  // `from` is the prelude program that the function comes from, or null for one of the user's.
  Expander(const Function& source, FunctionBuilder& builder, const Needs& needs,
           const Program& user, const Program* from)
      : Cloner(source, builder), needs_(needs), user_(user), from_(from) {}

 protected:
  Result<void> Visit(const Inst& inst) override {
    // Places in the prelude's text would be read as places in the user's.
    if (from_ != nullptr) builder_.SetLocation({});
    if (!IsMath(inst)) return CopyInst(inst);
    bool is_half = Contains(sets::Half, inst.type.scalar);
    Type type = is_half ? types::F32 : inst.type;
    Values operands = GetAll(source_.operands_of(inst));
    if (is_half)
      for (ValueId& operand : operands) operand = builder_.Cast(Op::Cast, operand, type);
    uint64_t callee = Callee(PreludeFunctionName(inst.op, inst.type)).index;
    ValueId result =
        builder_.Emit(Op::Call, Type{}, operands, std::span(&type, 1), std::span(&callee, 1))[0];
    if (is_half) result = builder_.Cast(Op::Cast, result, inst.type);
    BindNamed(Function::result_of(inst), result);
    return {};
  }

  FuncId MapFunction(FuncId id) const override {
    if (from_ != nullptr) return Callee(from_->functions[id.index].name);
    return FuncId(id.index + static_cast<uint32_t>(needs_.functions.size()));
  }

  DataId MapData(DataId id) const override {
    if (from_ == nullptr) return id;
    DataId table = needs_.FindTable(from_->data[id.index].name, user_);
    CHECK(table.valid());
    return table;
  }

 private:
  FuncId Callee(std::string_view name) const {
    FuncId callee = needs_.Find(name, user_);
    CHECK(callee.valid());
    return callee;
  }

  const Needs& needs_;
  const Program& user_;
  const Program* from_;
};

}  // namespace

Result<Program> ExpandPreludeWith(const PreludeLibrary& library, const Program& program) {
  Needs needs;
  for (const Function& function : program.functions)
    TRY_VOID(CollectFrom(library, program, function, needs));
  // Prelude functions may use math ops themselves; the list grows while it is walked.
  for (size_t i = 0; i < needs.functions.size(); ++i)
    TRY_VOID(CollectFrom(library, program, *needs.functions[i].function, needs));

  Program out;
  out.data = program.data;
  out.data.insert(out.data.end(), needs.data.begin(), needs.data.end());
  auto copy = [&](const Function& function, const Program* from) -> Result<void> {
    std::string name = from == nullptr ? function.name : fmt::format("{}{}", Prefix, function.name);
    FunctionBuilder builder(out, std::move(name), std::span<const Type>{}, function.results);
    builder.function().is_prelude = from != nullptr || function.is_prelude;
    Expander expander(function, builder, needs, program, from);
    expander.DeclareParams();
    TRY_VOID(expander.CopyBody());
    builder.Finish();
    return {};
  };
  for (const Needs::Item& item : needs.functions) TRY_VOID(copy(*item.function, item.program));
  for (const Function& function : program.functions) TRY_VOID(copy(function, nullptr));
  out.entry = FuncId(program.entry.index + static_cast<uint32_t>(needs.functions.size()));
  return out;
}

Result<Program> ExpandPrelude(const Program& program) {
  return ExpandPreludeWith(PreludeLibrary::Embedded(), program);
}

}  // namespace frazil::ir
