// Liveness by marking backwards from effects, traps and returns; then one pass that counts uses and decides
// what is written in place. Dead values must go here and not in the C compiler: it would warn about them.
#include "targets/c/facts.h"

#include <algorithm>

#include "base/check.h"
#include "targets/c/ctype.h"

namespace frazil::targets::c {
namespace {

using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::Region;
using ir::RegionId;
using ir::ValueId;

// Longer expressions are cut by naming their parts.
constexpr uint32_t MaxInlinedOps = 5;

class Marker {
 public:
  Marker(const ir::Program& program, const ProgramFacts& all, const Function& function,
         FunctionFacts& facts, bool metered)
      : program_(program), all_(all), function_(function), facts_(facts), metered_(metered) {}

  void Run() {
    FindHomes();
    for (uint32_t r = 0; r < function_.regions.size(); ++r) MarkRoots(RegionId(r));
    FindLazy();
    for (InstId id : in_order_) CountUses(id);
    Inline();
  }

 private:
  // Where each value and instruction lives, and how much of each region can be reached. Regions of
  // instructions that cannot be reached stay at 0.
  void FindHomes() {
    facts_.definition.assign(function_.values.size(), InstId());
    facts_.home.assign(function_.values.size(), RegionId());
    facts_.uses.assign(function_.values.size(), 0);
    facts_.live.assign(function_.values.size(), false);
    facts_.inlined.assign(function_.values.size(), false);
    facts_.canonical.assign(function_.values.size(), false);
    facts_.lazy.assign(function_.values.size(), false);
    facts_.needed.assign(function_.insts.size(), false);
    facts_.reached.assign(function_.regions.size(), 0);
    facts_.allocates.assign(function_.regions.size(), false);
    region_of_.assign(function_.insts.size(), RegionId());
    owner_.assign(function_.regions.size(), InstId());
    user_region_.assign(function_.values.size(), RegionId());
    user_needs_name_.assign(function_.values.size(), false);
    // A stack of regions instead of recursion; a region is entered after all before it in its parent.
    std::vector<RegionId> stack = {function_.body};
    while (!stack.empty()) {
      const RegionId region_id = stack.back();
      stack.pop_back();
      EnterRegion(region_id, stack);
    }
  }

  void EnterRegion(RegionId region_id, std::vector<RegionId>& stack) {
    const Region& region = function_.region(region_id);
    for (uint32_t i = 0; i < region.params.count; ++i)
      facts_.home[region.params.begin + i] = region_id;
    for (InstId id : region.insts) {
      const Inst& inst = function_.inst(id);
      region_of_[id.index] = region_id;
      in_order_.push_back(id);
      facts_.reached[region_id.index] += 1;
      for (uint32_t i = 0; i < inst.results.count; ++i) {
        facts_.definition[inst.results.begin + i] = id;
        facts_.home[inst.results.begin + i] = region_id;
      }
      // The test of a `while` is entered before its body, which sees what the test defines.
      for (uint32_t i = inst.regions.count; i-- > 0;) {
        owner_[inst.regions.begin + i] = id;
        stack.push_back(Function::region_of(inst, i));
      }
      if (inst.op == Op::Alloc) facts_.allocates[region_id.index] = true;
      if (Chance(inst) == TrapChance::Always) break;
    }
    // A region that ends in a trap releases nothing itself.
    if (!IsComplete(region_id)) facts_.allocates[region_id.index] = false;
  }

  TrapChance Chance(const Inst& inst) const {
    return ChanceOfTrap(program_, function_, facts_, inst);
  }

  bool IsRoot(const Inst& inst) const {
    if (inst.op == Op::Yield || inst.op == Op::Condition) return false;
    if (inst.op == Op::Return || inst.op == Op::While) return true;
    if (inst.op == Op::For || inst.op == Op::Parallel) return metered_ && !function_.is_prelude;
    if (inst.op == Op::Call) {
      const uint32_t callee = static_cast<uint32_t>(function_.word(inst, 0));
      return !program_.functions[callee].is_prelude || all_.fallible[callee];
    }
    const ir::Effect effect = ir::Info(inst.op).effect;
    return effect == ir::Effect::Writes || effect == ir::Effect::Io ||
           Chance(inst) != TrapChance::Never;
  }

