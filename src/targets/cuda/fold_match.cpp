// Two functions side by side, instruction by instruction; values from outside are paired when they are first seen, then
// compared as the expressions that they are.
#include "targets/cuda/fold_match.h"

#include <algorithm>
#include <map>
#include <span>

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
  Comparison(const Model& model, const ir::Program& program, const ProgramFacts& facts, InstId choice)
      : model_(model.program.entry_function()),
        model_facts_(model.facts.functions[model.program.entry.index]),
        program_(program),
        all_(facts),
        function_(program.entry_function()),
        facts_(facts.functions[program.entry.index]),
        choice_(choice) {}

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
  // The element's part is filled in.
  const FoldMatch& match() const { return match_; }

 private:
  bool Pair(ValueId a, ValueId b) {
    const auto [place, is_new] = pairs_.try_emplace(a.index, b);
    return is_new ? model_.type(a).scalar == function_.type(b).scalar && model_.type(a).form == function_.type(b).form
                  : place->second == b;
  }

  bool SameRegion(RegionId a, RegionId b) {
    const ir::Region& left = model_.region(a);
    const ir::Region& right = function_.region(b);
    if (left.params.count != right.params.count || left.insts.size() > right.insts.size()) return false;
    for (uint32_t i = 0; i < left.params.count; ++i)
      if (!Pair(Function::param_of(left, i), Function::param_of(right, i))) return false;
    size_t j = 0;
    for (InstId id : left.insts) {
      const Inst& inst = model_.inst(id);
      if (inst.op == Op::Load && model_.operand(inst, 0) == model_.param(1)) {
        const size_t length = 1 + right.insts.size() - left.insts.size();
        if (!SameElement(inst, std::span(right.insts).subspan(j, std::min(length, right.insts.size() - j)))) return false;
        j += length;
      } else if (j >= right.insts.size() || !SameInst(inst, function_.inst(right.insts[j++]))) {
        return false;
      }
    }
    return j == right.insts.size();
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

  bool IsOutside(ValueId value) const {
    RegionId region = facts_.home[value.index];
    for (InstId owner = facts_.owner[region.index]; owner.valid(); owner = facts_.owner[region.index]) {
      if (owner == choice_) return false;
      region = facts_.region[owner.index];
    }
    return true;
  }

  // The first element says what elements are; the others must be the same.
  bool SameElement(const Inst& load, std::span<const InstId> insts) {
    const ValueId index = Of(model_.operand(load, 1));
    if (insts.empty() || !index.valid() || function_.inst(insts.back()).results.count != 1) return false;
    const ValueId value = Function::result_of(function_.inst(insts.back()));
    if (!Pair(Function::result_of(load), value)) return false;
    if (match_.element.empty()) {
      match_.element.assign(insts.begin(), insts.end());
      match_.index = index;
      match_.value = value;
      return TakeElement();
    }
    if (insts.size() != match_.element.size()) return false;
    std::map<uint32_t, ValueId> same = {{match_.index.index, index}};
    for (size_t i = 0; i < insts.size(); ++i) {
      const Inst& a = function_.inst(match_.element[i]);
      const Inst& b = function_.inst(insts[i]);
      const auto words = function_.words_of(a);
      if (a.op != b.op || a.type != b.type || a.operands.count != b.operands.count || b.results.count != 1 ||
          !std::equal(words.begin(), words.end(), function_.words_of(b).begin(), function_.words_of(b).end()))
        return false;
      for (uint32_t k = 0; k < a.operands.count; ++k) {
        const ValueId operand = function_.operand(a, k);
        const auto inside = same.find(operand.index);
        if (function_.operand(b, k) != (inside != same.end() ? inside->second : operand)) return false;
      }
      same[Function::result_of(a).index] = Function::result_of(b);
    }
    return true;
  }

  bool TakeElement() {
    std::map<uint32_t, bool> inside = {{match_.index.index, true}};
    for (InstId id : match_.element) {
      const Inst& inst = function_.inst(id);
      if (inst.regions.count != 0 || inst.results.count != 1) return false;
      const bool is_load = inst.op == Op::Load;
      const bool is_call = inst.op == Op::Call && IsMath(static_cast<size_t>(function_.word(inst, 0)));
      if (!is_load && !is_call &&
          (ir::Info(inst.op).effect != ir::Effect::Pure || MayTrap(program_, function_, facts_, inst)))
        return false;
      if (is_load) {
        if (function_.operand(inst, 1) != match_.index || !IsOutside(function_.operand(inst, 0))) return false;
        match_.buffers.push_back(function_.operand(inst, 0));
      } else {
        for (ValueId operand : function_.operands_of(inst)) {
          if (inside.contains(operand.index)) continue;
          if (!IsOutside(operand)) return false;
          match_.outside.push_back(operand);
        }
      }
      inside[Function::result_of(inst).index] = true;
    }
    return true;
  }

  bool IsMath(size_t callee) const { return program_.functions[callee].is_prelude && !all_.fallible[callee]; }

  const Function& model_;
  const FunctionFacts& model_facts_;
  const ir::Program& program_;
  const ProgramFacts& all_;
  const Function& function_;
  const FunctionFacts& facts_;
  const InstId choice_;
  std::map<uint32_t, ValueId> pairs_;
  FoldMatch match_{};
};

}  // namespace

std::optional<FoldMatch> MatchFold(const ir::Program& program, const ProgramFacts& all, InstId id) {
  const Function& function = program.entry_function();
  const FunctionFacts& facts = all.functions[program.entry.index];
  const Inst& inst = function.inst(id);
  if (inst.op != Op::If || inst.results.count != 1) return std::nullopt;
  const ir::Type type = function.type(Function::result_of(inst));
  if (!ir::Contains(ir::sets::Fixed | ir::sets::Wide, type.scalar)) return std::nullopt;
  // Most choices are told apart at once.
  bool has_while = false;
  for (InstId inner : function.region(Function::region_of(inst, 1)).insts)
    has_while |= function.inst(inner).op == Op::While;
  if (!has_while) return std::nullopt;
  for (uint32_t kind = 0; kind <= static_cast<uint32_t>(ir::ReduceKind::Xor); ++kind) {
    const auto model = MakeModel(type, static_cast<ir::ReduceKind>(kind));
    if (!model) continue;
    const Function& reference = model->program.entry_function();
    Comparison comparison(*model, program, all, id);
    const Inst& choice = reference.inst(model->choice);
    if (!comparison.SameInst(choice, inst)) continue;
    FoldMatch match = comparison.match();
    match.op = model->op;
    match.type = type;
    match.count = comparison.Of(reference.param(0));
    match.result = Function::result_of(inst);
    // The buffer of the blocks' results is what the last instruction of the second region reads.
    const ir::Region& region = function.region(Function::region_of(inst, 1));
    const ValueId last = function.operand(function.inst(region.insts.back()), 0);
    const InstId load = facts.definition[last.index];
    if (!load.valid() || function.inst(load).op != Op::Load) return std::nullopt;
    match.blocks = function.operand(function.inst(load), 0);
    const ir::Region& none = function.region(Function::region_of(inst, 0));
    const auto identity = ConstantOf(function, facts, function.operand(function.inst(none.insts.back()), 0));
    if (!identity || !match.count.valid() || match.element.empty()) return std::nullopt;
    match.identity.assign(identity->begin(), identity->end());
    return match;
  }
  return std::nullopt;
}

}  // namespace frazil::targets::cuda
