// The analysis in three steps: which values are the same in all lanes (a fixpoint, because loops inside carry
// values), which instructions can be done in lanes at all, and whether iterations meet in memory.
#include "targets/native/vectors/loop_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "ir/facts/inst_facts.h"
#include "ir/lanes/independence.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;
using Shape = LoopAccess::Shape;

// Beyond this a block of vectors would not fit the first-level instruction cache.
constexpr uint32_t MaxWork = 4000;
// Of an index: more products than these might not fit 128 bits.
constexpr size_t MaxTurns = 3;
// Elements that stand further apart are gathered: whole vectors would be read for one or two of each.
constexpr int64_t MaxStride = 4;

bool FitsLanes(ir::Type type) {
  return type.is_scalar() &&
         Contains(ir::sets::Fixed | ir::sets::Float | ir::sets::Bool | ir::Only(ir::Scalar::Field),
                  type.scalar);
}

bool IsFoldOp(Op op, ir::Type type) {
  // Neither NaNs nor zeros make the order of these matter.
  if (Contains(ir::sets::Wide, type.scalar))
    return op == Op::Min || op == Op::Max || op == Op::Minimum || op == Op::Maximum;
  if (type.scalar == ir::Scalar::Bool) return op == Op::And || op == Op::Or || op == Op::Xor;
  return IsFixedInt(type.scalar) && ir::IsCombiner(op);
}

class Planner {
 public:
  Planner(const PlanQuestion& question, const Inst& loop)
      : question_(question),
        function_(question.program.functions[question.function.index]),
        facts_(question.facts.functions[question.function.index]),
        loop_(loop),
        body_(Function::region_of(loop, 0)),
        counter_(CounterOf(function_, loop)),
        forms_(function_) {}

  LoopPlan Run() {
    plan_.uniform.assign(function_.values.size(), true);
    inside_.assign(function_.values.size(), false);
    ir::VisitValuesInside(function_, body_, [&](ir::Range values) {
      for (uint32_t i = 0; i < values.count; ++i) inside_[values.begin + i] = true;
    });
    if (!CheckHead()) return std::move(plan_);
    FindUniform();
    if (!CheckRegion(function_, facts_, body_, Where::Top)) return std::move(plan_);
    if (plan_.accesses.empty() && plan_.folds.empty())
      return Refuse("it touches no buffer"), std::move(plan_);
    FindRows();
    CheckMemory();
    if (IsTree(loop_)) CheckTree();
    return std::move(plan_);
  }

 private:
  enum class Where : uint8_t { Top, Branch, Inner };

  bool Refuse(std::string reason) {
    if (plan_.refusal.empty()) plan_.refusal = std::move(reason);
    return false;
  }

  bool CheckHead() {
    if (loop_.op == Op::Parallel) return true;
    if (function_.type(counter_) != ir::types::Index) return Refuse("its counter is not an index");
    if (function_.word(loop_, 0) != 1) return Refuse("its step is not 1");
    for (uint32_t k = 0; k < loop_.results.count; ++k)
      if (!CheckFold(k)) return false;
    return true;
  }

  bool CheckFold(uint32_t k) {
    if (!facts_.live[Function::result_of(loop_, k).index]) return true;
    ValueId carried = CarriedParam(function_, loop_, k);
    const Inst& yield = function_.inst(function_.region(body_).insts.back());
    ValueId next = function_.operand(yield, k);
    InstId step_id = function_.values[next.index].def;
    const std::string refusal = "it carries a value from one iteration to the next";
    if (!step_id.valid() || !inside_[next.index]) return Refuse(refusal);
    const Inst& step = function_.inst(step_id);
    if (!(IsTree(loop_) || IsFoldOp(step.op, function_.type(next))) ||
        facts_.region[step_id.index] != body_)
      return Refuse(refusal);
    if (CountUses(carried) != 1 || CountUses(next) != 1) return Refuse(refusal);
    if (function_.operand(step, 0) != carried && function_.operand(step, 1) != carried)
      return Refuse(refusal);
    plan_.folds.push_back({k, step.op, step_id});
    return true;
  }

