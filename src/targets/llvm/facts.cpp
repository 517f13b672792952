// Marking backwards from effects, traps and returns. Dead values go here because no IR pass runs behind the emitter,
// and because a NaN need be made the one only where some needed instruction moves it.
#include "targets/llvm/facts.h"

#include <algorithm>

#include "base/check.h"
#include "ir/inst_facts.h"

namespace frazil::targets {
namespace {

using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::RegionId;
using ir::ValueId;

bool IsWide(ir::Scalar scalar) { return ir::Contains(ir::sets::Wide, scalar); }

// Operands whose bits the instruction hands on.
bool Moves(const Inst& inst, uint32_t operand) {
  switch (inst.op) {
    case Op::Store:
    case Op::AtomicRmw: return operand == 2;
    case Op::Select: return operand > 0;
    case Op::CopySign: return operand == 1;
    case Op::Return:
    case Op::Bitcast:
    case Op::Call:
    case Op::Output:
    case Op::Yield:
    case Op::For:
    case Op::While: return true;
    default: return false;
  }
}

class Marker {
 public:
  Marker(const ir::Program& program, const ProgramFacts& all, const Function& function,
         FunctionFacts& facts, bool metered)
      : program_(program), all_(all), function_(function), facts_(facts), metered_(metered) {}

  void Run() {
    FindHomes();
    for (InstId id : in_order_) {
      if (!IsRoot(function_.inst(id))) continue;
      NeedInst(id);
      while (!pending_.empty()) {
        const ValueId value = pending_.back();
        pending_.pop_back();
        LiveValue(value);
      }
    }
    FindArithmetic();
    FindLazy();
    for (InstId id : in_order_) MarkMoves(id);
  }

 private:
  void FindHomes() {
    facts_.arithmetic.assign(function_.values.size(), false);
    facts_.definition.assign(function_.values.size(), InstId());
    facts_.home.assign(function_.values.size(), RegionId());
    facts_.live.assign(function_.values.size(), false);
    facts_.canonical.assign(function_.values.size(), false);
    facts_.lazy.assign(function_.values.size(), false);
    facts_.needed.assign(function_.insts.size(), false);
    facts_.region.assign(function_.insts.size(), RegionId());
    facts_.owner.assign(function_.regions.size(), InstId());
    facts_.allocates.assign(function_.regions.size(), false);
    for (uint32_t r = 0; r < function_.regions.size(); ++r) {
      const ir::Region& region = function_.regions[r];
      for (uint32_t i = 0; i < region.params.count; ++i)
        facts_.home[region.params.begin + i] = RegionId(r);
      for (InstId id : region.insts) {
        const Inst& inst = function_.inst(id);
        in_order_.push_back(id);
        facts_.region[id.index] = RegionId(r);
        for (uint32_t i = 0; i < inst.regions.count; ++i) facts_.owner[inst.regions.begin + i] = id;
        for (uint32_t i = 0; i < inst.results.count; ++i) {
          facts_.definition[inst.results.begin + i] = id;
          facts_.home[inst.results.begin + i] = RegionId(r);
        }
        if (inst.op == Op::Alloc) facts_.allocates[r] = true;
      }
    }
  }

  bool IsRoot(const Inst& inst) const {
    switch (inst.op) {
      case Op::Yield:
      case Op::Condition: return false;
      case Op::Return:
      case Op::While: return true;
      case Op::For:
      case Op::Parallel: return metered_ && !function_.is_prelude;
      case Op::Call: {
        const uint32_t callee = static_cast<uint32_t>(function_.word(inst, 0));
        return !program_.functions[callee].is_prelude || all_.fallible[callee];
      }
      default: break;
    }
    const ir::Effect effect = ir::Info(inst.op).effect;
    return effect == ir::Effect::Writes || effect == ir::Effect::Io ||
           MayTrap(program_, function_, facts_, inst);
  }

  const Inst& Terminator(RegionId region) const {
    return function_.inst(function_.region(region).insts.back());
  }

