// Two functions side by side, instruction by instruction; values from outside are paired when they are first seen, then
// compared as the expressions that they are.
#include "ir/lanes/fold_match.h"

#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>

#include "ir/facts/inst_facts.h"
#include "ir/lower/fold.h"

namespace frazil::ir {
namespace {

// A reduction of a vector, and where its parts are.
struct Model {
  Program program;
  InstId choice;  // the `if` that gives the result
};

Op OpOf(ReduceKind kind) {
  constexpr Op Ops[] = {Op::Add,     Op::Mul, Op::Min, Op::Max, Op::Minimum,
                        Op::Maximum, Op::And, Op::Or,  Op::Xor};
  return Ops[static_cast<size_t>(kind)];
}

Model MakeModel(Type element, ReduceKind kind) {
  Model model;
  FunctionBuilder builder(model.program, "main", {types::Index, Type::Buffer(element)}, {element});
  const ValueId vector = builder.Param(1);
  builder.Return({EmitFold(builder, kind, element, builder.Param(0),
                           [&](ValueId index) { return builder.Load(vector, index); })});
  builder.Finish();
  const Function& function = model.program.entry_function();
  for (InstId id : function.region(function.body).insts)
    if (function.inst(id).op == Op::If) model.choice = id;
  return model;
}

const Inst* DefinitionOf(const Function& function, ValueId value) {
  const InstId id = function.values[value.index].def;
  return id.valid() ? &function.inst(id) : nullptr;
}

template <typename Visit>
void ForEachInside(const Function& function, const Inst& inst, const Visit& visit) {
  for (uint32_t r = 0; r < inst.regions.count; ++r) {
    const Region& region = function.region(Function::region_of(inst, r));
    visit(region);
    for (InstId id : region.insts) ForEachInside(function, function.inst(id), visit);
  }
}

class Comparison {
 public:
  Comparison(const Model& model, const Program& program, const std::set<uint32_t>& inside)
      : model_(model.program.entry_function()),
        program_(program),
        function_(program.entry_function()),
        inside_(inside) {}

  bool SameInst(const Inst& a, const Inst& b) {
    if (a.op != b.op || a.type != b.type || a.operands.count != b.operands.count ||
        a.regions.count != b.regions.count || a.results.count != b.results.count ||
        a.op == Op::Call)
      return false;
    const auto words = model_.words_of(a);
    if (!std::equal(words.begin(), words.end(), function_.words_of(b).begin(),
                    function_.words_of(b).end()))
      return false;
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
    return is_new ? model_.type(a).scalar == function_.type(b).scalar &&
                        model_.type(a).form == function_.type(b).form
                  : place->second == b;
  }

