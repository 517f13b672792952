// ExpandPrelude: math ops become calls. The functions stand before the program's own, under the
// prefix `prelude.` that ir::Check keeps free for them, so that in the text form the entry stays
// what it was. Ops of provable machines go the same way (expand_provers.h), except for assembly, which has
// no meaning but its own machine's.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ir/clone.h"
#include "ir/lower/expand_prover_ops.h"
#include "ir/lower/lower.h"
#include "ir/lower/prelude.h"
#include "ir/lower/prelude_library.h"

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

// The function of the prelude that an instruction needs; empty if none.
std::string NeededBy(const Inst& inst) {
  if (IsMath(inst)) return PreludeFunctionName(inst.op, inst.type);
  if (inst.op == Op::SpongeAbsorb || inst.op == Op::SpongeSqueeze)
    return std::string(PermutationName);
  if (inst.op == Op::MerkleStep) return PreludeFunctionName(Op::Hash, types::Digest);
  return {};
}

Result<void> CollectFrom(const PreludeLibrary& library, const Program& user,
                         const Function& function, Needs& needs) {
  for (const Inst& inst : function.insts) {
    if (inst.op == Op::Tasm)
      return Fail(Diag::Unsupported, "assembly of the Triton VM runs on the target tasm only",
                  inst.location);
    std::string name = NeededBy(inst);
    if (name.empty()) continue;
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

// Where the sponge is, in each function of a program.
struct SpongePlan {
  std::vector<bool> with;  // by function of the user's program
  // The entry makes the sponge. If it is called too, calls go to a copy of it that is handed one.
  FuncId inner_entry;  // in the new program; invalid if there is no copy
};

class Expander : public Cloner {
 public:
  // `from` is the prelude program that the function comes from, or null for one of the user's.
  Expander(const Function& source, FunctionBuilder& builder, const Needs& needs,
           const Program& user, const Program* from, const SpongePlan& sponge)
      : Cloner(source, builder), needs_(needs), user_(user), from_(from), sponge_(sponge) {}

  // After DeclareParams, in functions with a sponge.
  void TakeSponge() { state_ = builder_.AddParam(Type::Buffer(types::Field)); }
  void MakeSponge() { state_ = ir::MakeSponge(builder_); }

 protected:
  Result<void> Visit(const Inst& inst) override {
    // Places in the prelude's text would be read as places in the user's.
    if (from_ != nullptr) builder_.SetLocation({});
    if (IsSpongeOp(inst.op) || inst.op == Op::MerkleStep) return VisitProver(inst);
    if (inst.op == Op::Call && from_ == nullptr &&
        sponge_.with[static_cast<size_t>(source_.word(inst, 0))])
      return CallWithSponge(inst);
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
  Result<void> VisitProver(const Inst& inst) {
    Values operands = GetAll(source_.operands_of(inst));
    Values results;
    if (inst.op == Op::MerkleStep)
      results = MerkleStep(builder_, operands[0], operands[1], Callee(NeededBy(inst)));
    if (inst.op == Op::SpongeInit) InitSponge(builder_, state_);
    if (inst.op == Op::SpongeAbsorb)
      AbsorbSponge(builder_, state_, operands, Callee(PermutationName));
    if (inst.op == Op::SpongeSqueeze)
      results = SqueezeSponge(builder_, state_, Callee(PermutationName));
    for (uint32_t i = 0; i < inst.results.count; ++i)
      BindNamed(Function::result_of(inst, i), results[i]);
    return {};
  }

  Result<void> CallWithSponge(const Inst& inst) {
    Values operands = GetAll(source_.operands_of(inst));
    operands.push_back(state_);
    std::vector<Type> types;
    for (uint32_t i = 0; i < inst.results.count; ++i)
      types.push_back(source_.type(Function::result_of(inst, i)));
    const FuncId callee(static_cast<uint32_t>(source_.word(inst, 0)));
    const bool is_inner = callee == user_.entry && sponge_.inner_entry.valid();
    const uint64_t target = (is_inner ? sponge_.inner_entry : MapFunction(callee)).index;
    Values results = builder_.Emit(Op::Call, Type{}, operands, types, std::span(&target, 1));
    for (uint32_t i = 0; i < inst.results.count; ++i)
      BindNamed(Function::result_of(inst, i), results[i]);
    return {};
  }

  FuncId Callee(std::string_view name) const {
    FuncId callee = needs_.Find(name, user_);
    CHECK(callee.valid());
    return callee;
  }

  const Needs& needs_;
  const Program& user_;
  const Program* from_;
  const SpongePlan& sponge_;
  ValueId state_;
};

std::string FreeName(const Program& program, std::string name) {
  while (program.FindFunction(name).valid()) name += '_';
  return name;
}

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
  SpongePlan sponge{FunctionsWithSponge(program), {}};
  const bool has_inner = sponge.with[program.entry.index] && IsCalled(program, program.entry);
  if (has_inner)
    sponge.inner_entry =
        FuncId(static_cast<uint32_t>(needs.functions.size() + program.functions.size()));
  enum class State : uint8_t { None, Made, Taken };
  auto copy = [&](const Function& function, const Program* from, State state,
                  std::string name) -> Result<void> {
    FunctionBuilder builder(out, std::move(name), std::span<const Type>{}, function.results);
    builder.function().is_prelude = from != nullptr || function.is_prelude;
    Expander expander(function, builder, needs, program, from, sponge);
    expander.DeclareParams();
    if (state == State::Taken) expander.TakeSponge();
    if (state == State::Made) expander.MakeSponge();
    TRY_VOID(expander.CopyBody());
    builder.Finish();
    return {};
  };
  for (const Needs::Item& item : needs.functions)
    TRY_VOID(copy(*item.function, item.program, State::None,
                  fmt::format("{}{}", Prefix, item.function->name)));
  for (uint32_t f = 0; f < program.functions.size(); ++f) {
    const State state = !sponge.with[f]            ? State::None
                        : f == program.entry.index ? State::Made
                                                   : State::Taken;
    TRY_VOID(copy(program.functions[f], nullptr, state, program.functions[f].name));
  }
  if (has_inner) {
    const Function& entry = program.entry_function();
    TRY_VOID(copy(entry, nullptr, State::Taken, FreeName(program, entry.name + ".inner")));
  }
  out.entry = FuncId(program.entry.index + static_cast<uint32_t>(needs.functions.size()));
  return out;
}

Result<Program> ExpandPrelude(const Program& program) {
  return ExpandPreludeWith(PreludeLibrary::Embedded(), program);
}

}  // namespace frazil::ir