  void NeedInst(InstId id) {
    while (id.valid() && !facts_.needed[id.index]) {
      facts_.needed[id.index] = true;
      const Inst& inst = function_.inst(id);
      uint32_t count = inst.operands.count;
      if (inst.op == Op::For) count = 2;
      if (inst.op == Op::While) {
        count = 0;
        const Inst& condition = Terminator(Function::region_of(inst, 0));
        pending_.push_back(function_.operand(condition, 0));
      }
      for (uint32_t i = 0; i < count; ++i) pending_.push_back(function_.operand(inst, i));
      id = facts_.owner[facts_.region[id.index].index];
    }
  }

  void LiveValue(ValueId value) {
    if (facts_.live[value.index]) return;
    facts_.live[value.index] = true;
    const InstId id = facts_.definition[value.index];
    if (!id.valid()) {
      const RegionId region = facts_.home[value.index];
      const InstId owner = facts_.owner[region.index];
      if (!owner.valid()) return;
      NeedInst(owner);
      const Inst& inst = function_.inst(owner);
      const uint32_t position = value.index - function_.region(region).params.begin;
      if (inst.op == Op::For && position > 0) LiveCarry(inst, position - 1);
      if (inst.op == Op::While) LiveCarry(inst, position);
      return;
    }
    NeedInst(id);
    const Inst& inst = function_.inst(id);
    const uint32_t k = value.index - inst.results.begin;
    if (inst.op == Op::For || inst.op == Op::While) return LiveCarry(inst, k);
    if (inst.op != Op::If && inst.op != Op::Switch) return;
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      pending_.push_back(function_.operand(Terminator(Function::region_of(inst, i)), k));
  }

  void LiveCarry(const Inst& loop, uint32_t k) {
    facts_.live[loop.results.begin + k] = true;
    facts_.live[CarriedParam(function_, loop, k).index] = true;
    pending_.push_back(function_.operand(loop, FirstInit(loop) + k));
    const RegionId body = Function::region_of(loop, loop.op == Op::While ? 1 : 0);
    pending_.push_back(function_.operand(Terminator(body), k));
  }

  // Calls `visit(value, result)` for each operand that a needed instruction moves; result is what a yield or the start
  // of a loop moves it to, invalid for others.
  template <typename Visit>
  void ForEachMove(InstId id, const Visit& visit) const {
    const Inst& inst = function_.inst(id);
    const bool is_yield = inst.op == Op::Yield;
    const InstId target = is_yield ? facts_.owner[facts_.region[id.index].index] : id;
    if (!facts_.needed[target.index]) return;
    const bool is_loop = inst.op == Op::For || inst.op == Op::While;
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      const uint32_t first = is_loop ? FirstInit(inst) : 0;
      if (!Moves(inst, i) || i < first) continue;
      ValueId result;
      if (is_yield || is_loop) {
        result = Function::result_of(function_.inst(target), i - first);
        if (!facts_.live[result.index]) continue;
      }
      visit(function_.operand(inst, i), result);
    }
  }

  // A carried float that arithmetic makes and only arithmetic reads inside its loop need not be made the one NaN in
  // every turn: once after the loop is enough.
  void FindLazy() {
    std::vector<bool> moved(function_.values.size(), false);
    for (InstId id : in_order_)
      ForEachMove(id, [&](ValueId value, ValueId) { moved[value.index] = true; });
    for (InstId id : in_order_) {
      const Inst& loop = function_.inst(id);
      if (!facts_.needed[id.index] || (loop.op != Op::For && loop.op != Op::While)) continue;
      const Inst& yield = Terminator(Function::region_of(loop, loop.op == Op::While ? 1 : 0));
      for (uint32_t k = 0; k < loop.results.count; ++k) {
        const ValueId result = Function::result_of(loop, k);
        if (!facts_.live[result.index] || !IsWide(function_.type(result).scalar)) continue;
        const ValueId init = function_.operand(loop, FirstInit(loop) + k);
        facts_.lazy[result.index] = !moved[CarriedParam(function_, loop, k).index] &&
                                    IsArithmetic(function_.operand(yield, k)) &&
                                    (IsArithmetic(init) || IsPlainConstant(init));
      }
    }
  }

