// The analysis in three steps: which values are the same in all lanes (a fixpoint, because loops inside carry
// values), which instructions can be done in lanes at all, and whether iterations meet in memory.
#include "targets/native/loop_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace frazil::targets::native {
namespace {

using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::RegionId;
using ir::ValueId;
using Shape = LoopAccess::Shape;

// Beyond this a block of vectors would not fit the first-level instruction cache.
constexpr uint32_t MaxWork = 4000;

bool FitsLanes(ir::Type type) {
  return type.is_scalar() &&
         Contains(ir::sets::Fixed | ir::sets::Float | ir::sets::Bool | ir::Only(ir::Scalar::Field),
                  type.scalar);
}

bool IsFoldOp(Op op, ir::Type type) {
  if (type.scalar == ir::Scalar::Bool) return op == Op::And || op == Op::Or || op == Op::Xor;
  if (!IsFixedInt(type.scalar)) return false;
  switch (op) {
    case Op::Add:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::And:
    case Op::Or:
    case Op::Xor:
      return true;
    default:
      return false;
  }
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
    MarkInside(body_);
    if (!CheckHead()) return std::move(plan_);
    FindUniform();
    if (!CheckRegion(function_, facts_, body_, Where::Top)) return std::move(plan_);
    if (plan_.accesses.empty() && plan_.folds.empty())
      return Refuse("it touches no buffer"), std::move(plan_);
    CheckMemory();
    return std::move(plan_);
  }

 private:
  enum class Where : uint8_t { Top, Branch, Inner };

  bool Refuse(std::string reason) {
    if (plan_.refusal.empty()) plan_.refusal = std::move(reason);
    return false;
  }

  void MarkInside(RegionId id) {
    const ir::Region& region = function_.region(id);
    for (uint32_t i = 0; i < region.params.count; ++i) inside_[region.params.begin + i] = true;
    for (InstId inst_id : region.insts) {
      const Inst& inst = function_.inst(inst_id);
      for (uint32_t i = 0; i < inst.results.count; ++i) inside_[inst.results.begin + i] = true;
      for (uint32_t i = 0; i < inst.regions.count; ++i) MarkInside(Function::region_of(inst, i));
    }
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
    if (!IsFoldOp(step.op, function_.type(next)) || facts_.region[step_id.index] != body_)
      return Refuse(refusal);
    if (CountUses(carried) != 1 || CountUses(next) != 1) return Refuse(refusal);
    if (function_.operand(step, 0) != carried && function_.operand(step, 1) != carried)
      return Refuse(refusal);
    plan_.folds.push_back({k, step.op, step_id});
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
    if (inst.op == Op::For) {
      const Inst& yield =
          function_.inst(function_.region(Function::region_of(inst, 0)).insts.back());
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
    if (++plan_.work > MaxWork) return Refuse("its body is too long");
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      ir::Type type = function.type(Function::result_of(inst, i));
      if (!FitsLanes(type))
        return Refuse(fmt::format("{} does not fit a lane", ir::ScalarOrBufferName(type)));
    }
    switch (inst.op) {
      case Op::Load:
      case Op::Store:
        return CheckAccess(id, where);
      case Op::Length:
      case Op::Const:
      case Op::Lookup:
      case Op::Assert:
      case Op::Unreachable:
      case Op::Yield:
      case Op::Return:
        return true;
      case Op::If:
        return CheckRegion(function, facts, Function::region_of(inst, 0), Deeper(where)) &&
               CheckRegion(function, facts, Function::region_of(inst, 1), Deeper(where));
      case Op::For:
        return CheckInner(function, facts, inst);
      case Op::Call:
        return CheckCall(function, inst);
      default:
        return CheckCompute(function, inst);
    }
  }

  static Where Deeper(Where where) { return where == Where::Inner ? Where::Inner : Where::Branch; }

  bool CheckInner(const Function& function, const FunctionFacts& facts, const Inst& inst) {
    if (&function != &function_) return Refuse("a math function has a loop");
    if (question_.metered) return Refuse("a loop inside counts its fuel");
    if (!IsUniform(function.operand(inst, 0)) || !IsUniform(function.operand(inst, 1)))
      return Refuse("a loop inside has other bounds in each iteration");
    plan_.has_inner_loop = true;
    return CheckRegion(function, facts, Function::region_of(inst, 0), Where::Inner);
  }

  bool CheckCall(const Function& function, const Inst& inst) {
    const size_t callee = static_cast<size_t>(function.word(inst, 0));
    const Function& target = question_.program.functions[callee];
    if (!target.is_prelude) return Refuse(fmt::format("it calls @{}", target.name));
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
    LoopAccess access{id, function_.operand(inst, 0), inst.op == Op::Store};
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
    if (access.is_store) {
      if (where == Where::Inner) return Refuse("a loop inside stores");
      if (access.shape != Shape::Unit || !access.hoisted)
        return Refuse("it stores elsewhere than side by side");
    }
    const uint32_t bytes = ir::BytesOf(inst.type);
    plan_.element_bytes = std::max(plan_.element_bytes, bytes);
    plan_.narrowest_bytes = std::min(plan_.narrowest_bytes, bytes);
    plan_.accesses.push_back(std::move(access));
    return true;
  }

  bool IsScratch(ValueId buffer) const {
    InstId def = function_.values[buffer.index].def;
    return def.valid() && function_.inst(def).op == Op::Alloc;
  }

  void CheckMemory() {
    for (size_t s = 0; s < plan_.accesses.size(); ++s) {
      if (!plan_.accesses[s].is_store) continue;
      for (size_t x = 0; x < plan_.accesses.size(); ++x)
        if (x != s && !CheckPair(plan_.accesses[s], plan_.accesses[x], x > s)) return;
    }
    std::ranges::sort(plan_.disjoint);
    plan_.disjoint.erase(std::unique(plan_.disjoint.begin(), plan_.disjoint.end()),
                         plan_.disjoint.end());
  }

  // A store and another access. Loads of a block come before its stores; stores keep their order.
  bool CheckPair(const LoopAccess& store, const LoopAccess& other, bool other_is_later) {
    const bool is_same = store.buffer == other.buffer;
    const bool is_same_type =
        function_.type(store.buffer).element() == function_.type(other.buffer).element();
    bool is_safe = false;
    if (is_same_type && other.shape == Shape::Unit && other.hoisted) {
      std::optional<int64_t> ahead = (other.offset - store.offset).constant();
      if (other.is_store)
        is_safe = ahead == 0;
      else
        is_safe = ahead && (*ahead > 0 || (*ahead == 0 && !other_is_later));
    }
    if (is_safe) return true;
    if (is_same) return Refuse("iterations meet in a buffer");
    if (IsScratch(store.buffer) || IsScratch(other.buffer)) return true;
    plan_.disjoint.push_back(std::minmax(store.buffer, other.buffer,
                                         [](ValueId a, ValueId b) { return a.index < b.index; }));
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
};

}  // namespace

const LoopAccess* LoopPlan::AccessOf(ir::InstId inst) const {
  auto found =
      std::ranges::find_if(accesses, [&](const LoopAccess& access) { return access.inst == inst; });
  return found == accesses.end() ? nullptr : &*found;
}

ir::ValueId CounterOf(const ir::Function& function, const ir::Inst& loop) {
  return Function::param_of(function.region(Function::region_of(loop, 0)), 0);
}

LoopPlan PlanLoop(const PlanQuestion& question, const ir::Inst& loop) {
  CHECK(loop.op == Op::For || loop.op == Op::Parallel);
  return Planner(question, loop).Run();
}

}  // namespace frazil::targets::native
