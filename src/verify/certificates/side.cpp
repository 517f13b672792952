// Builds the terms of a program in one pass over its regions, in order.
#include "verify/internal/side.h"

#include "ir/check/attributes.h"

namespace frazil::verify {

using namespace ir::names;

Side::Side(const ir::Program& program, Terms& terms, Interned& interned)
    : program_(program), terms_(terms), interned_(interned), functions_(program.functions.size()) {
  for (uint32_t i = 0; i < program.functions.size(); ++i) BuildFunction(ir::FuncId(i));
}

ir::Type Side::Canonical(const Function& function, ir::Type type) const {
  if (!type.is_tensor()) return type;
  std::vector<int64_t> dims;
  for (ir::Dim dim : function.shape(type)) dims.push_back(dim.value);
  const auto next = static_cast<uint32_t>(interned_.shapes.size());
  type.shape = interned_.shapes.try_emplace(std::move(dims), next).first->second;
  return type;
}

std::vector<uint64_t> Side::Words(const Function& function, const Inst& inst) const {
  const auto words = function.words_of(inst);
  std::vector<uint64_t> result(words.begin(), words.end());
  if (ir::NamesTable(inst.op)) {
    const ir::Data& data = program_.data[result[0]];
    const auto next = static_cast<uint32_t>(interned_.tables.size());
    result[0] =
        interned_.tables.try_emplace({ir::ScalarOrBufferName(data.element), data.words}, next)
            .first->second;
  }
  return result;
}

bool Side::Writes(const Function& function, const Inst& inst) {
  if (inst.op == Op::Call) {
    for (ValueId operand : function.operands_of(inst)) {
      const ir::Type type = function.type(operand);
      if (type.is_buffer() && type.access != ir::Access::In) return true;
    }
    return false;
  }
  if (inst.op == Op::Barrier || inst.op == Op::Tasm ||
      ir::Info(inst.op).effect == ir::Effect::Writes)
    return true;
  for (uint32_t i = 0; i < inst.regions.count; ++i) {
    for (ir::InstId inner : function.region(Function::region_of(inst, i)).insts) {
      if (Writes(function, function.inst(inner))) return true;
    }
  }
  return false;
}

void Side::BuildFunction(ir::FuncId id) {
  const Function& function = program_.functions[id.index];
  FunctionTerms& out = functions_[id.index];
  out.values.assign(function.values.size(), 0);
  out.memory_before.assign(function.insts.size(), 0);
  out.memory_after.assign(function.insts.size(), 0);
  out.region_memory.assign(function.regions.size(), 0);
  out.region_end_memory.assign(function.regions.size(), 0);
  out.dead = DeadInsts(function);
  out.entry_memory = NewMemory();
  LeafParams(function, out, function.region(function.body));
  BuildRegion(function, out, function.body, out.entry_memory);
}

void Side::LeafParams(const Function& function, FunctionTerms& out, const ir::Region& region) {
  for (uint32_t i = 0; i < region.params.count; ++i) {
    const ValueId param = Function::param_of(region, i);
    out.values[param.index] = terms_.Leaf(Canonical(function, function.type(param)));
  }
}

TermId Side::BuildRegion(const Function& function, FunctionTerms& out, RegionId id, TermId memory) {
  out.region_memory[id.index] = memory;
  for (ir::InstId inst_id : function.region(id).insts) {
    const Inst& inst = function.inst(inst_id);
    out.memory_before[inst_id.index] = memory;
    memory = BuildInst(function, out, inst, memory);
    out.memory_after[inst_id.index] = memory;
  }
  out.region_end_memory[id.index] = memory;
  return memory;
}

TermId Side::BuildInst(const Function& function, FunctionTerms& out, const Inst& inst,
                       TermId memory) {
  if (inst.op == Op::If || inst.op == Op::Switch) return BuildChoice(function, out, inst, memory);
  if (inst.regions.count != 0) return BuildStructure(function, out, inst, memory);
  const ir::Effect effect = ir::Info(inst.op).effect;
  if (effect == ir::Effect::Pure || effect == ir::Effect::Reads) {
    BuildPure(function, out, inst, memory);
    return memory;
  }
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    const ValueId result = Function::result_of(inst, i);
    out.values[result.index] = terms_.Leaf(Canonical(function, function.type(result)));
  }
  return Writes(function, inst) ? NewMemory() : memory;
}

void Side::BuildPure(const Function& function, FunctionTerms& out, const Inst& inst,
                     TermId memory) {
  const ValueId result = Function::result_of(inst);
  if (inst.op == Op::Const) {
    out.values[result.index] = terms_.Constant(inst.type, function.words_of(inst));
    return;
  }
  std::vector<TermId> children;
  if (ir::Info(inst.op).effect == ir::Effect::Reads) children.push_back(memory);
  for (ValueId operand : function.operands_of(inst)) children.push_back(out.values[operand.index]);
  // A symbolic size is an operand in all but name.
  const ir::Type type = function.type(result);
  if (type.is_tensor()) {
    for (ir::Dim dim : function.shape(type)) {
      if (dim.is_symbol()) children.push_back(out.values[function.param(dim.param()).index]);
    }
  }
  out.values[result.index] =
      terms_.Apply(inst.op, Canonical(function, inst.type), Canonical(function, type),
                   Words(function, inst), children);
}

