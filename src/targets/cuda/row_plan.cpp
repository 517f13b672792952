// Nothing inside may trap: the lanes of a row would have stored more than what precedes the trap.
#include "targets/cuda/row_plan.h"

#include <algorithm>
#include <set>

namespace frazil::targets::cuda {
namespace {

using namespace ir::names;

class RowPlanner {
 public:
  RowPlanner(const ir::Program& program, const Function& function, const ProgramFacts& all,
             const FunctionFacts& facts, const Inst& parallel)
      : program_(program),
        function_(function),
        all_(all),
        facts_(facts),
        parallel_(parallel),
        forms_(function) {}

  std::optional<RowPlan> Run() {
    counter_ = CounterOf(parallel_);
    plan_.groups.emplace_back();
    for (InstId id : function_.region(Function::region_of(parallel_, 0)).insts)
      if (facts_.needed[id.index] && function_.inst(id).op != Op::Yield && !Place(id))
        return std::nullopt;
    if (!has_fold_ || !FindArrays()) return std::nullopt;
    return std::move(plan_);
  }

 private:
  ValueId CounterOf(const Inst& loop) const {
    return Function::param_of(function_.region(Function::region_of(loop, 0)), 0);
  }

  bool IsInsideOf(ValueId value, const Inst& loop) const {
    for (ir::RegionId home = facts_.home[value.index]; home.valid();) {
      const InstId owner = facts_.owner[home.index];
      if (!owner.valid()) return false;
      if (&function_.inst(owner) == &loop) return true;
      home = facts_.region[owner.index];
    }
    return false;
  }
  bool IsKnownBefore(const IndexForm& form) const {
    return std::ranges::none_of(form.Atoms(),
                                [&](ValueId atom) { return IsInsideOf(atom, parallel_); });
  }

  // May it stand in a row, its regions aside?
  bool IsHarmless(InstId id) const {
    const Inst& inst = function_.inst(id);
    const bool is_math = inst.op == Op::Call && program_.functions[CalleeOf(inst)].is_prelude &&
                         !all_.fallible[CalleeOf(inst)];
    if (is_math || inst.op == Op::Yield || inst.op == Op::If) return true;
    if (inst.op == Op::Load || inst.op == Op::Store)
      return IsInsideAt(function_, facts_, id, /*lanes=*/{});
    if (ir::Info(inst.op).effect != ir::Effect::Pure) return false;
    return !MayTrap(program_, function_, facts_, inst);
  }
  uint32_t CalleeOf(const Inst& call) const {
    return static_cast<uint32_t>(function_.word(call, 0));
  }

  bool Place(InstId id) {
    const Inst& inst = function_.inst(id);
    const bool is_fold = IsFoldLoop(inst);
    if (is_fold || inst.op == Op::Parallel) {
      if (!IsPass(inst, is_fold)) return false;
      if (NeedsGroup(inst)) Close();
      plan_.groups.back().passes.push_back(id);
      if (is_fold) made_.insert(Function::result_of(inst).index);
      return true;
    }
    if (inst.regions.count != 0 || !IsHarmless(id)) return false;
    if (inst.op == Op::Store) scalar_stores_.insert(function_.operand(inst, 0).index);
    if (inst.op == Op::Load) scalar_loads_.insert(function_.operand(inst, 0).index);
    if (NeedsGroup(inst)) Close();
    plan_.groups.back().scalars.push_back(id);
    return true;
  }

  void Close() {
    plan_.groups.emplace_back();
    made_.clear();
  }

  // Does it read what a fold of the group in hand gives?
  bool NeedsGroup(const Inst& inst) const {
    for (ValueId operand : function_.operands_of(inst))
      if (made_.contains(operand.index)) return true;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      for (InstId id : function_.region(Function::region_of(inst, r)).insts)
        if (NeedsGroup(function_.inst(id))) return true;
    return false;
  }