  // One whose tests before it fail has an element that traps, and no other way: every access is tested there, exactly.
  bool CheckTree() {
    if (plan_.may_bail) return Refuse("an element may trap");
    if (plan_.has_inner_loop) return Refuse("an element has a loop");
    if (plan_.folds.size() != 1) return Refuse("nobody reads it");
    for (const LoopAccess& access : plan_.accesses)
      if (!access.hoisted || !access.always) return Refuse("it reads elsewhere than side by side");
    const ValueId element = TreeElement(function_, loop_);
    if (MayBeAnyNan(facts_, element) &&
        plan_.AccessOf(function_.values[element.index].def) == nullptr)
      return Refuse("its only element may be any NaN");
    return true;
  }

  size_t CountUses(ValueId value) const {
    return static_cast<size_t>(std::ranges::count(function_.operands, value));
  }

  // --- uniform values ---
  bool IsUniform(ValueId value) const { return plan_.uniform[value.index]; }
  bool AreUniform(const Inst& inst) const {
    return std::ranges::all_of(function_.operands_of(inst),
                               [&](ValueId value) { return IsUniform(value); });
  }
  void Vary(ValueId value) {
    if (!plan_.uniform[value.index]) return;
    plan_.uniform[value.index] = false;
    changed_ = true;
  }

  void FindUniform() {
    plan_.uniform[counter_.index] = false;
    for (uint32_t k = 0; k < loop_.results.count; ++k) Vary(CarriedParam(function_, loop_, k));
    do {
      changed_ = false;
      SpreadRegion(body_);
    } while (changed_);
  }

  void SpreadRegion(RegionId id) {
    for (InstId inst_id : function_.region(id).insts) Spread(function_.inst(inst_id));
  }

  void Spread(const Inst& inst) {
    if (question_.given.valid() && &inst == &function_.inst(question_.given)) return VaryAll(inst);
    for (uint32_t i = 0; i < inst.regions.count; ++i) SpreadRegion(Function::region_of(inst, i));
    bool varies = !AreUniform(inst);
    if (inst.op == Op::If) {
      for (uint32_t r = 0; r < 2; ++r) {
        const Inst& yield =
            function_.inst(function_.region(Function::region_of(inst, r)).insts.back());
        for (uint32_t i = 0; i < inst.results.count; ++i)
          if (!IsUniform(function_.operand(inst, 0)) || !IsUniform(function_.operand(yield, i)))
            Vary(Function::result_of(inst, i));
      }
      return;
    }
    if (inst.op == Op::While) return SpreadWhile(inst);
    if (inst.op == Op::For) {
      const Inst& yield =
          function_.inst(function_.region(Function::region_of(inst, 0)).insts.back());
      if (!IsUniform(function_.operand(inst, 0)) || !IsUniform(function_.operand(inst, 1)))
        return VaryAll(inst);
      for (uint32_t k = 0; k < inst.results.count; ++k) {
        ValueId carried = CarriedParam(function_, inst, k);
        bool same = IsUniform(function_.operand(inst, FirstInit(inst) + k)) &&
                    IsUniform(function_.operand(yield, k)) && IsUniform(carried);
        if (!same) Vary(carried), Vary(Function::result_of(inst, k));
      }
      return;
    }
    if (!varies) return;
    for (uint32_t i = 0; i < inst.results.count; ++i) Vary(Function::result_of(inst, i));
  }

  // Lanes leave the loop one by one: what it carries is another value in each of them.
  void VaryAll(const Inst& inst) {
    for (uint32_t r = 0; r < inst.regions.count; ++r) {
      const ir::Region& region = function_.region(Function::region_of(inst, r));
      for (uint32_t i = 0; i < region.params.count; ++i) Vary(Function::param_of(region, i));
    }
    for (uint32_t i = 0; i < inst.results.count; ++i) Vary(Function::result_of(inst, i));
  }

