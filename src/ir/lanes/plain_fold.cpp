#include "ir/lanes/plain_fold.h"

#include <algorithm>
#include <set>

#include "ir/facts/inst_facts.h"

namespace frazil::ir {
namespace {

const Inst* DefinitionOf(const Function& function, ValueId value) {
  const InstId id = function.values[value.index].def;
  return id.valid() ? &function.inst(id) : nullptr;
}

// Whatever its operands are but for constants.
bool MayTrap(const Function& function, const Inst& inst) {
  const TrapSet traps = Info(inst.op).traps;
  if (traps == 0) return false;
  if (inst.op == Op::Lookup && function.is_prelude)
    return false;  // its tables hold every index that it computes
  if (inst.op == Op::CastChecked)
    return !AlwaysFits(function.type(function.operand(inst, 0)), inst.type);
  if ((traps & ~Only(Trap::DivisionByZero)) != 0 || inst.operands.count != 2) return true;
  const Inst* divisor = DefinitionOf(function, function.operand(inst, 1));
  if (divisor == nullptr || divisor->op != Op::Const) return true;
  return std::ranges::all_of(function.words_of(*divisor), [](uint64_t word) { return word == 0; });
}

// A math function that always gives a value. They do not call each other in circles; the depth is for others' programs.
bool IsTotalMath(const Program& program, size_t callee, int depth = 8) {
  const Function& function = program.functions[callee];
  if (!function.is_prelude || depth == 0) return false;
  return std::ranges::all_of(function.insts, [&](const Inst& inst) {
    if (inst.op == Op::Call)
      return IsTotalMath(program, static_cast<size_t>(function.word(inst, 0)), depth - 1);
    return !MayTrap(function, inst);
  });
}

}  // namespace

bool IsPlainComputing(const Program& program, const Function& function, const Inst& inst) {
  if (inst.op == Op::Call) return IsTotalMath(program, static_cast<size_t>(function.word(inst, 0)));
  return Info(inst.op).effect == Effect::Pure && !MayTrap(function, inst);
}

std::optional<PlainFold> ReadPlainFold(const Program& program, InstId id) {
  const Function& function = program.entry_function();
  const Inst& inst = function.inst(id);
  if (inst.op != Op::Fold || function.word(inst, 1) != FoldChains ||
      function.word(inst, 2) != FoldBlock)
    return std::nullopt;
  const Region& region = function.region(Function::region_of(inst, 0));
  PlainFold fold{.kind = static_cast<ReduceKind>(function.word(inst, 0)),
                 .type = inst.type,
                 .element = {region.insts.begin(), region.insts.end() - 1},
                 .index = Function::param_of(region, 0),
                 .value = function.operand(function.inst(region.insts.back()), 0),
                 .buffers = {},
                 .outside = {},
                 .count = function.operand(inst, 0),
                 .result = Function::result_of(inst)};
  std::set<uint32_t> made = {fold.index.index};
  const auto need = [&](ValueId value) {
    if (!made.contains(value.index)) fold.outside.push_back(value);
  };
  for (InstId step : fold.element) {
    const Inst& one = function.inst(step);
    if (one.regions.count != 0 || one.results.count != 1) return std::nullopt;
    if (one.op == Op::Load) {
      if (function.operand(one, 1) != fold.index) return std::nullopt;
      fold.buffers.push_back(function.operand(one, 0));
    } else if (IsPlainComputing(program, function, one)) {
      std::ranges::for_each(function.operands_of(one), need);
    } else {
      return std::nullopt;
    }
    made.insert(Function::result_of(one).index);
  }
  need(fold.value);
  return fold;
}

}  // namespace frazil::ir