  bool IsPass(const Inst& loop, bool is_fold) {
    if (forms_.Of(function_.operand(loop, 0)).constant() != 0) return false;
    const ValueId count = function_.operand(loop, 1);
    if (!plan_.count.valid()) plan_.count = count;
    if (forms_.Of(count) != forms_.Of(plan_.count) || !IsKnownBefore(forms_.Of(count)))
      return false;
    if (is_fold) {
      const ir::Type type = function_.type(Function::result_of(loop));
      if (type != ir::types::F32 && type != ir::types::F64) return false;
      has_fold_ = true;
    }
    return LookInside(Function::region_of(loop, 0), /*is_nested=*/false);
  }

  bool LookInside(ir::RegionId region, bool is_nested) {
    for (InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      if (!facts_.needed[id.index]) continue;
      if (!IsHarmless(id)) return false;
      if (inst.op == Op::Store && is_nested) return false;
      if (inst.regions.count != 0 && inst.op != Op::If) return false;
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        if (!LookInside(Function::region_of(inst, r), true)) return false;
    }
    return true;
  }

  // --- arrays ---

  bool FindArrays() {
    for (size_t g = 0; g < plan_.groups.size(); ++g)
      for (InstId id : plan_.groups[g].passes) {
        const Inst& loop = function_.inst(id);
        if (!FindAccesses(Function::region_of(loop, 0), CounterOf(loop), g)) return false;
      }
    std::set<uint32_t> written = scalar_stores_;
    std::set<uint32_t> touched = scalar_stores_;
    touched.insert(scalar_loads_.begin(), scalar_loads_.end());
    touched.insert(elsewhere_.begin(), elsewhere_.end());
    for (RowArray& array : plan_.arrays) {
      touched.insert(array.buffer.index);
      if (array.last_write >= 0) written.insert(array.buffer.index);
    }
    // What is written is read only by the lane that wrote it.
    for (uint32_t buffer : written) {
      if (elsewhere_.contains(buffer) || scalar_loads_.contains(buffer)) return false;
      const auto arrays = std::ranges::count_if(
          plan_.arrays, [&](const RowArray& array) { return array.buffer.index == buffer; });
      if (arrays > 1 || (arrays == 1 && scalar_stores_.contains(buffer))) return false;
      if (IsInsideOf(ValueId(buffer), parallel_)) return false;
      for (uint32_t other : touched)
        if (other != buffer) plan_.disjoint.emplace_back(ValueId(buffer), ValueId(other));
    }
    FindComputed();
    for (size_t a = 0; a < plan_.arrays.size(); ++a) {
      RowArray& array = plan_.arrays[a];
      array.is_kept = plan_.IsReadAfter(a, static_cast<size_t>(array.first_use));
      for (size_t g = 0; g < plan_.groups.size(); ++g)
        if (array.reads[g]) array.last_read = static_cast<int>(g);
    }
    GivePlaces();
    return true;
  }

  // One that is read for the last time where another is first touched leaves it its place: a lane has read its elements
  // of a slice before it writes others there. The widest first, so that each is aligned.
  void GivePlaces() {
    for (const uint32_t bytes : {8u, 4u, 2u, 1u}) {
      std::vector<std::pair<uint32_t, int>> places;  // where, and until which group
      std::vector<RowArray*> kept;
      for (RowArray& array : plan_.arrays)
        if (array.is_kept && ir::BytesOf(array.element) == bytes) kept.push_back(&array);
      std::ranges::sort(kept, {}, [](const RowArray* array) {
        return std::pair(array->first_use, array->buffer.index);
      });
      for (RowArray* array : kept) {
        auto place = std::ranges::find_if(
            places, [&](const auto& taken) { return taken.second <= array->first_use; });
        if (place == places.end()) {
          places.emplace_back(plan_.kept_bytes, 0);
          plan_.kept_bytes += bytes;
          place = places.end() - 1;
        }
        place->second = array->last_read;
        array->place = place->first;
      }
    }
  }

