#include "ir/facts/liveness.h"

namespace frazil::ir {
namespace {

class Marker {
 public:
  explicit Marker(const LivenessQuestion& question)
      : question_(question), function_(question.function), homes_(question.homes) {
    facts_.live.assign(function_.values.size(), false);
    facts_.needed.assign(function_.insts.size(), false);
  }

  Liveness Run() {
    for (InstId id : question_.reached) {
      if (!IsRoot(function_.inst(id))) continue;
      NeedInst(id);
      while (!pending_.empty()) {
        const ValueId value = pending_.back();
        pending_.pop_back();
        LiveValue(value);
      }
    }
    return std::move(facts_);
  }

 private:
  bool IsRoot(const Inst& inst) const {
    switch (inst.op) {
      case Op::Yield:
      case Op::Condition: return false;
      case Op::Return:
      case Op::While: return true;
      case Op::For:
      case Op::Parallel: return question_.metered && !function_.is_prelude;
      case Op::Call: {
        const uint32_t callee = static_cast<uint32_t>(function_.word(inst, 0));
        return !question_.program.functions[callee].is_prelude || question_.fallible[callee];
      }
      default: break;
    }
    const Effect effect = Info(inst.op).effect;
    return effect == Effect::Writes || effect == Effect::Io || question_.may_trap(inst);
  }

  // It and all that it stands in.
  void NeedInst(InstId id) {
    while (id.valid() && !facts_.needed[id.index]) {
      facts_.needed[id.index] = true;
      const Inst& inst = function_.inst(id);
      uint32_t count = inst.operands.count;
      if (inst.op == Op::For) count = FirstInit(inst);
      if (inst.op == Op::While) {
        count = 0;
        ReadTerminator(Function::region_of(inst, 0), 0);
      }
      for (uint32_t i = 0; i < count; ++i)
        if (question_.AlwaysReads(inst, i)) pending_.push_back(function_.operand(inst, i));
      id = homes_.owner[homes_.region[id.index].index];
    }
  }

  void ReadTerminator(RegionId region, uint32_t k) {
    if (!question_.IsComplete(region)) return;
    pending_.push_back(function_.operand(TerminatorOf(function_, region), k));
  }

  void LiveValue(ValueId value) {
    if (facts_.live[value.index]) return;
    facts_.live[value.index] = true;
    const InstId id = homes_.definition[value.index];
    if (!id.valid()) return LiveParam(value);
    NeedInst(id);
    const Inst& inst = function_.inst(id);
    const uint32_t k = value.index - inst.results.begin;
    if (inst.op == Op::For || inst.op == Op::While) return LiveCarry(inst, k);
    if (inst.op == Op::If || inst.op == Op::Switch) {
      for (uint32_t i = 0; i < inst.regions.count; ++i)
        ReadTerminator(Function::region_of(inst, i), k);
      return;
    }
    for (ValueId operand : function_.operands_of(inst)) pending_.push_back(operand);
  }

  void LiveParam(ValueId value) {
    const RegionId region = homes_.home[value.index];
    const InstId owner = homes_.owner[region.index];
    if (!owner.valid()) return;
    NeedInst(owner);
    const Inst& inst = function_.inst(owner);
    const uint32_t position = value.index - function_.region(region).params.begin;
    if (inst.op == Op::For && position > 0) LiveCarry(inst, position - 1);
    if (inst.op == Op::While) LiveCarry(inst, position);
  }

  void LiveCarry(const Inst& loop, uint32_t k) {
    facts_.live[loop.results.begin + k] = true;
    facts_.live[CarriedParam(function_, loop, k).index] = true;
    pending_.push_back(function_.operand(loop, FirstInit(loop) + k));
    ReadTerminator(LoopBody(loop), k);
  }

  const LivenessQuestion& question_;
  const Function& function_;
  const Homes& homes_;
  Liveness facts_;
  std::vector<ValueId> pending_;
};

}  // namespace

Liveness FindLiveness(const LivenessQuestion& question) { return Marker(question).Run(); }

}  // namespace frazil::ir
