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

bool IsNeverNan(const Function& function, const FunctionFacts& facts, ValueId value) {
  return IsWide(function.type(value).scalar) && !facts.ranges->Float(value).nan;
}

// A float constant that is no NaN, or the one.
bool IsPlainConstant(const Function& function, const FunctionFacts& facts, ValueId value) {
  const auto words = ConstantOf(function, facts, value);
  if (!words) return false;
  const bool is_double = function.type(value).scalar == ir::Scalar::F64;
  return (*words)[0] == (is_double ? 0x7ff8'0000'0000'0000u : 0x7fc0'0000u) ||
         ir::IsNumber(function.type(value), (*words)[0]);
}

// What arithmetic makes and may be a NaN, and a choice among such values: there it is enough to make the chosen one
// the one NaN.
void FindArithmetic(const Function& function, const std::vector<InstId>& in_order,
                    FunctionFacts& facts) {
  facts.arithmetic.assign(function.values.size(), false);
  for (InstId id : in_order) {
    const Inst& inst = function.inst(id);
    if (ir::MakesAnyNan(function, inst)) {
      const ValueId result = Function::result_of(inst, 0);
      facts.arithmetic[result.index] = facts.ranges->Float(result).nan;
    } else if (inst.op == Op::Select && IsWide(inst.type.scalar)) {
      bool any = false, all = true;
      for (uint32_t i : {1u, 2u}) {
        const ValueId from = function.operand(inst, i);
        const bool is_arithmetic = facts.arithmetic[from.index];
        any = any || is_arithmetic;
        all = all && (is_arithmetic || IsPlainConstant(function, facts, from) ||
                      IsNeverNan(function, facts, from));
      }
      facts.arithmetic[Function::result_of(inst, 0).index] = any && all;
    }
  }
}

void Mark(const ir::Program& program, const Function& function, const std::vector<bool>& fallible,
          bool metered, FunctionFacts& facts) {
  static_cast<ir::Homes&>(facts) = ir::FindHomes(function);
  facts.allocates.assign(function.regions.size(), false);
  std::vector<InstId> in_order;
  for (uint32_t r = 0; r < function.regions.size(); ++r) {
    for (InstId id : function.regions[r].insts) {
      in_order.push_back(id);
      if (function.inst(id).op == Op::Alloc) facts.allocates[r] = true;
    }
  }
  const ir::LivenessQuestion question = {
      .program = program,
      .function = function,
      .homes = facts,
      .reached = in_order,
      .fallible = fallible,
      .metered = metered,
      .may_trap = [&](const Inst& inst) { return MayTrap(program, function, facts, inst); },
      .always_reads = {},
      .is_complete = {}};
  static_cast<ir::Liveness&>(facts) = ir::FindLiveness(question);
  FindArithmetic(function, in_order, facts);
  static_cast<ir::NanFacts&>(facts) = ir::FindNans(
      question, facts, [&](ValueId value) { return facts.arithmetic[value.index]; },
      [&](ValueId value) { return IsPlainConstant(function, facts, value); });
}

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
    Mark(program, program.functions[id.index], facts.fallible, metered, facts.functions[id.index]);
  return facts;
}

std::map<uint32_t, ir::Shape> ShapesOf(const ir::Function& source, const ir::Function& lowered) {
  std::map<uint32_t, ir::Shape> shapes;
  uint32_t next = source.param_count();
  for (uint32_t i = 0; i < source.param_count(); ++i)
    if (source.param_type(i).is_tensor())
      shapes[lowered.param(i).index] = source.shape(source.param_type(i));
  for (ir::Type result : source.results)
    if (result.is_tensor() && next < lowered.param_count())
      shapes[lowered.param(next++).index] = source.shape(result);
  return shapes;
}

}  // namespace frazil::targets
