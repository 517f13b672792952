// First half of the plan: liveness, uses, and what stays on the stack. Ordered instructions (those
// that can trap, read or write) may only be written in program order; `pending` holds those that
// were left for their use and not written yet, and whatever would have to overtake one sends it
// back to a local.
#include "targets/wasm/emit/plan.h"

#include <algorithm>

#include "ir/facts/inst_facts.h"
#include "ir/facts/nans.h"

namespace frazil::targets::wasm {

using namespace ir::names;

namespace {

// Deeper trees would gain nothing and recurse through the emitter.
constexpr uint8_t MaxTreeDepth = 40;

// Does this operand keep the bits of a float, so that a NaN in it must already be the one quiet NaN? Of atomic ops only
// an exchange: the others compute here.
bool MovesOperand(const ir::Function& function, const ir::Inst& inst, uint32_t i) {
  if (inst.op == Op::AtomicRmw &&
      static_cast<ir::AtomicKind>(function.word(inst, 0)) != ir::AtomicKind::Exchange)
    return false;
  return ir::Moves(inst, i);
}

}  // namespace

FunctionPlan::FunctionPlan(const ir::Program& program, const ir::Function& function)
    : function_(function),
      ranges_(program, function),
      definition_(function.values.size(), None),
      loop_of_(function.values.size(), None),
      owner_(function.regions.size(), None),
      region_(function.insts.size()),
      position_(function.insts.size()),
      live_(function.insts.size()),
      uses_(function.values.size()),
      user_(function.values.size(), None),
      canonicalizes_(function.values.size()),
      lazy_(function.values.size()),
      places_(function.values.size()),
      depth_(function.values.size()),
      tokens_(function.values.size()),
      lives_(function.values.size()) {
  FindDefinitions(function.body);
  FindLive();
  CountUses();
  FindLazy();
  FindCanonical();
  PlanRegion(function.body);
  PlaceParams();
  NumberRegion(function.body);
  Coalesce();
  AssignLocals();
}

void FunctionPlan::FindDefinitions(ir::RegionId region) {
  const std::vector<ir::InstId>& insts = function_.region(region).insts;
  for (uint32_t i = 0; i < insts.size(); ++i) {
    const ir::Inst& inst = function_.inst(insts[i]);
    region_[insts[i].index] = region.index;
    position_[insts[i].index] = i;
    for (uint32_t r = 0; r < inst.results.count; ++r)
      definition_[Function::result_of(inst, r).index] = insts[i].index;
    if (inst.op == Op::For || inst.op == Op::Parallel)
      loop_of_[Function::param_of(function_.region(Function::region_of(inst, 0)), 0).index] =
          insts[i].index;
    for (uint32_t r = 0; r < inst.regions.count; ++r) {
      owner_[Function::region_of(inst, r).index] = insts[i].index;
      FindDefinitions(Function::region_of(inst, r));
    }
  }
}

bool FunctionPlan::IsOrdered(const ir::Inst& inst) const {
  return ir::Info(inst.op).effect != ir::Effect::Pure || !ranges_.cannot_trap(inst);
}

void FunctionPlan::FindLive() {
  std::vector<uint32_t> open;
  // Instructions outside of any region (left over by builders) stay dead: walk the regions.
  for (const ir::Region& region : function_.regions)
    for (ir::InstId id : region.insts)
      if (IsOrdered(inst(id))) {
        live_[id.index] = true;
        open.push_back(id.index);
      }
  while (!open.empty()) {
    const ir::Inst& user = function_.insts[open.back()];
    open.pop_back();
    for (ValueId operand : function_.operands_of(user)) {
      uint32_t definition = definition_[operand.index];
      if (definition == None || live_[definition]) continue;
      live_[definition] = true;
      open.push_back(definition);
    }
  }
}

void FunctionPlan::CountUses() {
  for (uint32_t i = 0; i < function_.insts.size(); ++i) {
    if (!live_[i]) continue;
    for (ValueId operand : function_.operands_of(function_.insts[i])) {
      ++uses_[operand.index];
      user_[operand.index] = i;
    }
  }
}

// Arithmetic made it, so that making its NaN the one NaN again changes nothing; or it is a constant that is none.
bool FunctionPlan::IsComputed(ValueId value) const {
  const uint32_t definition = definition_[value.index];
  if (definition == None) return false;
  const ir::Inst& inst = function_.insts[definition];
  if (inst.op != Op::Const) return ir::MakesAnyNan(function_, inst);
  return ir::IsNumber(inst.type, function_.words_of(inst)[0]);
}

// A carried float that arithmetic makes and only arithmetic reads inside its loop need not be made the one NaN in every
// turn, where it would lie on the latency chain of a sum (12 cycles a turn instead of 4): once after the loop is enough.
void FunctionPlan::FindLazy() {
  std::vector<bool> moved(function_.values.size());
  for (uint32_t i = 0; i < function_.insts.size(); ++i) {
    if (!live_[i]) continue;
    for (uint32_t k = 0; k < function_.insts[i].operands.count; ++k)
      if (MovesOperand(function_, function_.insts[i], k))
        moved[function_.operand(function_.insts[i], k).index] = true;
  }
  for (uint32_t i = 0; i < function_.insts.size(); ++i) {
    const ir::Inst& loop = function_.insts[i];
    if (!live_[i] || (loop.op != Op::For && loop.op != Op::While)) continue;
    const uint32_t first_init = loop.op == Op::For ? 2 : 0;
    const uint32_t first_param = loop.op == Op::For ? 1 : 0;
    const ir::Region& head = function_.region(Function::region_of(loop, 0));
    const ir::Region& body =
        function_.region(Function::region_of(loop, loop.op == Op::For ? 0 : 1));
    const ir::Inst& yield = function_.inst(body.insts.back());
    if (yield.op != Op::Yield) continue;
    for (uint32_t k = 0; k < loop.results.count; ++k) {
      const ValueId result = Function::result_of(loop, k);
      lazy_[result.index] = IsWideFloat(function_.type(result)) &&
                            !moved[Function::param_of(head, first_param + k).index] &&
                            IsComputed(function_.operand(yield, k)) &&
                            IsComputed(function_.operand(loop, first_init + k));
    }
  }
}

// The operand only goes round in a loop that does not mind which NaN it is.
bool FunctionPlan::FeedsLazy(const ir::Inst& user, uint32_t operand) const {
  if (user.op == Op::For)
    return operand >= 2 && lazy_[Function::result_of(user, operand - 2).index];
  if (user.op == Op::While) return lazy_[Function::result_of(user, operand).index];
  if (user.op != Op::Yield) return false;
  const uint32_t loop = owner_[region_[Index(user)]];
  return loop != None && lazy_[Function::result_of(function_.insts[loop], operand).index];
}

void FunctionPlan::FindCanonical() {
  for (uint32_t i = 0; i < function_.insts.size(); ++i) {
    if (!live_[i]) continue;
    const ir::Inst& user = function_.insts[i];
    for (uint32_t k = 0; k < user.operands.count; ++k) {
      ValueId operand = function_.operand(user, k);
      uint32_t definition = definition_[operand.index];
      if (definition == None || canonicalizes_[operand.index]) continue;
      if (!MovesOperand(function_, user, k) || FeedsLazy(user, k)) continue;
      if (ir::MakesAnyNan(function_, function_.insts[definition]) || lazy_[operand.index])
        canonicalizes_[operand.index] = true;
    }
  }
}

bool FunctionPlan::IsRemade(const ir::Inst& inst) const {
  return inst.op == Op::Const || inst.op == Op::Length;
}

bool FunctionPlan::MayBeInline(const ir::Inst& inst) const {
  if (inst.results.count != 1) return false;
  ValueId result = Function::result_of(inst);
  ir::Type type = function_.type(result);
  if (!type.is_scalar() || IsBig(type) || uses_[result.index] != 1) return false;
  if (region_[user_[result.index]] != region_[Index(inst)]) return false;
  if (inst.regions.count != 0 && (inst.op != Op::If || WordCount(type) != 1)) return false;
  uint8_t deepest = 0;
  for (ValueId operand : function_.operands_of(inst))
    if (places_[operand.index].where == Where::Inline)
      deepest = std::max(deepest, depth_[operand.index]);
  return deepest < MaxTreeDepth;
}

void FunctionPlan::PlanRegion(ir::RegionId region) {
  std::vector<ValueId> pending;
  for (ir::InstId id : function_.region(region).insts) {
    const ir::Inst& current = inst(id);
    if (!live_[id.index]) continue;
    if (IsRemade(current)) {
      places_[Function::result_of(current).index].where = Where::Remade;
      continue;
    }
    for (uint32_t i = 0; i < current.regions.count; ++i) {
      ir::RegionId nested = Function::region_of(current, i);
      for (uint32_t p = 0; p < function_.region(nested).params.count; ++p) {
        ValueId param = Function::param_of(function_.region(nested), p);
        places_[param.index].where = IsBig(function_.type(param)) ? Where::Slot : Where::Local;
      }
      PlanRegion(nested);
    }
    PlanInst(current, pending);
  }
}

std::vector<ValueId> FunctionPlan::GatherTokens(const ir::Inst& inst) const {
  std::vector<ValueId> tokens;
  OperandOrder order(inst);
  for (uint32_t i = 0; i < order.count; ++i) {
    ValueId operand = function_.operand(inst, order[i]);
    if (places_[operand.index].where != Where::Inline) continue;
    for (ValueId token : tokens_[operand.index])
      if (places_[token.index].where == Where::Inline) tokens.push_back(token);
  }
  return tokens;
}

void FunctionPlan::Demote(std::vector<ValueId>& pending, uint32_t up_to) {
  std::erase_if(pending, [&](ValueId token) {
    if (position(token) > up_to) return false;
    places_[token.index].where = Where::Local;
    tokens_[token.index].clear();
    return true;
  });
}

void FunctionPlan::PlanInst(const ir::Inst& inst, std::vector<ValueId>& pending) {
  bool is_ordered = IsOrdered(inst);
  bool is_inline = MayBeInline(inst);
  std::vector<ValueId> tokens = GatherTokens(inst);
  auto is_token = [&](ValueId value) {
    return std::find(tokens.begin(), tokens.end(), value) != tokens.end();
  };
  auto earlier = [&](ValueId a, ValueId b) { return position(a) < position(b); };
  if (!std::is_sorted(tokens.begin(), tokens.end(), earlier)) {
    Demote(pending, position(*std::max_element(tokens.begin(), tokens.end(), earlier)));
    tokens.clear();
  }
  // Who would be overtaken: by an ordered instruction that is written here, everyone it does not
  // contain; by one that only writes its operands here, the same, for those behind its first token may
  // come to be written at their own place, before it; by one that is left for later, those that stand
  // between its own parts, which will be written together.
  auto is_overtaken = [&](ValueId token) {
    if (is_token(token)) return false;
    if (is_inline)
      return is_ordered && !tokens.empty() && position(token) > position(tokens.front());
    return is_ordered || !tokens.empty();
  };
  uint32_t overtaken = None;
  for (ValueId token : pending)
    if (is_overtaken(token)) overtaken = position(token);
  if (overtaken != None) {
    Demote(pending, overtaken);
    tokens = GatherTokens(inst);
  }
  if (is_ordered || !is_inline) std::erase_if(pending, is_token);
  if (inst.results.count == 1 && is_inline) {
    ValueId result = Function::result_of(inst);
    places_[result.index].where = Where::Inline;
    uint8_t deepest = 0;
    for (ValueId operand : function_.operands_of(inst))
      if (places_[operand.index].where == Where::Inline)
        deepest = std::max(deepest, depth_[operand.index]);
    depth_[result.index] = static_cast<uint8_t>(deepest + 1);
    tokens_[result.index] = is_ordered ? std::vector{result} : std::move(tokens);
    if (is_ordered) pending.push_back(result);
    return;
  }
  bool is_loop = inst.op == Op::For || inst.op == Op::While;
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    ValueId result = Function::result_of(inst, i);
    ir::Type type = function_.type(result);
    bool needed = uses_[result.index] != 0 || is_loop || inst.op == Op::If || inst.op == Op::Switch;
    // An int<k> is always written somewhere, used or not.
    if (type.is_scalar() && IsBig(type))
      places_[result.index].where = Where::Slot;
    else if (needed || type.is_buffer())
      places_[result.index].where = Where::Local;
  }
}

}  // namespace frazil::targets::wasm