  // What arithmetic makes and may be a NaN, and a choice among such values: there it is enough to make the chosen one
  // the one NaN.
  void FindArithmetic() {
    for (InstId id : in_order_) {
      const Inst& inst = function_.inst(id);
      if (ir::MakesAnyNan(function_, inst)) {
        const ValueId result = Function::result_of(inst, 0);
        facts_.arithmetic[result.index] = facts_.ranges->Float(result).nan;
      } else if (inst.op == Op::Select && IsWide(inst.type.scalar)) {
        bool any = false, all = true;
        for (uint32_t i : {1u, 2u}) {
          const ValueId from = function_.operand(inst, i);
          any = any || IsArithmetic(from);
          all = all && (IsArithmetic(from) || IsPlainConstant(from) || IsNeverNan(from));
        }
        facts_.arithmetic[Function::result_of(inst, 0).index] = any && all;
      }
    }
  }

  bool IsArithmetic(ValueId value) const { return facts_.arithmetic[value.index]; }
  bool IsNeverNan(ValueId value) const {
    return IsWide(function_.type(value).scalar) && !facts_.ranges->Float(value).nan;
  }

  // A float constant that is no NaN, or the one.
  bool IsPlainConstant(ValueId value) const {
    const auto words = ConstantOf(function_, facts_, value);
    if (!words) return false;
    const bool is_double = function_.type(value).scalar == ir::Scalar::F64;
    if ((*words)[0] == (is_double ? 0x7ff8'0000'0000'0000u : 0x7fc0'0000u)) return true;
    const uint64_t magnitude = (*words)[0] & (is_double ? UINT64_MAX >> 1 : 0x7fff'ffffu);
    return magnitude <= (is_double ? 0x7ff0'0000'0000'0000u : 0x7f80'0000u);
  }

  void MarkMoves(InstId id) {
    const Inst& inst = function_.inst(id);
    if (inst.op == Op::Select && IsArithmetic(Function::result_of(inst, 0))) return;
    ForEachMove(id, [&](ValueId value, ValueId result) {
      if (result.valid() && facts_.lazy[result.index]) return;
      if (IsArithmetic(value) || facts_.lazy[value.index]) facts_.canonical[value.index] = true;
    });
  }

  const ir::Program& program_;
  const ProgramFacts& all_;
  const Function& function_;
  FunctionFacts& facts_;
  const bool metered_;
  std::vector<InstId> in_order_;
  std::vector<ValueId> pending_;
};

std::vector<std::vector<uint32_t>> CallGraph(const ir::Program& program) {
  std::vector<std::vector<uint32_t>> callees(program.functions.size());
  for (size_t f = 0; f < program.functions.size(); ++f) {
    for (const Inst& inst : program.functions[f].insts)
      if (inst.op == Op::Call)
        callees[f].push_back(static_cast<uint32_t>(program.functions[f].word(inst, 0)));
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
      auto& [f, next] = frames_.back();
      if (next < callees_[f].size()) {
        const uint32_t callee = callees_[f][next++];
        facts_.called[callee] = true;
        if (number_[callee] == 0)
          Open(callee);
        else if (on_stack_[callee])
          low_[f] = std::min(low_[f], number_[callee]);
        continue;
      }
      const uint32_t done = f;
      Close(done);
      frames_.pop_back();
      if (!frames_.empty())
        low_[frames_.back().first] = std::min(low_[frames_.back().first], low_[done]);
    }
  }

 private:
  void Open(uint32_t f) {
    number_[f] = low_[f] = ++count_;
    on_stack_[f] = true;
    stack_.push_back(f);
    frames_.push_back({f, 0});
  }

