#include "targets/native/kernels/nest_reader.h"

#include <algorithm>

#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {

using namespace ir::names;

std::optional<NestReader::Level> NestReader::LevelOf(const Inst& loop) {
  if (loop.op != Op::Parallel &&
      (loop.op != Op::For || function_.word(loop, 0) != 1 || loop.results.count != 0))
    return std::nullopt;
  Level level;
  level.counter = CounterOf(function_, loop);
  if (function_.type(level.counter) != ir::types::Index) return std::nullopt;
  if (forms_.Of(function_.operand(loop, 0)).constant() != 0) return std::nullopt;
  level.count = forms_.Of(function_.operand(loop, 1));
  std::optional<std::vector<InstId>> rest = Statements(Function::region_of(loop, 0));
  if (!rest) return std::nullopt;
  level.rest = std::move(*rest);
  return level;
}

std::optional<std::vector<InstId>> NestReader::Statements(ir::RegionId region) const {
  std::vector<InstId> list;
  const std::vector<InstId>& insts = function_.region(region).insts;
  for (size_t i = 0; i + 1 < insts.size(); ++i) {
    const Inst& inst = function_.inst(insts[i]);
    if (!facts_.needed[insts[i].index]) continue;
    const bool is_listed = inst.op == Op::For || inst.op == Op::Parallel || inst.op == Op::Load ||
                           inst.op == Op::Store;
    if (is_listed)
      list.push_back(insts[i]);
    else if (!IsRemovable(ir::Info(inst.op)) || inst.regions.count != 0)
      return std::nullopt;
  }
  return list;
}

bool NestReader::IsInside(ValueId value) const {
  for (ir::RegionId home = facts_.home[value.index]; home.valid();) {
    const InstId owner = facts_.owner[home.index];
    if (!owner.valid()) return false;
    if (&function_.inst(owner) == &loop_) return true;
    home = facts_.region[owner.index];
  }
  return false;
}

bool NestReader::IsKnownBefore(const IndexForm& form) const {
  return std::ranges::none_of(form.Atoms(), [&](ValueId atom) { return IsInside(atom); });
}

std::optional<NestReader::Split> NestReader::SplitIndex(ValueId index) {
  Split split;
  IndexForm rest = forms_.Of(index);
  for (ValueId counter : counters_) {
    std::optional<IndexForm> coefficient = rest.Coefficient(counter);
    if (!coefficient) return std::nullopt;
    split.coefficients.push_back(*coefficient);
    rest = rest.Without(counter);
  }
  split.offset = rest;
  return split;
}

std::optional<NestReader::FmaStep> NestReader::StepOf(const Inst& chain, ir::Type type) {
  if (function_.word(chain, 0) != 1 ||
      function_.type(CounterOf(function_, chain)) != ir::types::Index ||
      forms_.Of(function_.operand(chain, 0)).constant() != 0)
    return std::nullopt;
  const std::optional<std::span<const uint64_t>> zero =
      ConstantOf(function_, facts_, function_.operand(chain, 2));
  if (!zero || (*zero)[0] != 0) return std::nullopt;
  const Inst& yield = function_.inst(function_.region(Function::region_of(chain, 0)).insts.back());
  const InstId id = function_.values[function_.operand(yield, 0).index].def;
  if (!id.valid()) return std::nullopt;
  const Inst& step = function_.inst(id);
  if (step.op != Op::Fma || step.type != type) return std::nullopt;
  if (function_.operand(step, 2) != CarriedParam(function_, chain, 0)) return std::nullopt;
  return FmaStep{forms_.Of(function_.operand(chain, 1)),
                 {function_.operand(step, 0), function_.operand(step, 1)}};
}

const Inst* NestReader::CastOf(ValueId value) const {
  const InstId id = function_.values[value.index].def;
  if (!id.valid() || function_.inst(id).op != Op::Cast) return nullptr;
  return &function_.inst(id);
}

}  // namespace frazil::targets::native