// `if` and `switch`: a result is a function of the condition and of what each arm yields.
TermId Side::BuildChoice(const Function& function, FunctionTerms& out, const Inst& inst,
                         TermId memory) {
  std::vector<std::vector<TermId>> yields(inst.results.count,
                                          {out.values[function.operand(inst, 0).index]});
  for (uint32_t i = 0; i < inst.regions.count; ++i) {
    const RegionId id = Function::region_of(inst, i);
    BuildRegion(function, out, id, memory);
    const Inst& last = function.inst(function.region(id).insts.back());
    for (uint32_t k = 0; k < inst.results.count; ++k) {
      // An arm that ends in `unreachable` yields nothing that anybody sees.
      const bool yielded = last.op == Op::Yield && k < last.operands.count;
      const ir::Type type = Canonical(function, function.type(Function::result_of(inst, k)));
      yields[k].push_back(yielded ? out.values[function.operand(last, k).index]
                                  : terms_.Leaf(type));
    }
  }
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const ValueId result = Function::result_of(inst, k);
    const ir::Type type = Canonical(function, function.type(result));
    if (inst.op == Op::If) {
      out.values[result.index] = terms_.Apply(Op::Select, type, type, {}, yields[k]);
    } else {
      const ir::Type selector = function.type(function.operand(inst, 0));
      out.values[result.index] =
          terms_.Apply(Op::Switch, selector, type, Words(function, inst), yields[k]);
    }
  }
  return Writes(function, inst) ? NewMemory() : memory;
}

TermId Side::BuildStructure(const Function& function, FunctionTerms& out, const Inst& inst,
                            TermId memory) {
  const bool writes = Writes(function, inst);
  TermId inner = writes ? NewMemory() : memory;
  for (uint32_t i = 0; i < inst.regions.count; ++i) {
    const RegionId id = Function::region_of(inst, i);
    LeafParams(function, out, function.region(id));
    inner = BuildRegion(function, out, id, inner);
  }
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const ValueId result = Function::result_of(inst, k);
    out.values[result.index] = terms_.Leaf(Canonical(function, function.type(result)));
  }
  return writes ? NewMemory() : memory;
}

namespace {

// Follows uses backwards from what matters.
class Liveness {
 public:
  explicit Liveness(const Function& function)
      : function_(function), live_(function.values.size()), param_(function.values.size()) {
    for (uint32_t i = 0; i < function.insts.size(); ++i) {
      for (uint32_t r = 0; r < function.insts[i].regions.count; ++r) {
        const ir::Region& region = function.region(Function::region_of(function.insts[i], r));
        for (uint32_t k = 0; k < region.params.count; ++k) param_[region.params.begin + k] = {i, k};
      }
    }
  }

  std::vector<bool> Dead() {
    MarkRegion(function_.body);
    while (!work_.empty()) {
      const ValueId value = work_.back();
      work_.pop_back();
      Follow(value);
    }
    std::vector<bool> dead(function_.insts.size());
    for (size_t i = 0; i < function_.insts.size(); ++i) {
      const Inst& inst = function_.insts[i];
      dead[i] = inst.results.count != 0;
      for (uint32_t k = 0; k < inst.results.count; ++k) {
        if (live_[inst.results.begin + k]) dead[i] = false;
      }
    }
    return dead;
  }

 private:
  struct Owner {
    uint32_t inst = UINT32_MAX;
    uint32_t index = 0;
  };

  void Mark(ValueId value) {
    if (live_[value.index]) return;
    live_[value.index] = true;
    work_.push_back(value);
  }
  void MarkOperands(const Inst& inst) {
    for (ValueId operand : function_.operands_of(inst)) Mark(operand);
  }
  const Inst& Last(RegionId id) const { return function_.inst(function_.region(id).insts.back()); }

  // What matters by itself: effects, traps, conditions of loops that may not end, returns.
  void MarkRegion(RegionId id) {
    for (ir::InstId inst_id : function_.region(id).insts) {
      const Inst& inst = function_.inst(inst_id);
      const ir::OpInfo& info = ir::Info(inst.op);
      for (uint32_t i = 0; i < inst.regions.count; ++i) MarkRegion(Function::region_of(inst, i));
      if (inst.regions.count != 0 || inst.op == Op::Yield) continue;
      if (info.effect != ir::Effect::Pure || info.traps != 0) MarkOperands(inst);
    }
  }

  void Follow(ValueId value) {
    const ir::InstId def = function_.values[value.index].def;
    if (def.valid()) {
      const Inst& inst = function_.inst(def);
      FollowResult(inst, value.index - inst.results.begin);
    } else if (param_[value.index].inst != UINT32_MAX) {
      const Owner owner = param_[value.index];
      const Inst& inst = function_.insts[owner.inst];
      if (inst.op == Op::For && owner.index > 0) {
        FollowResult(inst, owner.index - 1);
      } else if (inst.op == Op::While) {
        FollowResult(inst, owner.index);
      } else {
        MarkOperands(inst);
      }
    }
  }

  void FollowResult(const Inst& inst, uint32_t result) {
    if (inst.regions.count == 0) return MarkOperands(inst);
    switch (inst.op) {
      case Op::For:
        Mark(function_.operand(inst, 0));
        Mark(function_.operand(inst, 1));
        Mark(function_.operand(inst, 2 + result));
        break;
      case Op::While: Mark(function_.operand(inst, result)); break;
      default: MarkOperands(inst); break;
    }
    for (uint32_t i = 0; i < inst.regions.count; ++i) {
      const Inst& last = Last(Function::region_of(inst, i));
      if (last.op == Op::Yield && result < last.operands.count)
        Mark(function_.operand(last, result));
    }
  }

  const Function& function_;
  std::vector<bool> live_;
  std::vector<Owner> param_;
  std::vector<ValueId> work_;
};

}  // namespace

std::vector<bool> DeadInsts(const Function& function) { return Liveness(function).Dead(); }

}  // namespace frazil::verify