  void SpreadWhile(const Inst& inst) {
    const Inst& condition =
        function_.inst(function_.region(Function::region_of(inst, 0)).insts.back());
    if (!IsUniform(function_.operand(condition, 0))) return VaryAll(inst);
    const ir::Region& body = function_.region(Function::region_of(inst, 1));
    const Inst& yield = function_.inst(body.insts.back());
    for (uint32_t k = 0; k < inst.results.count; ++k) {
      ValueId carried = CarriedParam(function_, inst, k);
      if (IsUniform(function_.operand(inst, k)) && IsUniform(function_.operand(yield, k)) &&
          IsUniform(carried))
        continue;
      Vary(carried);
      Vary(Function::result_of(inst, k));
      if (k < body.params.count) Vary(Function::param_of(body, k));
    }
  }

  // --- instructions ---
  bool CheckRegion(const Function& function, const FunctionFacts& facts, RegionId id, Where where) {
    for (InstId inst_id : function.region(id).insts) {
      if (!facts.needed[inst_id.index]) continue;
      if (!CheckInst(function, facts, inst_id, where)) return false;
    }
    return true;
  }

  bool CheckInst(const Function& function, const FunctionFacts& facts, InstId id, Where where) {
    const Inst& inst = function.inst(id);
    if (&function == &function_ && id == question_.given) return true;
    if (++plan_.work > MaxWork) return Refuse("its body is too long");
    plan_.may_bail =
        plan_.may_bail || (ir::Info(inst.op).traps != 0 && inst.regions.count == 0 &&
                           inst.op != Op::Load && inst.op != Op::Store && inst.op != Op::Call);
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      ir::Type type = function.type(Function::result_of(inst, i));
      if (!FitsLanes(type))
        return Refuse(fmt::format("{} does not fit a lane", ir::ScalarOrBufferName(type)));
    }
    switch (inst.op) {
      case Op::Load:
      case Op::Store: return CheckAccess(id, where);
      case Op::Length:
      case Op::Const:
      case Op::Lookup:
      case Op::Assert:
      case Op::Unreachable:
      case Op::Yield:
      case Op::Return:
      case Op::Condition: return true;
      case Op::If:
        return CheckRegion(function, facts, Function::region_of(inst, 0), Deeper(where)) &&
               CheckRegion(function, facts, Function::region_of(inst, 1), Deeper(where));
      case Op::For:
      case Op::While: return CheckInner(function, facts, inst);
      case Op::Call: return CheckCall(function, inst);
      default: return CheckCompute(function, inst);
    }
  }

  static Where Deeper(Where where) { return where == Where::Inner ? Where::Inner : Where::Branch; }

  bool CheckInner(const Function& function, const FunctionFacts& facts, const Inst& inst) {
    if (&function != &function_) return Refuse("a math function has a loop");
    if (question_.metered) return Refuse("a loop inside counts its fuel");
    if (IsTree(inst)) return Refuse("it folds inside");
    plan_.has_inner_loop = true;
    if (inst.op == Op::While) plan_.may_bail = true;
    inner_.push_back(InstId(static_cast<uint32_t>(&inst - function_.insts.data())));
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (!CheckRegion(function, facts, Function::region_of(inst, r), Where::Inner)) return false;
    inner_.pop_back();
    return true;
  }

  bool CheckCall(const Function& function, const Inst& inst) {
    const size_t callee = static_cast<size_t>(function.word(inst, 0));
    const Function& target = question_.program.functions[callee];
    if (!target.is_prelude) return Refuse(fmt::format("it calls @{}", target.name));
    plan_.has_call = true;
    return CheckRegion(target, question_.facts.functions[callee], target.body, Where::Branch);
  }

  bool CheckCompute(const Function& function, const Inst& inst) {
    if (ir::Info(inst.op).effect != ir::Effect::Pure || inst.regions.count != 0 ||
        inst.results.count != 1)
      return Refuse(fmt::format("{} has no form in lanes", ir::Info(inst.op).mnemonic));
    ir::Type from = function.type(function.operand(inst, 0));
    // The first operand of a select is its condition.
    if (inst.op == Op::Select) from = inst.type;
    if (!FitsLanes(from) || !FitsLanes(inst.type))
      return Refuse(fmt::format("{} does not fit a lane", ir::ScalarOrBufferName(from)));
    if (!question_.computes(inst.op, inst.type, from))
      return Refuse(fmt::format("{} on {} has no form in lanes", ir::Info(inst.op).mnemonic,
                                ir::ScalarOrBufferName(inst.type)));
    if (inst.type != ir::types::Index && inst.type != ir::types::Bool)
      plan_.compute_bytes = std::max(plan_.compute_bytes, ir::BytesOf(inst.type));
    return true;
  }

  // --- memory ---
  bool CheckAccess(InstId id, Where where) {
    const Inst& inst = function_.inst(id);
    const uint32_t bytes = ir::BytesOf(inst.type);
    LoopAccess access{id, function_.operand(inst, 0), inst.op == Op::Store, where == Where::Top,
                      bytes};
    if (!FitsLanes(inst.type))
      return Refuse(fmt::format("{} does not fit a lane", ir::ScalarOrBufferName(inst.type)));
    if (inside_[access.buffer.index]) return Refuse("it makes its own scratch");
    ValueId index = function_.operand(inst, 1);
    const IndexForm& form = forms_.Of(index);
    std::optional<IndexForm> slope = form.Coefficient(counter_);
    IndexForm offset = form.Without(counter_);
    bool is_even = true;   // the offset is the same in all lanes
    bool is_fixed = true;  // and known before the loop
    for (ValueId atom : offset.Atoms()) {
      is_even = is_even && IsUniform(atom);
      is_fixed = is_fixed && !inside_[atom.index];
    }
    std::optional<int64_t> step = slope ? slope->constant() : std::nullopt;
    if (is_even && step && (*step == 0 || *step == 1)) {
      access.shape = *step == 1 ? Shape::Unit : Shape::Uniform;
      access.hoisted = is_fixed;
    }
    access.offset = std::move(offset);
    if (!access.hoisted && slope) FindRange(access, *slope, inst);
    if (!access.hoisted && !access.ranged) plan_.may_bail = true;
    if (access.is_store) {
      const bool is_row = access.shape == Shape::Row;
      if (where == Where::Inner && !is_row) return Refuse("a loop inside stores");
      const bool is_plain = access.shape == Shape::Unit || access.shape == Shape::Uniform;
      if (where != Where::Inner && (!is_plain || !access.hoisted))
        return Refuse("it stores elsewhere than side by side");
    }
    plan_.element_bytes = std::max(plan_.element_bytes, bytes);
    plan_.narrowest_bytes = std::min(plan_.narrowest_bytes, bytes);
    plan_.accesses.push_back(std::move(access));
    return true;
  }

  bool IsFixed(const IndexForm& form) const {
    return std::ranges::none_of(form.Atoms(), [&](ValueId atom) { return inside_[atom.index]; });
  }

  // Every counter in the index is that of a loop around the access with bounds that are known before.
  void FindRange(LoopAccess& access, const IndexForm& slope, const Inst& inst) {
    IndexForm rest = access.offset;
    std::vector<LoopAccess::Turn> turns;
    std::optional<InstId> row;
    for (InstId id : inner_) {
      const Inst& loop = function_.inst(id);
      if (loop.op != Op::For) continue;
      const ValueId counter = CounterOf(function_, loop);
      if (!rest.Mentions(counter)) continue;
      std::optional<IndexForm> turn = rest.Coefficient(counter);
      const bool is_plain = function_.type(counter) == ir::types::Index &&
                            function_.word(loop, 0) > 0 && IsKnown(function_.operand(loop, 0)) &&
                            IsKnown(function_.operand(loop, 1));
      if (!turn || !is_plain || !IsFixed(*turn)) return;
      if (turn->constant() == 1 && function_.word(loop, 0) == 1) row = id;
      turns.push_back({id, *turn});
      rest = rest.Without(counter);
    }
    if (!IsFixed(rest) || !IsFixed(slope) || turns.size() > MaxTurns) return;
    access.ranged = true;
    access.slope = slope;
    access.offset = std::move(rest);
    access.turns = std::move(turns);
    const uint32_t bytes = ir::BytesOf(inst.type);
    if (access.shape != Shape::Gather || !question_.has_rows) return;
    if (row && (bytes == 4 || bytes == 8)) {
      access.shape = Shape::Row;
      row_loops_[plan_.accesses.size()] = *row;
      return;
    }
    const std::optional<int64_t> step = slope.constant();
    if (access.is_store || !step || *step < 2 || *step > MaxStride || bytes > 8) return;
    access.shape = Shape::Strided;
    access.stride = static_cast<uint32_t>(*step);
  }

  bool IsKnown(ValueId value) const { return !inside_[value.index]; }

  // --- rows ---
  void FindRows() {
    bool has_stores = false;
    for (size_t i = 0; i < plan_.accesses.size(); ++i) {
      LoopAccess& access = plan_.accesses[i];
      if (access.shape != Shape::Row) continue;
      const InstId loop = row_loops_.at(i);
      auto same = std::ranges::find_if(plan_.rows, [&](const LoopRow& row) {
        const LoopAccess& other = plan_.accesses[row.access];
        return row.loop == loop && other.buffer == access.buffer && SameElements(other, access);
      });
      if (same == plan_.rows.end()) same = plan_.rows.insert(same, {loop, i});
      access.row = static_cast<size_t>(same - plan_.rows.begin());
      const bool is_direct =
          facts_.region[access.inst.index] == Function::region_of(function_.inst(loop), 0);
      same->is_read = same->is_read || !access.is_store || !is_direct;
      same->is_written = same->is_written || access.is_store;
      has_stores = has_stores || access.is_store;
    }
    if (has_stores) CheckRowStores();
  }

  static bool SameElements(const LoopAccess& a, const LoopAccess& b) {
    if (a.offset != b.offset || a.slope != b.slope || a.turns.size() != b.turns.size())
      return false;
    for (size_t t = 0; t < a.turns.size(); ++t)
      if (a.turns[t].loop != b.turns[t].loop || a.turns[t].slope != b.turns[t].slope) return false;
    return true;
  }

  bool CheckRowStores() {
    if (plan_.may_bail) return Refuse("it stores rows, and may trap");
    if (loop_.op != Op::Parallel) return Refuse("a loop inside stores");
    const InstId id(static_cast<uint32_t>(&loop_ - function_.insts.data()));
    const ir::Independence answer = ir::IndependenceOf(question_.program, function_, id);
    if (!answer.independent)
      return Refuse("it stores rows that are not its own: " + answer.why_not);
    for (auto [a, b] : answer.disjoint) AddDisjoint(function_.param(a), function_.param(b));
    for (auto [a, b] : answer.at_most)
      plan_.at_most.emplace_back(function_.param(a), function_.param(b));
    for (const LoopRow& row : plan_.rows)
      if (row.is_written && !CheckRow(row)) return false;
    return true;
  }

  // A tile is read before its first turn and written behind its last: in between nothing else may touch its elements.
  bool CheckRow(const LoopRow& row) {
    const LoopAccess& first = plan_.accesses[row.access];
    const size_t number = first.row;
    for (size_t i = 0; i < plan_.accesses.size(); ++i) {
      const LoopAccess& other = plan_.accesses[i];
      if ((other.shape == Shape::Row && other.row == number) || !Stands(other.inst, row.loop))
        continue;
      if (other.buffer == first.buffer)
        return Refuse("it stores a row that it also uses in another way");
      if (IsScratch(other.buffer) || IsScratch(first.buffer)) continue;
      const bool same_type =
          function_.type(other.buffer).element() == function_.type(first.buffer).element();
      bool is_before = !other.is_store;
      for (size_t s = 0; s < i; ++s)
        is_before =
            is_before && !(plan_.accesses[s].is_store && plan_.accesses[s].shape == Shape::Row &&
                           plan_.accesses[s].row == number);
      const bool is_same_row = other.shape == Shape::Row &&
                               plan_.rows[other.row].loop == row.loop && same_type &&
                               SameElements(other, first) && is_before;
      if (!is_same_row) AddDisjoint(first.buffer, other.buffer);
    }
    return true;
  }

  // Is the instruction inside of the loop?
  bool Stands(InstId inst, InstId loop) const {
    for (ir::RegionId region = facts_.region[inst.index]; region.valid();) {
      InstId owner = facts_.owner[region.index];
      if (!owner.valid()) return false;
      if (owner == loop) return true;
      region = facts_.region[owner.index];
    }
    return false;
  }

  void AddDisjoint(ValueId a, ValueId b) {
    plan_.disjoint.push_back(
        std::minmax(a, b, [](ValueId x, ValueId y) { return x.index < y.index; }));
  }

  bool IsScratch(ValueId buffer) const {
    InstId def = function_.values[buffer.index].def;
    return def.valid() && function_.inst(def).op == Op::Alloc;
  }

  void CheckMemory() {
    for (size_t s = 0; s < plan_.accesses.size(); ++s) {
      if (!plan_.accesses[s].is_store) continue;
      for (size_t x = 0; x < plan_.accesses.size(); ++x)
        if (x != s && !CheckPair(s, x)) return;
    }
    std::ranges::sort(plan_.disjoint);
    plan_.disjoint.erase(std::unique(plan_.disjoint.begin(), plan_.disjoint.end()),
                         plan_.disjoint.end());
  }

  // A store and another access. Loads of a block come before its stores; stores keep their order.
  bool CheckPair(size_t store_number, size_t other_number) {
    const LoopAccess& store = plan_.accesses[store_number];
    const LoopAccess& other = plan_.accesses[other_number];
    const bool other_is_later = other_number > store_number;
    if (store.shape == Shape::Row) return true;  // CheckRow has seen it
    const bool is_same = store.buffer == other.buffer;
    const bool is_same_type =
        function_.type(store.buffer).element() == function_.type(other.buffer).element();
    bool is_safe = false;
    const bool is_one = store.shape == Shape::Uniform;  // element, which the last lane has
    bool is_unknown =
        !is_one && is_same && other.shape == Shape::Uniform && other.hoisted && !other.is_store;
    if (!is_one && is_same_type && other.shape == Shape::Unit && other.hoisted) {
      std::optional<int64_t> ahead = (other.offset - store.offset).constant();
      is_unknown = is_same && !ahead && !other.is_store;
      if (other.is_store)
        is_safe = ahead == 0;
      else
        is_safe = ahead && (*ahead > 0 || (*ahead == 0 && !other_is_later));
    }
    if (is_safe) return true;
    if (is_unknown) {
      plan_.meetings.push_back({store_number, other_number, other_is_later});
      return true;
    }
    if (is_same) return Refuse("iterations meet in a buffer");
    if (IsScratch(store.buffer) || IsScratch(other.buffer)) return true;
    AddDisjoint(store.buffer, other.buffer);
    return true;
  }

  const PlanQuestion& question_;
  const Function& function_;
  const FunctionFacts& facts_;
  const Inst& loop_;
  RegionId body_;
  ValueId counter_;
  IndexForms forms_;
  LoopPlan plan_;
  std::vector<bool> inside_;
  bool changed_ = false;
  std::vector<InstId> inner_;           // loops inside that are being visited
  std::map<size_t, InstId> row_loops_;  // by access
};

}  // namespace

