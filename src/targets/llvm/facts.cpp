// What is needed and what must be the one NaN (ir/facts), by what ranges say of traps and NaNs. Dead values go here because
// no IR pass runs behind the emitter.
#include "targets/llvm/facts.h"

#include <algorithm>

#include "base/check.h"
#include "ir/facts/inst_facts.h"

namespace frazil::targets {
namespace {

using namespace ir::names;

bool IsWide(ir::Scalar scalar) { return ir::Contains(ir::sets::Wide, scalar); }

class Marker {
 public:
  Marker(const ir::Program& program, const ProgramFacts& all, const Function& function,
         FunctionFacts& facts, bool metered)
      : program_(program), all_(all), function_(function), facts_(facts), metered_(metered) {}

  void Run() {
    static_cast<ir::Homes&>(facts_) = ir::FindHomes(function_);
    facts_.allocates.assign(function_.regions.size(), false);
    std::vector<InstId> in_order;
    for (uint32_t r = 0; r < function_.regions.size(); ++r) {
      for (InstId id : function_.regions[r].insts) {
        in_order.push_back(id);
        if (function_.inst(id).op == Op::Alloc) facts_.allocates[r] = true;
      }
    }
    const ir::LivenessQuestion question = {
        .program = program_,
        .function = function_,
        .homes = facts_,
        .reached = in_order,
        .fallible = all_.fallible,
        .metered = metered_,
        .may_trap = [&](const Inst& inst) { return MayTrap(program_, function_, facts_, inst); },
        .always_reads = {},
        .is_complete = {}};
    static_cast<ir::Liveness&>(facts_) = ir::FindLiveness(question);
    FindArithmetic(in_order);
    static_cast<ir::NanFacts&>(facts_) = ir::FindNans(
        question, facts_, [&](ValueId value) { return IsArithmetic(value); },
        [&](ValueId value) { return IsPlainConstant(value); });
  }

 private:
  // What arithmetic makes and may be a NaN, and a choice among such values: there it is enough to make the chosen one
  // the one NaN.
  void FindArithmetic(const std::vector<InstId>& in_order) {
    facts_.arithmetic.assign(function_.values.size(), false);
    for (InstId id : in_order) {
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
    return (*words)[0] == (is_double ? 0x7ff8'0000'0000'0000u : 0x7fc0'0000u) ||
           ir::IsNumber(function_.type(value), (*words)[0]);
  }

  const ir::Program& program_;
  const ProgramFacts& all_;
  const Function& function_;
  FunctionFacts& facts_;
  const bool metered_;
};

bool IsDirectlyFallible(const ir::Program& program, const Function& function, bool metered,
                        std::shared_ptr<ValueRanges> ranges) {
  FunctionFacts facts;
  facts.ranges = std::move(ranges);
  static_cast<ir::Homes&>(facts) = ir::FindDefinitions(function);
  return ir::MayBeStopped(program, function, metered) ||
         std::ranges::any_of(function.insts, [&](const Inst& inst) {
           return MayTrap(program, function, facts, inst);
         });
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

ProgramFacts FindFacts(const ir::Program& program, bool metered) {
  ProgramFacts facts;
  const size_t count = program.functions.size();
  static_cast<ir::CallGraph&>(facts) = ir::FindCalls(program);
  facts.fallible.assign(count, false);
  facts.functions.resize(count);
  FindRanges(program, facts);
  for (ir::FuncId id : facts.order)
    facts.fallible[id.index] = IsDirectlyFallible(program, program.functions[id.index], metered,
                                                  facts.functions[id.index].ranges);
  SpreadToCallers(facts, facts.fallible);
  for (ir::FuncId id : facts.order)
    Marker(program, facts, program.functions[id.index], facts.functions[id.index], metered).Run();
  return facts;
}

}  // namespace frazil::targets
