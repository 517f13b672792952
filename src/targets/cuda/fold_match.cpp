// Two functions side by side, instruction by instruction; values from outside are paired when they are first seen, then
// compared as the expressions that they are.
#include "targets/cuda/fold_match.h"

#include <map>

#include "ir/builder.h"
#include "ir/lower.h"

namespace frazil::targets::cuda {
namespace {

using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::RegionId;
using ir::ValueId;

// A lowered reduction of a vector, and where its parts are.
struct Model {
  ir::Program program;
  ProgramFacts facts;
  InstId choice;  // the `if` that gives the result
  Op op;
};

Op OpOf(ir::ReduceKind kind) {
  constexpr Op Ops[] = {Op::Add, Op::Mul, Op::Min, Op::Max, Op::Minimum, Op::Maximum, Op::And, Op::Or, Op::Xor};
  return Ops[static_cast<size_t>(kind)];
}

std::optional<Model> MakeModel(ir::Type element, ir::ReduceKind kind) {
  const bool is_logic = kind >= ir::ReduceKind::And;
  const bool is_float = ir::IsFloat(element.scalar);
  if (is_logic && is_float) return std::nullopt;
  if ((kind == ir::ReduceKind::Minimum || kind == ir::ReduceKind::Maximum) && !is_float) return std::nullopt;
  Model model;
  ir::FunctionBuilder builder(model.program, "main", {ir::types::Index}, {element});
  const uint32_t vector = builder.AddShape({ir::Dim::Symbol(0)});
  const ValueId tensor = builder.AddParam(ir::Type::Tensor(element, vector));
  const ir::Type single = ir::Type::Tensor(element, builder.AddShape({}));
  const ValueId sum = builder.Emit1(Op::Reduce, single, {tensor}, single,
                                    {static_cast<uint64_t>(kind), 0, FoldChains, FoldBlock});
  builder.Return({builder.Emit1(Op::Extract, element, {sum}, element)});
  builder.Finish();
  auto lowered = ir::LowerForTarget(model.program);
  if (!lowered) return std::nullopt;
  model.program = std::move(*lowered);
  model.facts = FindFacts(model.program, false);
  model.op = OpOf(kind);
  const Function& function = model.program.entry_function();
  for (InstId id : function.region(function.body).insts)
    if (function.inst(id).op == Op::If) model.choice = id;
  if (!model.choice.valid()) return std::nullopt;
  return model;
}

class Comparison {
 public:
  Comparison(const Model& model, const Function& function, const FunctionFacts& facts)
      : model_(model.program.entry_function()),
        model_facts_(model.facts.functions[model.program.entry.index]),
        function_(function),
        facts_(facts) {}

  bool SameInst(const Inst& a, const Inst& b) {
    if (a.op != b.op || a.type != b.type || a.operands.count != b.operands.count ||
        a.regions.count != b.regions.count || a.results.count != b.results.count || a.op == Op::Call)
      return false;
    const auto words = model_.words_of(a);
    if (!std::equal(words.begin(), words.end(), function_.words_of(b).begin(), function_.words_of(b).end())) return false;
    for (uint32_t i = 0; i < a.operands.count; ++i)
      if (!SameValue(model_.operand(a, i), function_.operand(b, i))) return false;
    for (uint32_t r = 0; r < a.regions.count; ++r)
      if (!SameRegion(Function::region_of(a, r), Function::region_of(b, r))) return false;
    for (uint32_t k = 0; k < a.results.count; ++k)
      if (!Pair(Function::result_of(a, k), Function::result_of(b, k))) return false;
    return true;
  }

  ValueId Of(ValueId model_value) const {
    const auto place = pairs_.find(model_value.index);
    return place == pairs_.end() ? ValueId() : place->second;
  }

 private:
  bool Pair(ValueId a, ValueId b) {
    const auto [place, is_new] = pairs_.try_emplace(a.index, b);
    return is_new ? model_.type(a).scalar == function_.type(b).scalar && model_.type(a).form == function_.type(b).form
                  : place->second == b;
  }

  bool SameRegion(RegionId a, RegionId b) {
    const ir::Region& left = model_.region(a);
    const ir::Region& right = function_.region(b);
    if (left.params.count != right.params.count || left.insts.size() != right.insts.size()) return false;
    for (uint32_t i = 0; i < left.params.count; ++i)
      if (!Pair(Function::param_of(left, i), Function::param_of(right, i))) return false;
    for (size_t i = 0; i < left.insts.size(); ++i)
      if (!SameInst(model_.inst(left.insts[i]), function_.inst(right.insts[i]))) return false;
    return true;
  }

  // Seen before, or from outside: a parameter of the model stands for anything of its type, the rest must be made
  // alike.
  bool SameValue(ValueId a, ValueId b) {
    if (pairs_.contains(a.index)) return pairs_.at(a.index) == b;
    const InstId left = model_facts_.definition[a.index];
    if (!left.valid()) return Pair(a, b);
    const InstId right = facts_.definition[b.index];
    return right.valid() && SameInst(model_.inst(left), function_.inst(right)) && pairs_.at(a.index) == b;
  }

  const Function& model_;
  const FunctionFacts& model_facts_;
  const Function& function_;
  const FunctionFacts& facts_;
  std::map<uint32_t, ValueId> pairs_;
};

}  // namespace

std::optional<FoldMatch> MatchFold(const Function& function, const FunctionFacts& facts, const Inst& inst) {
  if (inst.op != Op::If || inst.results.count != 1) return std::nullopt;
  const ir::Type type = function.type(Function::result_of(inst));
  if (!ir::Contains(ir::sets::Fixed | ir::sets::Wide, type.scalar)) return std::nullopt;
  // Most choices are told apart at once.
  bool has_while = false;
  for (InstId id : function.region(Function::region_of(inst, 1)).insts) has_while |= function.inst(id).op == Op::While;
  if (!has_while) return std::nullopt;
  for (uint32_t kind = 0; kind <= static_cast<uint32_t>(ir::ReduceKind::Xor); ++kind) {
    const auto model = MakeModel(type, static_cast<ir::ReduceKind>(kind));
    if (!model) continue;
    const Function& reference = model->program.entry_function();
    Comparison comparison(*model, function, facts);
    const Inst& choice = reference.inst(model->choice);
    if (!comparison.SameInst(choice, inst)) continue;
    FoldMatch match;
    match.op = model->op;
    match.type = type;
    match.count = comparison.Of(reference.param(0));
    match.buffer = comparison.Of(reference.param(1));
    match.result = Function::result_of(inst);
    // The buffer of the blocks' results is what the last instruction of the second region reads.
    const ir::Region& region = function.region(Function::region_of(inst, 1));
    const ValueId last = function.operand(function.inst(region.insts.back()), 0);
    const InstId load = facts.definition[last.index];
    if (!load.valid() || function.inst(load).op != Op::Load) return std::nullopt;
    match.blocks = function.operand(function.inst(load), 0);
    const ir::Region& none = function.region(Function::region_of(inst, 0));
    const auto identity = ConstantOf(function, facts, function.operand(function.inst(none.insts.back()), 0));
    if (!identity || !match.count.valid() || !match.buffer.valid()) return std::nullopt;
    match.identity.assign(identity->begin(), identity->end());
    return match;
  }
  return std::nullopt;
}

}  // namespace frazil::targets::cuda