  void MarkRoots(RegionId region_id) {
    const Region& region = function_.region(region_id);
    for (uint32_t i = 0; i < facts_.reached[region_id.index]; ++i) {
      if (!IsRoot(function_.inst(region.insts[i]))) continue;
      pending_insts_.push_back(region.insts[i]);
      Drain();
    }
  }

  void Drain() {
    while (!pending_insts_.empty() || !pending_values_.empty()) {
      if (!pending_insts_.empty()) {
        const InstId id = pending_insts_.back();
        pending_insts_.pop_back();
        NeedInst(id);
      } else {
        const ValueId value = pending_values_.back();
        pending_values_.pop_back();
        LiveValue(value);
      }
    }
  }

  void NeedInst(InstId id) {
    if (facts_.needed[id.index]) return;
    facts_.needed[id.index] = true;
    const InstId owner = owner_[region_of_[id.index].index];
    if (owner.valid()) pending_insts_.push_back(owner);
    const Inst& inst = function_.inst(id);
    uint32_t count = inst.operands.count;
    if (inst.op == Op::For) count = 2;
    if (inst.op == Op::While) {
      count = 0;
      const RegionId test = Function::region_of(inst, 0);
      if (IsComplete(test)) pending_insts_.push_back(function_.region(test).insts.back());
    }
    const TrapChance chance = Chance(inst);
    for (uint32_t i = 0; i < count; ++i) {
      if (IsInCheck(inst, chance, i)) pending_values_.push_back(function_.operand(inst, i));
    }
  }

  // Its terminator is reached.
  bool IsComplete(RegionId region) const {
    return facts_.reached[region.index] == function_.region(region).insts.size();
  }

  void LiveValue(ValueId value) {
    if (facts_.live[value.index]) return;
    facts_.live[value.index] = true;
    const InstId id = facts_.definition[value.index];
    if (!id.valid()) {
      const RegionId region = facts_.home[value.index];
      const InstId owner = owner_[region.index];
      if (!owner.valid()) return;
      const Inst& inst = function_.inst(owner);
      const uint32_t position = value.index - function_.region(region).params.begin;
      if (inst.op == Op::For && position > 0) LiveCarry(inst, position - 1);
      if (inst.op == Op::While) LiveCarry(inst, position);
      return;
    }
    pending_insts_.push_back(id);
    const Inst& inst = function_.inst(id);
    const uint32_t k = value.index - inst.results.begin;
    if (inst.op == Op::For || inst.op == Op::While) return LiveCarry(inst, k);
    if (inst.op != Op::If && inst.op != Op::Switch) {
      for (ValueId operand : function_.operands_of(inst)) pending_values_.push_back(operand);
      return;
    }
    for (uint32_t i = 0; i < inst.regions.count; ++i) LiveYield(Function::region_of(inst, i), k);
  }

  void LiveYield(RegionId region, uint32_t k) {
    if (!IsComplete(region)) return;
    pending_values_.push_back(
        function_.operand(function_.inst(function_.region(region).insts.back()), k));
  }

  void LiveCarry(const Inst& loop, uint32_t k) {
    facts_.live[loop.results.begin + k] = true;
    facts_.live[CarriedParam(function_, loop, k).index] = true;
    pending_values_.push_back(function_.operand(loop, FirstInit(loop) + k));
    LiveYield(Function::region_of(loop, loop.op == Op::While ? 1 : 0), k);
  }

