// Where values come from, kept across passes. Only a copy of the same kind counts: a value that was merely
// replaced by an equal one has another definition, and a certificate must name what the checker will find there.
#include "optimize/unit.h"

namespace frazil::optimize {

using namespace ir::names;

Unit MakeUnit(const ir::Program& source) {
  Unit unit{source, {}, &source};
  for (const Function& function : source.functions) {
    std::vector<ValueId>& origins = unit.origins.emplace_back();
    for (uint32_t i = 0; i < function.values.size(); ++i) origins.emplace_back(i);
  }
  return unit;
}

std::vector<ValueId> PassCloner::OldValues() const {
  const Function& made = builder_.function();
  std::vector<ValueId> old(made.values.size());
  // Ascending: of several values that became one, the first is the one whose place was kept.
  for (uint32_t i = 0; i < source_.values.size(); ++i) {
    if (!IsBound(ValueId(i))) continue;
    ValueId copy = Get(ValueId(i));
    if (old[copy.index].valid()) continue;
    ir::InstId from = source_.values[i].def, to = made.values[copy.index].def;
    if (from.valid() != to.valid()) continue;
    if (from.valid() && source_.inst(from).op != made.inst(to).op) continue;
    old[copy.index] = ValueId(i);
  }
  return old;
}

Result<void> PassCloner::CopyWithRegions(
    const Inst& inst, const std::function<Result<void>(ir::InstId, uint32_t)>& fill) {
  std::vector<ir::Type> results;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    results.push_back(source_.type(Function::result_of(inst, i)));
  ir::InstId id = builder_.Begin(inst.op, inst.type, GetAll(source_.operands_of(inst)), results,
                                 source_.words_of(inst), inst.regions.count);
  for (uint32_t i = 0; i < inst.results.count; ++i)
    BindNamed(Function::result_of(inst, i), Function::result_of(builder_.function().inst(id), i));
  for (uint32_t i = 0; i < inst.regions.count; ++i) TRY_VOID(fill(id, i));
  return {};
}

const Inst* PassCloner::NewDefinition(ValueId new_value) const {
  const Function& made = builder_.function();
  ir::InstId def = made.values[new_value.index].def;
  return def.valid() ? &made.inst(def) : nullptr;
}

bool PassCloner::IsConstant(ValueId new_value) const {
  const Inst* def = NewDefinition(new_value);
  return def != nullptr && def->op == ir::Op::Const;
}

std::span<const uint64_t> PassCloner::ConstantWords(ValueId new_value) const {
  return builder_.function().words_of(*NewDefinition(new_value));
}

}  // namespace frazil::optimize