const LoopAccess* LoopPlan::AccessOf(ir::InstId inst) const {
  auto found =
      std::ranges::find_if(accesses, [&](const LoopAccess& access) { return access.inst == inst; });
  return found == accesses.end() ? nullptr : &*found;
}

ir::ValueId TreeElement(const ir::Function& function, const ir::Inst& loop) {
  const ir::ValueId carried = CarriedParam(function, loop, 0);
  const ir::Region& body = function.region(Function::region_of(loop, 0));
  const ir::ValueId next = function.operand(function.inst(body.insts.back()), 0);
  const Inst& step = function.inst(function.values[next.index].def);
  return function.operand(step, function.operand(step, 0) == carried ? 1 : 0);
}

bool MayBeAnyNan(const FunctionFacts& facts, ir::ValueId element) {
  return !facts.arithmetic[element.index] && facts.ranges->Float(element).nan;
}

ir::ValueId CounterOf(const ir::Function& function, const ir::Inst& loop) {
  return Function::param_of(function.region(Function::region_of(loop, 0)), 0);
}

LoopPlan PlanLoop(const PlanQuestion& question, const ir::Inst& loop) {
  CHECK(loop.op == Op::For || loop.op == Op::Parallel);
  return Planner(question, loop).Run();
}

}  // namespace frazil::targets::native