  // A fold hands on the bits of its element where it is alone.
  void FindComputed() {
    std::set<uint32_t> moved;
    for (const Inst& inst : function_.insts)
      for (uint32_t i = 0; i < inst.operands.count; ++i)
        if (ir::Moves(inst, i)) moved.insert(function_.operand(inst, i).index);
    for (const RowGroup& group : plan_.groups)
      for (InstId id : group.passes) {
        const Inst& loop = function_.inst(id);
        if (!IsFoldLoop(loop)) continue;
        const ValueId next = function_.operand(
            function_.inst(function_.region(Function::region_of(loop, 0)).insts.back()), 0);
        moved.insert(function_.operand(function_.inst(facts_.definition[next.index]), 1).index);
      }
    for (const auto& [id, a] : plan_.accesses) {
      const Inst& inst = function_.inst(InstId(id));
      if (inst.op == Op::Load && moved.contains(Function::result_of(inst).index) &&
          !plan_.arrays[a].writes[GroupOf(InstId(id))])
        plan_.arrays[a].is_computed = false;
    }
  }

  size_t GroupOf(InstId access) const {
    for (size_t g = 0; g < plan_.groups.size(); ++g)
      for (InstId pass : plan_.groups[g].passes)
        if (IsInsideOf(Function::result_of(function_.inst(access)), function_.inst(pass))) return g;
    return 0;
  }

  bool FindAccesses(ir::RegionId region, ValueId element, size_t group) {
    for (InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      if (!facts_.needed[id.index]) continue;
      if (inst.op == Op::Load || inst.op == Op::Store) {
        const std::optional<size_t> array = ArrayOf(inst, element);
        if (!array && inst.op == Op::Store) return false;
        if (array)
          Note(id, *array, group, inst.op == Op::Store);
        else
          elsewhere_.insert(function_.operand(inst, 0).index);
      }
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        if (!FindAccesses(Function::region_of(inst, r), element, group)) return false;
    }
    return true;
  }

  std::optional<size_t> ArrayOf(const Inst& access, ValueId element) {
    const ValueId buffer = function_.operand(access, 0);
    const ir::Type type = function_.type(buffer).element();
    if (ir::WordsOf(type) != 1 || type.scalar == ir::Scalar::Bool) return std::nullopt;
    IndexForm form = forms_.Of(function_.operand(access, 1));
    const auto slope = form.Coefficient(element);
    if (!slope || slope->constant() != 1) return std::nullopt;
    form = form.Without(element);
    const auto row = form.Coefficient(counter_);
    if (!row) return std::nullopt;
    const IndexForm offset = form.Without(counter_);
    if (!IsKnownBefore(*row) || !IsKnownBefore(offset)) return std::nullopt;
    for (size_t a = 0; a < plan_.arrays.size(); ++a) {
      const RowArray& array = plan_.arrays[a];
      if (array.buffer == buffer && array.row == *row && array.offset == offset) return a;
    }
    RowArray array;
    array.buffer = buffer;
    array.element = type;
    array.row = *row;
    array.offset = offset;
    array.reads.assign(plan_.groups.size(), false);
    array.writes.assign(plan_.groups.size(), false);
    plan_.arrays.push_back(std::move(array));
    return plan_.arrays.size() - 1;
  }

  void Note(InstId id, size_t a, size_t group, bool is_store) {
    RowArray& array = plan_.arrays[a];
    plan_.accesses[id.index] = a;
    if (array.first_use < 0) array.first_use = static_cast<int>(group);
    if (is_store) {
      array.writes[group] = true;
      array.last_write = static_cast<int>(group);
    } else if (!array.writes[group]) {
      array.reads[group] = true;
    }
  }

  const ir::Program& program_;
  const Function& function_;
  const ProgramFacts& all_;
  const FunctionFacts& facts_;
  const Inst& parallel_;
  IndexForms forms_;
  ValueId counter_;
  RowPlan plan_;
  std::set<uint32_t> made_;  // by folds of the group in hand
  std::set<uint32_t> scalar_stores_, scalar_loads_, elsewhere_;
  bool has_fold_ = false;
};

}  // namespace

bool RowPlan::IsReadAfter(size_t array, size_t group) const {
  for (size_t g = group + 1; g < groups.size(); ++g)
    if (arrays[array].reads[g]) return true;
  return false;
}

std::optional<RowPlan> PlanRows(const ir::Program& program, const Function& function,
                                const ProgramFacts& all, const FunctionFacts& facts,
                                const Inst& parallel) {
  return RowPlanner(program, function, all, facts, parallel).Run();
}

}  // namespace frazil::targets::cuda