  void Close(uint32_t f) {
    if (low_[f] != number_[f]) return;
    const bool cycle = stack_.back() != f || std::ranges::find(callees_[f], f) != callees_[f].end();
    uint32_t member;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_[member] = false;
      facts_.recursive[member] = cycle;
      facts_.order.push_back(ir::FuncId(member));
    } while (member != f);
  }

  const std::vector<std::vector<uint32_t>>& callees_;
  ProgramFacts& facts_;
  std::vector<uint32_t> number_, low_;
  std::vector<bool> on_stack_;
  std::vector<uint32_t> stack_;
  std::vector<std::pair<uint32_t, size_t>> frames_;
  uint32_t count_ = 0;
};

bool IsDirectlyFallible(const ir::Program& program, const Function& function, bool metered,
                        std::shared_ptr<ValueRanges> ranges) {
  FunctionFacts facts;
  facts.ranges = std::move(ranges);
  facts.definition.assign(function.values.size(), InstId());
  for (uint32_t i = 0; i < function.insts.size(); ++i)
    for (uint32_t r = 0; r < function.insts[i].results.count; ++r)
      facts.definition[function.insts[i].results.begin + r] = InstId(i);
  for (const Inst& inst : function.insts) {
    if (MayTrap(program, function, facts, inst)) return true;
    if (function.is_prelude) continue;
    // A `while` looks at the stop flag, a call at the depth.
    if (inst.op == Op::While) return true;
    if (metered && (inst.op == Op::For || inst.op == Op::Parallel)) return true;
    if (inst.op == Op::Call &&
        !program.functions[static_cast<size_t>(function.word(inst, 0))].is_prelude)
      return true;
  }
  return false;
}

// Callers first: a math function of the prelude is called with what they call it with, and with nothing else.
void FindRanges(const ir::Program& program, ProgramFacts& facts) {
  std::vector<std::vector<FloatRange>> arguments(program.functions.size());
  for (auto id = facts.order.rbegin(); id != facts.order.rend(); ++id) {
    const Function& function = program.functions[id->index];
    const bool is_known = function.is_prelude && *id != program.entry;
    auto ranges = std::make_shared<ValueRanges>(
        program, function, is_known ? arguments[id->index] : std::vector<FloatRange>());
    facts.functions[id->index].ranges = ranges;
    for (const Inst& inst : function.insts) {
      if (inst.op != Op::Call) continue;
      const auto callee = static_cast<size_t>(function.word(inst, 0));
      if (!program.functions[callee].is_prelude) continue;
      std::vector<FloatRange>& joined = arguments[callee];
      const std::vector<FloatRange> here = ranges->Arguments(inst);
      if (joined.empty()) {
        joined = here;
        continue;
      }
      for (size_t i = 0; i < joined.size(); ++i) joined[i] = Join(joined[i], here[i]);
    }
  }
}

}  // namespace

ir::ValueId CarriedParam(const Function& function, const Inst& loop, uint32_t k) {
  const ir::Region& region = function.region(Function::region_of(loop, 0));
  return Function::param_of(region, loop.op == Op::For ? k + 1 : k);
}

uint32_t FirstInit(const Inst& loop) { return loop.op == Op::For ? 2 : 0; }

ProgramFacts FindFacts(const ir::Program& program, bool metered) {
  ProgramFacts facts;
  const size_t count = program.functions.size();
  facts.called.assign(count, false);
  facts.fallible.assign(count, false);
  facts.recursive.assign(count, false);
  facts.functions.resize(count);
  const auto callees = CallGraph(program);
  CallOrder(callees, facts).From(program.entry.index);
  FindRanges(program, facts);
  for (ir::FuncId id : facts.order)
    facts.fallible[id.index] = IsDirectlyFallible(program, program.functions[id.index], metered,
                                                  facts.functions[id.index].ranges);
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
  for (ir::FuncId id : facts.order)
    Marker(program, facts, program.functions[id.index], facts.functions[id.index], metered).Run();
  return facts;
}

}  // namespace frazil::targets
