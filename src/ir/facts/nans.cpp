#include "ir/facts/nans.h"

namespace frazil::ir {
namespace {

class Finder {
 public:
  Finder(const LivenessQuestion& question, const Liveness& liveness,
         const std::function<bool(ValueId)>& is_arithmetic,
         const std::function<bool(ValueId)>& is_plain)
      : question_(question),
        function_(question.function),
        liveness_(liveness),
        is_arithmetic_(is_arithmetic),
        is_plain_(is_plain) {
    facts_.canonical.assign(function_.values.size(), false);
    facts_.lazy.assign(function_.values.size(), false);
  }

  NanFacts Run() {
    FindLazy();
    for (InstId id : question_.reached) MarkMoves(id);
    return std::move(facts_);
  }

 private:
  bool IsRead(const Inst& inst, uint32_t operand) const {
    return (inst.results.count == 1 && liveness_.live[inst.results.begin]) ||
           question_.AlwaysReads(inst, operand);
  }

  // Calls `visit(value, result)` for each operand that a needed instruction moves; result is what a yield or the start
  // of a loop moves it to, invalid for others.
  template <typename Visit>
  void ForEachMove(InstId id, const Visit& visit) const {
    const Inst& inst = function_.inst(id);
    const bool is_yield = inst.op == Op::Yield;
    const InstId target =
        is_yield ? question_.homes.owner[question_.homes.region[id.index].index] : id;
    if (!liveness_.needed[target.index]) return;
    const bool is_loop = inst.op == Op::For || inst.op == Op::While;
    const uint32_t first = is_loop ? FirstInit(inst) : 0;
    for (uint32_t i = first; i < inst.operands.count; ++i) {
      if (!Moves(inst, i)) continue;
      ValueId result;
      if (is_yield || is_loop) {
        result = Function::result_of(function_.inst(target), i - first);
        if (!liveness_.live[result.index]) continue;
      } else if (!IsRead(inst, i)) {
        continue;
      }
      visit(function_.operand(inst, i), result);
    }
  }

  // A carried float that arithmetic makes and only arithmetic reads inside its loop need not be made the one NaN in
  // every turn: once after the loop is enough.
  void FindLazy() {
    std::vector<bool> moved(function_.values.size(), false);
    for (InstId id : question_.reached)
      ForEachMove(id, [&](ValueId value, ValueId) { moved[value.index] = true; });
    for (InstId id : question_.reached) {
      const Inst& loop = function_.inst(id);
      if (!liveness_.needed[id.index] || (loop.op != Op::For && loop.op != Op::While)) continue;
      const RegionId body = LoopBody(loop);
      if (!question_.IsComplete(body)) continue;
      for (uint32_t k = 0; k < loop.results.count; ++k) {
        const ValueId result = Function::result_of(loop, k);
        if (!liveness_.live[result.index] || !Contains(sets::Wide, function_.type(result).scalar))
          continue;
        const ValueId init = function_.operand(loop, FirstInit(loop) + k);
        facts_.lazy[result.index] =
            !moved[CarriedParam(function_, loop, k).index] &&
            is_arithmetic_(function_.operand(TerminatorOf(function_, body), k)) &&
            (is_arithmetic_(init) || is_plain_(init));
      }
    }
  }

  void MarkMoves(InstId id) {
    // A choice that is arithmetic itself is made the one NaN where it is moved on.
    const Inst& inst = function_.inst(id);
    if (inst.op == Op::Select && is_arithmetic_(Function::result_of(inst, 0))) return;
    ForEachMove(id, [&](ValueId value, ValueId result) {
      if (result.valid() && facts_.lazy[result.index]) return;
      if (is_arithmetic_(value) || facts_.lazy[value.index]) facts_.canonical[value.index] = true;
    });
  }

  const LivenessQuestion& question_;
  const Function& function_;
  const Liveness& liveness_;
  const std::function<bool(ValueId)>& is_arithmetic_;
  const std::function<bool(ValueId)>& is_plain_;
  NanFacts facts_;
};

}  // namespace

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

bool IsNumber(Type type, uint64_t word) {
  const bool is_double = type.scalar == Scalar::F64;
  const uint64_t magnitude = word & (is_double ? UINT64_MAX >> 1 : 0x7fff'ffffu);
  return magnitude <= (is_double ? 0x7ff0'0000'0000'0000u : 0x7f80'0000u);
}

NanFacts FindNans(const LivenessQuestion& question, const Liveness& liveness,
                  const std::function<bool(ValueId)>& is_arithmetic,
                  const std::function<bool(ValueId)>& is_plain) {
  return Finder(question, liveness, is_arithmetic, is_plain).Run();
}

}  // namespace frazil::ir