  // Calls `visit(value, needs_name, moves, result)` for each operand that a needed instruction reads; result is
  // what a yield or the start of a loop moves it to, invalid for others.
  template <typename Visit>
  void ForEachUse(InstId id, const Visit& visit) const {
    const Inst& inst = function_.inst(id);
    if (inst.op == Op::Yield) {
      const InstId owner = owner_[region_of_[id.index].index];
      if (!facts_.needed[owner.index]) return;
      for (uint32_t k = 0; k < inst.operands.count; ++k) {
        const ValueId result = Function::result_of(function_.inst(owner), k);
        if (facts_.live[result.index]) visit(function_.operand(inst, k), false, true, result);
      }
      return;
    }
    if (!facts_.needed[id.index]) return;
    const bool is_loop = inst.op == Op::For || inst.op == Op::While;
    const bool is_read = inst.results.count == 1 && facts_.live[inst.results.begin];
    const TrapChance chance = Chance(inst);
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      if (is_loop && i >= FirstInit(inst)) {
        const ValueId result = Function::result_of(inst, i - FirstInit(inst));
        if (facts_.live[result.index]) visit(function_.operand(inst, i), false, true, result);
      } else if (is_read || IsInCheck(inst, chance, i)) {
        visit(function_.operand(inst, i), NeedsName(function_, inst, i), Moves(inst, i), ValueId());
      }
    }
  }

  // A carried float that arithmetic makes and only arithmetic reads inside its loop need not be made the one
  // NaN in every turn: once after the loop is enough.
  void FindLazy() {
    std::vector<bool> moved(function_.values.size(), false);
    for (InstId id : in_order_) {
      ForEachUse(id, [&](ValueId value, bool, bool moves, ValueId) {
        if (moves) moved[value.index] = true;
      });
    }
    for (InstId id : in_order_) {
      const Inst& loop = function_.inst(id);
      if (!facts_.needed[id.index] || (loop.op != Op::For && loop.op != Op::While)) continue;
      for (uint32_t k = 0; k < loop.results.count; ++k) {
        const ValueId result = Function::result_of(loop, k);
        const RegionId body = Function::region_of(loop, loop.op == Op::While ? 1 : 0);
        if (!facts_.live[result.index] || !IsComplete(body) ||
            !IsWide(function_.type(result).scalar))
          continue;
        const ValueId yielded =
            function_.operand(function_.inst(function_.region(body).insts.back()), k);
        facts_.lazy[result.index] = !moved[CarriedParam(function_, loop, k).index] &&
                                    IsArithmetic(yielded) &&
                                    (IsArithmetic(function_.operand(loop, FirstInit(loop) + k)) ||
                                     IsPlainConstant(function_.operand(loop, FirstInit(loop) + k)));
      }
    }
  }

  bool IsArithmetic(ValueId value) const {
    const InstId definition = facts_.definition[value.index];
    return definition.valid() && MakesAnyNan(function_, function_.inst(definition));
  }

