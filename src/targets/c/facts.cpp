// What of a function can be reached, what of that is needed (ir/facts), and one pass that counts uses and decides
// what is written in place. Dead values must go here and not in the C compiler: it would warn about them.
#include "targets/c/facts.h"

#include <algorithm>

#include "base/check.h"
#include "targets/c/ctype.h"

namespace frazil::targets::c {
namespace {

using namespace ir::names;

// Longer expressions are cut by naming their parts.
constexpr uint32_t MaxInlinedOps = 5;

class Marker {
 public:
  Marker(const ir::Program& program, const ProgramFacts& all, const Function& function,
         FunctionFacts& facts, bool metered)
      : program_(program), all_(all), function_(function), facts_(facts), metered_(metered) {}

  void Run() {
    static_cast<ir::Homes&>(facts_) = ir::FindHomes(function_);
    FindReached();
    const ir::LivenessQuestion question = {
        .program = program_,
        .function = function_,
        .homes = facts_,
        .reached = in_order_,
        .fallible = all_.fallible,
        .metered = metered_,
        .may_trap = [&](const Inst& inst) { return Chance(inst) != TrapChance::Never; },
        .always_reads = [&](const Inst& inst,
                            uint32_t i) { return IsInCheck(inst, Chance(inst), i); },
        .is_complete = [&](RegionId region) { return IsComplete(region); }};
    static_cast<ir::Liveness&>(facts_) = ir::FindLiveness(question);
    for (InstId id : in_order_) {
      const bool is_test = function_.inst(id).op == Op::Condition;
      if (is_test && facts_.needed[OwnerOf(id).index]) facts_.needed[id.index] = true;
    }
    static_cast<ir::NanFacts&>(facts_) = ir::FindNans(
        question, facts_, [&](ValueId value) { return IsArithmetic(value); },
        [&](ValueId value) { return IsPlainConstant(value); });
    for (InstId id : in_order_) CountUses(id);
    Inline();
  }

 private:
  // How much of each region can be reached. Regions of instructions that cannot be reached stay at 0.
  void FindReached() {
    facts_.uses.assign(function_.values.size(), 0);
    facts_.inlined.assign(function_.values.size(), false);
    facts_.reached.assign(function_.regions.size(), 0);
    facts_.allocates.assign(function_.regions.size(), false);
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
    for (InstId id : function_.region(region_id).insts) {
      const Inst& inst = function_.inst(id);
      in_order_.push_back(id);
      facts_.reached[region_id.index] += 1;
      // The test of a `while` is entered before its body, which sees what the test defines.
      for (uint32_t i = inst.regions.count; i-- > 0;) stack.push_back(Function::region_of(inst, i));
      if (inst.op == Op::Alloc) facts_.allocates[region_id.index] = true;
      if (Chance(inst) == TrapChance::Always) break;
    }
    // A region that ends in a trap releases nothing itself.
    if (!IsComplete(region_id)) facts_.allocates[region_id.index] = false;
  }

  InstId OwnerOf(InstId id) const { return facts_.owner[facts_.region[id.index].index]; }

  TrapChance Chance(const Inst& inst) const {
    return ChanceOfTrap(program_, function_, facts_, inst);
  }

  // Its terminator is reached.
  bool IsComplete(RegionId region) const {
    return facts_.reached[region.index] == function_.region(region).insts.size();
  }

  // Calls `visit(value, needs_name)` for each operand that a needed instruction reads.
  template <typename Visit>
  void ForEachUse(InstId id, const Visit& visit) const {
    const Inst& inst = function_.inst(id);
    if (inst.op == Op::Yield) {
      const InstId owner = OwnerOf(id);
      if (!facts_.needed[owner.index]) return;
      for (uint32_t k = 0; k < inst.operands.count; ++k) {
        const ValueId result = Function::result_of(function_.inst(owner), k);
        if (facts_.live[result.index]) visit(function_.operand(inst, k), false);
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
        if (facts_.live[result.index]) visit(function_.operand(inst, i), false);
      } else if (is_read || IsInCheck(inst, chance, i)) {
        visit(function_.operand(inst, i), NeedsName(function_, inst, i));
      }
    }
  }

  bool IsArithmetic(ValueId value) const {
    const InstId definition = facts_.definition[value.index];
    return definition.valid() && MakesAnyNan(function_, function_.inst(definition));
  }

  bool IsPlainConstant(ValueId value) const {
    const auto words = ConstantOf(function_, facts_, value);
    return words && ir::IsNumber(function_.type(value), (*words)[0]);
  }

  void CountUses(InstId id) {
    ForEachUse(id, [&](ValueId value, bool needs_name) {
      facts_.uses[value.index] += 1;
      user_region_[value.index] = facts_.region[id.index];
      if (needs_name) user_needs_name_[value.index] = true;
    });
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
  std::vector<InstId> in_order_;       // reached instructions; those of a region in order
  std::vector<RegionId> user_region_;  // by value: of its last user
  std::vector<bool> user_needs_name_;  // by value: of any user
};

bool IsDirectlyFallible(const ir::Program& program, const Function& function, bool metered) {
  FunctionFacts facts;
  static_cast<ir::Homes&>(facts) = ir::FindDefinitions(function);
  return ir::MayBeStopped(program, function, metered) ||
         std::ranges::any_of(function.insts, [&](const Inst& inst) {
           return ChanceOfTrap(program, function, facts, inst) != TrapChance::Never;
         });
}

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
  facts.reached = called;
  std::erase_if(facts.order, [&](ir::FuncId id) { return !called[id.index]; });
}

}  // namespace

ProgramFacts FindFacts(const ir::Program& program, bool metered) {
  ProgramFacts facts;
  const size_t count = program.functions.size();
  static_cast<ir::CallGraph&>(facts) = ir::FindCalls(program);
  facts.has_recursion = std::ranges::find(facts.recursive, true) != facts.recursive.end();
  facts.fallible.assign(count, false);
  facts.call_depth.assign(count, 0);
  facts.functions.resize(count);
  for (ir::FuncId id : facts.order)
    facts.fallible[id.index] = IsDirectlyFallible(program, program.functions[id.index], metered);
  SpreadToCallers(facts, facts.fallible);
  for (ir::FuncId id : facts.order) {
    for (uint32_t callee : facts.callees[id.index]) {
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