  bool SameRegion(RegionId a, RegionId b) {
    const Region& left = model_.region(a);
    const Region& right = function_.region(b);
    if (left.params.count != right.params.count || left.insts.size() > right.insts.size())
      return false;
    for (uint32_t i = 0; i < left.params.count; ++i)
      if (!Pair(Function::param_of(left, i), Function::param_of(right, i))) return false;
    size_t j = 0;
    for (InstId id : left.insts) {
      const Inst& inst = model_.inst(id);
      if (inst.op == Op::Load && model_.operand(inst, 0) == model_.param(1)) {
        const size_t length = 1 + right.insts.size() - left.insts.size();
        if (!SameElement(
                inst, std::span(right.insts).subspan(j, std::min(length, right.insts.size() - j))))
          return false;
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
    const Inst* left = DefinitionOf(model_, a);
    if (left == nullptr) return Pair(a, b);
    const Inst* right = DefinitionOf(function_, b);
    return right != nullptr && SameInst(*left, *right) && pairs_.contains(a.index) &&
           pairs_.at(a.index) == b;
  }

  bool IsOutside(ValueId value) const { return !inside_.contains(value.index); }

  // The first element says what elements are; the others must be the same.
  bool SameElement(const Inst& load, std::span<const InstId> insts) {
    const ValueId index = Of(model_.operand(load, 1));
    if (insts.empty() || !index.valid() || function_.inst(insts.back()).results.count != 1)
      return false;
    const ValueId value = Function::result_of(function_.inst(insts.back()));
    if (!Pair(Function::result_of(load), value)) return false;
    if (match_.element.empty()) {
      match_.element.assign(insts.begin(), insts.end());
      match_.index = index;
      match_.value = value;
      return TakeElement();
    }
    if (insts.size() != match_.element.size()) return false;
    std::unordered_map<uint32_t, ValueId> same = {{match_.index.index, index}};
    for (size_t i = 0; i < insts.size(); ++i) {
      const Inst& a = function_.inst(match_.element[i]);
      const Inst& b = function_.inst(insts[i]);
      const auto words = function_.words_of(a);
      if (a.op != b.op || a.type != b.type || a.operands.count != b.operands.count ||
          b.results.count != 1 ||
          !std::equal(words.begin(), words.end(), function_.words_of(b).begin(),
                      function_.words_of(b).end()))
        return false;
      for (uint32_t k = 0; k < a.operands.count; ++k) {
        const ValueId operand = function_.operand(a, k);
        const auto inside = same.find(operand.index);
        if (function_.operand(b, k) != (inside != same.end() ? inside->second : operand))
          return false;
      }
      same[Function::result_of(a).index] = Function::result_of(b);
    }
    return true;
  }

  bool TakeElement() {
    std::set<uint32_t> made = {match_.index.index};
    for (InstId id : match_.element) {
      const Inst& inst = function_.inst(id);
      if (inst.regions.count != 0 || inst.results.count != 1) return false;
      const bool is_load = inst.op == Op::Load;
      if (!is_load && !IsPlainComputing(program_, function_, inst)) return false;
      if (is_load) {
        if (function_.operand(inst, 1) != match_.index || !IsOutside(function_.operand(inst, 0)))
          return false;
        match_.buffers.push_back(function_.operand(inst, 0));
      } else {
        for (ValueId operand : function_.operands_of(inst)) {
          if (made.contains(operand.index)) continue;
          if (!IsOutside(operand)) return false;
          match_.outside.push_back(operand);
        }
      }
      made.insert(Function::result_of(inst).index);
    }
    return true;
  }

  const Function& model_;
  const Program& program_;
  const Function& function_;
  const std::set<uint32_t>& inside_;  // values that the choice makes
  std::unordered_map<uint32_t, ValueId> pairs_;
  FoldMatch match_{};
};

// What can be told of a choice without a model.
struct Glance {
  std::set<uint32_t> inside;  // values
  std::set<Op> joins;         // ops on the fold's type
};

Glance LookInside(const Function& function, const Inst& choice, Type type) {
  Glance glance;
  ForEachInside(function, choice, [&](const Region& region) {
    for (uint32_t i = 0; i < region.params.count; ++i)
      glance.inside.insert(region.params.begin + i);
    for (InstId id : region.insts) {
      const Inst& inst = function.inst(id);
      for (uint32_t k = 0; k < inst.results.count; ++k)
        glance.inside.insert(inst.results.begin + k);
      if (inst.type == type) glance.joins.insert(inst.op);
    }
  });
  return glance;
}

bool HasWhile(const Function& function, RegionId region) {
  return std::ranges::any_of(function.region(region).insts,
                             [&](InstId id) { return function.inst(id).op == Op::While; });
}

// Scratch of the fold, which nothing else may use, its own elements included.
bool IsPrivate(const Function& function, const Inst& choice, const FoldMatch& match,
               ValueId scratch) {
  if (std::ranges::find(match.buffers, scratch) != match.buffers.end()) return false;
  const auto uses = [&](const Region& region) {
    uint64_t count = 0;
    for (InstId id : region.insts)
      count += static_cast<uint64_t>(
          std::ranges::count(function.operands_of(function.inst(id)), scratch));
    return count;
  };
  uint64_t inside = 0, everywhere = 0;
  ForEachInside(function, choice, [&](const Region& region) { inside += uses(region); });
  for (const Region& region : function.regions) everywhere += uses(region);
  return inside == everywhere;
}

// Reads the rest of the match off the two functions, which are alike.
bool Complete(const Function& function, const Inst& choice, const Model& model,
              const Comparison& comparison, FoldMatch& match) {
  const Function& reference = model.program.entry_function();
  match.count = comparison.Of(reference.param(0));
  match.result = Function::result_of(choice);
  if (!match.count.valid() || match.element.empty()) return false;
  const auto yielded = [&](uint32_t r) {
    const Region& region = function.region(Function::region_of(choice, r));
    return DefinitionOf(function, function.operand(function.inst(region.insts.back()), 0));
  };
  const Inst *identity = yielded(0), *load = yielded(1);
  if (identity == nullptr || identity->op != Op::Const || load == nullptr || load->op != Op::Load)
    return false;
  match.blocks = function.operand(*load, 0);
  for (const Inst& alloc : reference.insts) {
    if (alloc.op != Op::Alloc) continue;
    const ValueId scratch = comparison.Of(Function::result_of(alloc));
    if (!IsPrivate(function, choice, match, scratch)) return false;
    if (scratch != match.blocks) match.chains = scratch;
  }
  const auto words = function.words_of(*identity);
  match.identity.assign(words.begin(), words.end());
  return true;
}

}  // namespace

std::optional<FoldMatch> MatchFold(const Program& program, InstId id) {
  const Function& function = program.entry_function();
  const Inst& inst = function.inst(id);
  if (inst.op != Op::If || inst.results.count != 1) return std::nullopt;
  const Type type = function.type(Function::result_of(inst));
  if (!Contains(sets::Fixed | sets::Wide, type.scalar) ||
      !HasWhile(function, Function::region_of(inst, 1)))
    return std::nullopt;
  const Glance glance = LookInside(function, inst, type);
  for (uint32_t k = 0; k <= static_cast<uint32_t>(ReduceKind::Xor); ++k) {
    const auto kind = static_cast<ReduceKind>(k);
    if (!glance.joins.contains(OpOf(kind)) || !Contains(Info(OpOf(kind)).types, type.scalar))
      continue;
    const Model model = MakeModel(type, kind);
    Comparison comparison(model, program, glance.inside);
    if (!comparison.SameInst(model.program.entry_function().inst(model.choice), inst)) continue;
    FoldMatch match = comparison.match();
    match.kind = kind;
    match.op = OpOf(kind);
    match.type = type;
    if (!Complete(function, inst, model, comparison, match)) return std::nullopt;
    return match;
  }
  return std::nullopt;
}

}  // namespace frazil::ir
