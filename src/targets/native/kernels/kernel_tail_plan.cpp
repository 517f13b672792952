// Elements are made in another order than the loops say, tile by tile. So what is stored may be read by nobody but the
// element itself, before it is stored.
#include "targets/native/kernels/kernel_tail_plan.h"

#include <algorithm>

namespace frazil::targets::native {
namespace {

using namespace ir::names;
using Shape = LoopAccess::Shape;

class TailPlanner {
 public:
  TailPlanner(const PlanQuestion& question, const Inst& rows, const Inst& columns,
              const Inst& chain)
      : question_(question),
        function_(question.program.functions[question.function.index]),
        facts_(question.facts.functions[question.function.index]),
        inside_(function_.values.size(), false) {
    tail_.rows = IdOf(rows);
    tail_.columns = IdOf(columns);
    tail_.chain = IdOf(chain);
  }

  std::optional<MatmulTail> Run() {
    const Inst& rows = function_.inst(tail_.rows);
    PlanQuestion question = question_;
    question.given = tail_.chain;
    tail_.plan = PlanLoop(question, function_.inst(tail_.columns));
    const LoopPlan& plan = tail_.plan;
    if (!plan.refusal.empty() || plan.may_bail || plan.has_inner_loop || !plan.folds.empty() ||
        !plan.rows.empty() || !plan.meetings.empty() || !plan.at_most.empty())
      return std::nullopt;
    ir::VisitValuesInside(function_, Function::region_of(rows, 0), [&](ir::Range values) {
      for (uint32_t i = 0; i < values.count; ++i) inside_[values.begin + i] = true;
    });
    for (const LoopAccess& access : plan.accesses)
      if (!AddPlace(access)) return std::nullopt;
    if (!AddPairs()) return std::nullopt;
    FindCarrier();
    AddOutside(Function::region_of(rows, 0));
    for (const TailPlace& place : tail_.places)
      for (const IndexForm* form : {&place.by_row, &place.offset})
        for (ValueId atom : form->Atoms()) AddOutside(atom);
    return std::move(tail_);
  }

 private:
  InstId IdOf(const Inst& inst) const {
    return InstId(static_cast<uint32_t>(&inst - function_.insts.data()));
  }

  bool IsKnownBefore(const IndexForm& form) const {
    return std::ranges::none_of(form.Atoms(), [&](ValueId atom) { return inside_[atom.index]; });
  }

  bool AddPlace(const LoopAccess& access) {
    if (!access.hoisted || inside_[access.buffer.index]) return false;
    if (access.shape != Shape::Unit && access.shape != Shape::Uniform) return false;
    if (access.is_store && (!access.always || access.shape != Shape::Unit)) return false;
    const ValueId row = CounterOf(function_, function_.inst(tail_.rows));
    std::optional<IndexForm> by_row = access.offset.Coefficient(row);
    if (!by_row) return false;
    tail_.places.push_back({*by_row, access.offset.Without(row)});
    return IsKnownBefore(tail_.places.back().by_row) && IsKnownBefore(tail_.places.back().offset);
  }

  bool AddPairs() {
    const std::vector<LoopAccess>& accesses = tail_.plan.accesses;
    bool has_store = false;
    for (size_t s = 0; s < accesses.size(); ++s) {
      if (!accesses[s].is_store) continue;
      has_store = true;
      for (size_t x = 0; x < accesses.size(); ++x) {
        if (x == s || (accesses[x].is_store && x < s)) continue;
        const bool is_own = !accesses[x].is_store && x < s && accesses[x].shape == Shape::Unit &&
                            accesses[x].offset == accesses[s].offset &&
                            function_.type(accesses[x].buffer).element() ==
                                function_.type(accesses[s].buffer).element();
        if (is_own) continue;
        if (accesses[x].buffer == accesses[s].buffer) return false;
        tail_.distinct.emplace_back(accesses[s].buffer, accesses[x].buffer);
      }
    }
    return has_store;
  }

  void FindCarrier() {
    const std::vector<LoopAccess>& accesses = tail_.plan.accesses;
    const ir::Type sum = function_.type(Function::result_of(function_.inst(tail_.chain)));
    for (size_t s = 0; s < accesses.size() && !tail_.carrier; ++s) {
      if (!accesses[s].is_store || function_.type(accesses[s].buffer).element() != sum) continue;
      const bool is_read = std::ranges::any_of(accesses, [&](const LoopAccess& access) {
        return !access.is_store && access.buffer == accesses[s].buffer;
      });
      if (!is_read) tail_.carrier = s;
    }
  }

  void AddOutside(ValueId value) {
    if (!inside_[value.index] && std::ranges::find(tail_.outside, value) == tail_.outside.end())
      tail_.outside.push_back(value);
  }

  void AddOutside(ir::RegionId region) {
    for (InstId id : function_.region(region).insts) {
      if (id == tail_.chain || !facts_.needed[id.index]) continue;
      const Inst& inst = function_.inst(id);
      if (id != tail_.columns)
        for (ValueId operand : function_.operands_of(inst)) AddOutside(operand);
      for (uint32_t r = 0; r < inst.regions.count; ++r) AddOutside(Function::region_of(inst, r));
    }
  }

  const PlanQuestion& question_;
  const Function& function_;
  const FunctionFacts& facts_;
  std::vector<bool> inside_;
  MatmulTail tail_;
};

}  // namespace

std::optional<MatmulTail> PlanTail(const PlanQuestion& question, const ir::Inst& rows,
                                   const ir::Inst& columns, const ir::Inst& chain) {
  return TailPlanner(question, rows, columns, chain).Run();
}

}  // namespace frazil::targets::native
