// What loops have been gone through: an element that one of them has touched is there.
#include <algorithm>

#include "targets/llvm/facts.h"
#include "targets/llvm/order_facts.h"

namespace frazil::targets {
namespace {

using namespace ir::names;

bool IsCounted(const Inst& inst) { return inst.op == Op::For || inst.op == Op::Parallel; }

class Before {
 public:
  Before(const Function& function, const FunctionFacts& facts, ir::InstId access, ir::InstId lanes)
      : function_(function), access_(function.inst(access)) {
    bool in_lanes = lanes.valid();
    ir::InstId place = access;
    for (ir::RegionId region = facts.region[access.index]; region.valid();) {
      // Inside of a loop in lanes both arms run: what stands there may not have been wanted.
      if (!in_lanes) FindDone(region, place);
      place = facts.owner[region.index];
      if (!place.valid()) break;
      if (IsCounted(function.inst(place))) around_.push_back(&function.inst(place));
      in_lanes = in_lanes && place != lanes;
      region = facts.region[place.index];
    }
  }

  bool HasTouched() const {
    for (const Inst* const done : done_)
      for (const Inst* const loop : around_)
        if (HasSameTurns(*done, *loop) && HasTouched(*done, *loop)) return true;
    return false;
  }

  // Ends of loops from 0 that have touched the element of every turn's own number.
  std::vector<ValueId> Ends(ValueRanges& ranges) const {
    std::vector<ValueId> ends;
    for (const Inst* const done : done_) {
      const IntRange first = ranges.Int(function_.operand(*done, 0));
      if (StepOf(*done) != 1 || first.low != 0 || first.high != 0) continue;
      const std::vector<ir::InstId>& body = function_.region(Function::region_of(*done, 0)).insts;
      if (std::ranges::any_of(body, [&](ir::InstId id) {
            const Inst& inst = function_.inst(id);
            return (inst.op == Op::Load || inst.op == Op::Store) &&
                   function_.operand(inst, 0) == function_.operand(access_, 0) &&
                   function_.operand(inst, 1) == CounterOf(*done);
          }))
        ends.push_back(function_.operand(*done, 1));
    }
    return ends;
  }

 private:
  void FindDone(ir::RegionId region, ir::InstId place) {
    for (ir::InstId id : function_.region(region).insts) {
      if (id == place) break;
      if (IsCounted(function_.inst(id))) done_.push_back(&function_.inst(id));
    }
  }

  int64_t StepOf(const Inst& loop) const {
    return loop.op == Op::For ? static_cast<int64_t>(function_.word(loop, 0)) : 1;
  }
  ValueId CounterOf(const Inst& loop) const {
    return Function::param_of(function_.region(Function::region_of(loop, 0)), 0);
  }

  bool HasSameTurns(const Inst& a, const Inst& b) const {
    return StepOf(a) == StepOf(b) &&
           IsSame(function_, function_.operand(a, 0), function_.operand(b, 0)) &&
           IsSame(function_, function_.operand(a, 1), function_.operand(b, 1));
  }

  // In every turn, the element that the access wants in the same turn of its own loop.
  bool HasTouched(const Inst& done, const Inst& loop) const {
    const std::vector<ir::InstId>& body = function_.region(Function::region_of(done, 0)).insts;
    return std::ranges::any_of(body, [&](ir::InstId id) {
      const Inst& inst = function_.inst(id);
      return (inst.op == Op::Load || inst.op == Op::Store) &&
             function_.operand(inst, 0) == function_.operand(access_, 0) &&
             IsSame(function_, function_.operand(inst, 1), function_.operand(access_, 1),
                    std::pair(CounterOf(done), CounterOf(loop)));
    });
  }

  const Function& function_;
  const Inst& access_;
  std::vector<const Inst*> around_;  // loops, the innermost first
  std::vector<const Inst*> done_;
};

}  // namespace

bool WasInside(const Function& function, const FunctionFacts& facts, ir::InstId access,
               ir::InstId lanes) {
  return Before(function, facts, access, lanes).HasTouched();
}

std::vector<ValueId> TouchedBelow(const Function& function, const FunctionFacts& facts,
                                  ir::InstId access, ir::InstId lanes) {
  return Before(function, facts, access, lanes).Ends(*facts.ranges);
}

}  // namespace frazil::targets
