// Cuts the body of a `parallel` at its barriers. A value that a phase reads and another one makes
// is kept in a place for each iteration, unless it is the same for all of them and cannot trap:
// then it is computed before the parallel. A few integer ops on the iteration's number are computed
// again where they are read.
#include "ir/lower/barrier_plan.h"

#include <algorithm>
#include <utility>

namespace frazil::ir {
namespace {

// Two loads and a store are about as long as so many ops.
constexpr size_t MostRecomputed = 6;

}  // namespace

bool HasBarrier(const Function& function, const Inst& inst) {
  if (inst.op == Op::Barrier) return true;
  // A parallel inside has barriers of its own.
  if (inst.op == Op::Parallel) return false;
  for (uint32_t r = 0; r < inst.regions.count; ++r)
    for (InstId id : function.region(Function::region_of(inst, r)).insts)
      if (HasBarrier(function, function.inst(id))) return true;
  return false;
}

BarrierPlan::BarrierPlan(const Function& function, const Inst& parallel) : function_(function) {
  RegionId body = Function::region_of(parallel, 0);
  lane_ = Function::param_of(function.region(body), 0);
  steps_ = Cut(body);
  FindCrossings(steps_);
}

void BarrierPlan::Uses(const Inst& inst, std::vector<ValueId>& uses) const {
  for (ValueId operand : function_.operands_of(inst)) uses.push_back(operand);
  for (uint32_t r = 0; r < inst.regions.count; ++r)
    for (InstId id : function_.region(Function::region_of(inst, r)).insts)
      Uses(function_.inst(id), uses);
}

void BarrierPlan::Definitions(const Inst& inst, std::unordered_set<ValueId>& made) const {
  for (uint32_t i = 0; i < inst.results.count; ++i) made.insert(Function::result_of(inst, i));
  for (uint32_t r = 0; r < inst.regions.count; ++r) {
    const Region& region = function_.region(Function::region_of(inst, r));
    for (uint32_t i = 0; i < region.params.count; ++i) made.insert(Function::param_of(region, i));
    for (InstId id : region.insts) Definitions(function_.inst(id), made);
  }
}

std::vector<Step> BarrierPlan::Cut(RegionId id) {
  std::vector<Step> steps(1);
  for (InstId inst_id : function_.region(id).insts) {
    const Inst& inst = function_.inst(inst_id);
    if (inst.op == Op::Barrier) {
      steps.emplace_back();
    } else if (HasBarrier(function_, inst)) {
      Step structure;
      CutStructure(inst, steps.back(), structure);
      steps.push_back(std::move(structure));
      steps.emplace_back();
    } else if (inst.op != Op::Yield) {
      steps.back().insts.push_back(inst_id);
      Definitions(inst, inside_);
    }
  }
  return steps;
}

void BarrierPlan::CutStructure(const Inst& inst, Step& before, Step& structure) {
  structure.structure = &inst;
  bool is_loop = inst.op == Op::For;
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    ValueId result = Function::result_of(inst, i);
    inside_.insert(result);
    Keep(result);
    if (!is_loop) continue;
    // A carried value and the loop's result share one place: the last iteration leaves it there.
    const Region& region = function_.region(Function::region_of(inst, 0));
    ValueId param = Function::param_of(region, i + 1);
    inside_.insert(param);
    carrier_[param] = result;
    kept_set_.insert(param);
    before.moves.push_back({function_.operand(inst, i + 2), result});
  }
  if (is_loop)
    counters_.insert(Function::param_of(function_.region(Function::region_of(inst, 0)), 0));
  for (uint32_t r = 0; r < inst.regions.count; ++r) {
    RegionId region = Function::region_of(inst, r);
    structure.regions.push_back(Cut(region));
    std::span<const ValueId> yielded =
        function_.operands_of(function_.inst(function_.region(region).insts.back()));
    for (uint32_t i = 0; i < yielded.size(); ++i)
      structure.regions.back().back().moves.push_back({yielded[i], Function::result_of(inst, i)});
  }
}

void BarrierPlan::Keep(ValueId value) {
  if (kept_set_.insert(value).second) kept_.push_back(value);
}

std::vector<ValueId> BarrierPlan::Made(const Step& phase) const {
  std::vector<ValueId> made;
  for (InstId id : phase.insts)
    for (uint32_t i = 0; i < function_.inst(id).results.count; ++i)
      made.push_back(Function::result_of(function_.inst(id), i));
  return made;
}

std::vector<ValueId> BarrierPlan::Read(const Step& phase) const {
  std::unordered_set<ValueId> made;
  std::vector<ValueId> uses;
  for (InstId id : phase.insts) {
    Definitions(function_.inst(id), made);
    Uses(function_.inst(id), uses);
  }
  for (const Move& move : phase.moves) uses.push_back(move.from);
  std::sort(uses.begin(), uses.end());
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  std::erase_if(uses,
                [&](ValueId value) { return made.contains(value) || !inside_.contains(value); });
  return uses;
}

// Moves an instruction, and what it needs, before the parallel, if it is the same for all
// iterations.
bool BarrierPlan::Hoist(ValueId value) {
  if (value == lane_ || counters_.contains(value)) return false;
  if (!inside_.contains(value)) return true;
  InstId def = function_.values[value.index].def;
  if (!def.valid() || kept_set_.contains(value)) return false;
  if (hoisted_set_.contains(def)) return true;
  const Inst& inst = function_.inst(def);
  if (!IsRemovable(Info(inst.op)) || inst.regions.count != 0 || !function_.type(value).is_scalar())
    return false;
  for (ValueId operand : function_.operands_of(inst))
    if (!Hoist(operand)) return false;
  if (hoisted_set_.insert(def).second) hoisted_.push_back(def);
  return true;
}

// Appends the ops of a value that is made of the iteration's number, of constants and of what is the same for all
// iterations by a few ops on integers.
bool BarrierPlan::Recompute(ValueId value, std::vector<InstId>& insts) {
  if (value == lane_ || Hoist(value)) return true;
  InstId def = function_.values[value.index].def;
  if (!def.valid() || kept_set_.contains(value)) return false;
  if (std::find(insts.begin(), insts.end(), def) != insts.end()) return true;
  const Inst& inst = function_.inst(def);
  Type type = function_.type(value);
  bool is_cheap = IsRemovable(Info(inst.op)) && inst.regions.count == 0 &&
                  inst.results.count == 1 && type.is_scalar() &&
                  (IsFixedInt(type.scalar) || type.scalar == Scalar::Bool);
  if (!is_cheap) return false;
  for (ValueId operand : function_.operands_of(inst))
    if (!Recompute(operand, insts)) return false;
  insts.push_back(def);
  return insts.size() <= MostRecomputed;
}

void BarrierPlan::FindCrossings(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    for (const std::vector<Step>& region : step.regions) FindCrossings(region);
    for (ValueId value : Read(step)) {
      if (kept_set_.contains(value) || Hoist(value)) continue;
      if (function_.type(value).is_scalar()) {
        if (recomputed_.contains(value)) continue;
        std::vector<InstId> insts;
        if (Recompute(value, insts))
          recomputed_[value] = std::move(insts);
        else
          Keep(value);
        continue;
      }
      InstId def = function_.values[value.index].def;
      if (std::find(pooled_.begin(), pooled_.end(), def) != pooled_.end()) continue;
      pooled_.push_back(def);
      if (function_.inst(def).op == Op::Alloc) Hoist(function_.operand(function_.inst(def), 0));
    }
  }
}

}  // namespace frazil::ir