  // A float constant that is no NaN with a payload.
  bool IsPlainConstant(ValueId value) const {
    const auto words = ConstantOf(function_, facts_, value);
    if (!words) return false;
    const bool is_double = function_.type(value).scalar == ir::Scalar::F64;
    const uint64_t magnitude = (*words)[0] & (is_double ? UINT64_MAX >> 1 : 0x7fff'ffffu);
    return magnitude <= (is_double ? 0x7ff0'0000'0000'0000u : 0x7f80'0000u);
  }

  void Use(ValueId value, RegionId region, bool needs_name, bool moves) {
    facts_.uses[value.index] += 1;
    user_region_[value.index] = region;
    if (needs_name) user_needs_name_[value.index] = true;
    if (moves && (IsArithmetic(value) || facts_.lazy[value.index]))
      facts_.canonical[value.index] = true;
  }

  void CountUses(InstId id) {
    const RegionId region = region_of_[id.index];
    ForEachUse(id, [&](ValueId value, bool needs_name, bool moves, ValueId result) {
      const bool is_lazy = result.valid() && facts_.lazy[result.index];
      Use(value, region, needs_name, moves && !is_lazy);
    });
  }

  static bool Moves(const Inst& inst, uint32_t operand) {
    switch (inst.op) {
      case Op::Store:
      case Op::AtomicRmw: return operand == 2;
      case Op::Select: return operand > 0;
      case Op::CopySign: return operand == 1;
      case Op::Return:
      case Op::Bitcast:
      case Op::Call:
      case Op::Output: return true;
      default: return false;
    }
  }

  void Inline() {
    std::vector<uint32_t> size(function_.values.size(), 0);
    for (InstId id : in_order_) {
      const Inst& inst = function_.inst(id);
      if (!facts_.needed[id.index] || inst.results.count != 1) continue;
      const ValueId result = Function::result_of(inst);
      uint32_t ops = 1;
      for (ValueId operand : function_.operands_of(inst))
        ops += facts_.inlined[operand.index] ? size[operand.index] : 0;
      size[result.index] = ops;
      facts_.inlined[result.index] = ops <= MaxInlinedOps && facts_.uses[result.index] == 1 &&
                                     user_region_[result.index] == facts_.home[result.index] &&
                                     !user_needs_name_[result.index] && IsExpression(inst);
    }
  }

  bool IsExpression(const Inst& inst) const {
    if (inst.op == Op::Call) {
      const uint32_t callee = static_cast<uint32_t>(function_.word(inst, 0));
      return program_.functions[callee].is_prelude && !all_.fallible[callee];
    }
    if (inst.op == Op::Const || inst.op == Op::Length) return false;
    if (inst.op == Op::CastChecked &&
        (inst.type.scalar == ir::Scalar::Int ||
         function_.type(function_.operand(inst, 0)).scalar == ir::Scalar::Int))
      return false;
    return ir::Info(inst.op).effect == ir::Effect::Pure && Chance(inst) == TrapChance::Never;
  }

  const ir::Program& program_;
  const ProgramFacts& all_;
  const Function& function_;
  FunctionFacts& facts_;
  bool metered_;
  std::vector<RegionId> region_of_;    // by instruction
  std::vector<InstId> owner_;          // by region
  std::vector<InstId> in_order_;       // reached instructions; those of a region in order
  std::vector<RegionId> user_region_;  // by value: of its last user
  std::vector<bool> user_needs_name_;  // by value: of any user
  std::vector<InstId> pending_insts_;
  std::vector<ValueId> pending_values_;
};

bool IsDirectlyFallible(const ir::Program& program, const Function& function, bool metered) {
  FunctionFacts facts;
  facts.definition.assign(function.values.size(), InstId());
  for (uint32_t i = 0; i < function.insts.size(); ++i) {
    const Inst& inst = function.insts[i];
    for (uint32_t r = 0; r < inst.results.count; ++r)
      facts.definition[inst.results.begin + r] = InstId(i);
  }
  for (const Inst& inst : function.insts) {
    if (ChanceOfTrap(program, function, facts, inst) != TrapChance::Never) return true;
    if (function.is_prelude) continue;
    if (inst.op == Op::While) return true;
    if (inst.op == Op::Call &&
        !program.functions[static_cast<size_t>(function.word(inst, 0))].is_prelude)
      return true;
    if (metered && (inst.op == Op::For || inst.op == Op::Parallel)) return true;
  }
  return false;
}

std::vector<std::vector<uint32_t>> CallGraph(const ir::Program& program) {
  std::vector<std::vector<uint32_t>> callees(program.functions.size());
  for (size_t f = 0; f < program.functions.size(); ++f) {
    for (const Inst& inst : program.functions[f].insts) {
      if (inst.op == Op::Call)
        callees[f].push_back(static_cast<uint32_t>(program.functions[f].word(inst, 0)));
    }
  }
  return callees;
}

// Tarjan's components with a stack of its own; they come out callees first.
class CallOrder {
 public:
  CallOrder(const std::vector<std::vector<uint32_t>>& callees, ProgramFacts& facts)
      : callees_(callees),
        facts_(facts),
        number_(callees.size(), 0),
        low_(callees.size(), 0),
        on_stack_(callees.size(), false) {}

