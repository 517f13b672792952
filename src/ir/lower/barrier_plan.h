// What must be known of a `parallel` with barriers before its phases are built
// (split_barriers.cpp): where it is cut, and which values live across a cut.
#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/program.h"

namespace frazil::ir {

// Reached by iterations of the parallel around it, not of one inside.
bool HasBarrier(const Function& function, const Inst& inst);

// At the end of a phase: the place of `to` gets `from`.
struct Move {
  ValueId from, to;
};

// A phase, or a uniform structure with the phases of its regions.
struct Step {
  std::vector<InstId> insts;
  std::vector<Move> moves;
  const Inst* structure = nullptr;
  std::vector<std::vector<Step>> regions;
};

class BarrierPlan {
 public:
  BarrierPlan(const Function& function, const Inst& parallel);

  const std::vector<Step>& steps() const { return steps_; }
  ValueId lane() const { return lane_; }
  // Scalars that need a place for each iteration; for carried values and results of structures the
  // one that stands for all (CarrierOf).
  const std::vector<ValueId>& kept() const { return kept_; }
  // Instructions to be computed before the parallel, in order.
  const std::vector<InstId>& hoisted() const { return hoisted_; }
  bool IsHoisted(InstId id) const { return hoisted_set_.contains(id); }
  // A value that costs less to compute again in each phase than to keep: what that takes, in order; else nothing. Whoever
  // reads the program afterwards sees what it is of the iteration's number, which a place in memory does not tell.
  std::span<const InstId> RecomputedBy(ValueId value) const {
    auto found = recomputed_.find(value);
    return found == recomputed_.end() ? std::span<const InstId>() : found->second;
  }
  // Scratch that lives across a barrier.
  const std::vector<InstId>& pooled() const { return pooled_; }
  bool IsKept(ValueId value) const { return kept_set_.contains(value); }
  // The same in every iteration, and there before the phases start (loop counters: the loop's
  // phases).
  bool IsUniform(ValueId value) const {
    if (!inside_.contains(value)) return value != lane_;
    InstId def = function_.values[value.index].def;
    return def.valid() && IsHoisted(def);
  }
  ValueId CarrierOf(ValueId value) const {
    auto found = carrier_.find(value);
    return found == carrier_.end() ? value : found->second;
  }
  // Values that a phase reads but does not make, and those that it makes.
  std::vector<ValueId> Read(const Step& phase) const;
  std::vector<ValueId> Made(const Step& phase) const;

 private:
  std::vector<Step> Cut(RegionId id);
  void CutStructure(const Inst& inst, Step& before, Step& structure);
  void FindCrossings(const std::vector<Step>& steps);
  void Keep(ValueId value);
  bool Hoist(ValueId value);
  bool Recompute(ValueId value, std::vector<InstId>& insts);
  void Uses(const Inst& inst, std::vector<ValueId>& uses) const;
  void Definitions(const Inst& inst, std::unordered_set<ValueId>& made) const;

  const Function& function_;
  ValueId lane_;
  std::vector<Step> steps_;
  std::unordered_set<ValueId> inside_;    // made in a phase, carried, or a structure's result
  std::unordered_set<ValueId> counters_;  // of uniform loops
  std::vector<ValueId> kept_;
  std::unordered_set<ValueId> kept_set_;
  std::unordered_map<ValueId, ValueId> carrier_;
  std::vector<InstId> hoisted_;
  std::unordered_set<InstId> hoisted_set_;
  std::unordered_map<ValueId, std::vector<InstId>> recomputed_;
  std::vector<InstId> pooled_;
};

}  // namespace frazil::ir