  void From(uint32_t entry) {
    Open(entry);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const uint32_t f = frame.function;
      if (frame.next < callees_[f].size()) {
        const uint32_t callee = callees_[f][frame.next++];
        if (number_[callee] == 0)
          Open(callee);
        else if (on_stack_[callee])
          low_[f] = std::min(low_[f], number_[callee]);
        continue;
      }
      Close(f);
      frames_.pop_back();
      if (!frames_.empty())
        low_[frames_.back().function] = std::min(low_[frames_.back().function], low_[f]);
    }
  }

 private:
  struct Frame {
    uint32_t function;
    size_t next;
  };

  void Open(uint32_t f) {
    number_[f] = low_[f] = ++count_;
    on_stack_[f] = true;
    stack_.push_back(f);
    frames_.push_back({f, 0});
    facts_.reachable[f] = true;
  }

  void Close(uint32_t f) {
    if (low_[f] != number_[f]) return;
    bool cycle = stack_.back() != f;
    for (uint32_t callee : callees_[f]) cycle |= callee == f;
    uint32_t member;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_[member] = false;
      facts_.recursive[member] = cycle;
      facts_.has_recursion |= cycle;
      facts_.order.push_back(ir::FuncId(member));
    } while (member != f);
  }

  const std::vector<std::vector<uint32_t>>& callees_;
  ProgramFacts& facts_;
  std::vector<uint32_t> number_, low_;
  std::vector<bool> on_stack_;
  std::vector<uint32_t> stack_;
  std::vector<Frame> frames_;
  uint32_t count_ = 0;
};

// Functions that only dead code calls go too.
void KeepNeededFunctions(const ir::Program& program, ProgramFacts& facts) {
  std::vector<bool> called(program.functions.size(), false);
  std::vector<uint32_t> open = {program.entry.index};
  called[program.entry.index] = true;
  while (!open.empty()) {
    const uint32_t f = open.back();
    open.pop_back();
    const Function& function = program.functions[f];
    for (size_t i = 0; i < function.insts.size(); ++i) {
      if (function.insts[i].op != Op::Call || !facts.functions[f].needed[i]) continue;
      const uint32_t callee = static_cast<uint32_t>(function.word(function.insts[i], 0));
      if (!called[callee]) open.push_back(callee);
      called[callee] = true;
    }
  }
  facts.reachable = called;
  std::erase_if(facts.order, [&](ir::FuncId id) { return !called[id.index]; });
}

}  // namespace

ir::ValueId CarriedParam(const Function& function, const Inst& loop, uint32_t k) {
  const Region& region = function.region(Function::region_of(loop, 0));
  return Function::param_of(region, loop.op == Op::For ? k + 1 : k);
}

uint32_t FirstInit(const Inst& loop) { return loop.op == Op::For ? 2 : 0; }

ProgramFacts FindFacts(const ir::Program& program, bool metered) {
  ProgramFacts facts;
  const size_t count = program.functions.size();
  facts.reachable.assign(count, false);
  facts.fallible.assign(count, false);
  facts.recursive.assign(count, false);
  facts.call_depth.assign(count, 0);
  facts.functions.resize(count);
  const auto callees = CallGraph(program);
  CallOrder(callees, facts).From(program.entry.index);
  for (ir::FuncId id : facts.order)
    facts.fallible[id.index] = IsDirectlyFallible(program, program.functions[id.index], metered);
  for (bool changed = true; changed;) {
    changed = false;
    for (ir::FuncId id : facts.order) {
      for (uint32_t callee : callees[id.index]) {
        if (!facts.fallible[callee] || facts.fallible[id.index]) continue;
        facts.fallible[id.index] = true;
        changed = true;
      }
    }
  }
  for (ir::FuncId id : facts.order) {
    for (uint32_t callee : callees[id.index]) {
      if (facts.recursive[id.index] || program.functions[callee].is_prelude) continue;
      facts.call_depth[id.index] =
          std::max(facts.call_depth[id.index], facts.call_depth[callee] + 1);
    }
    Marker(program, facts, program.functions[id.index], facts.functions[id.index], metered).Run();
  }
  KeepNeededFunctions(program, facts);
  return facts;
}

}  // namespace frazil::targets::c
