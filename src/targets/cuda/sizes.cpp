// Copies just the instructions that the wanted values need.
#include "targets/cuda/sizes.h"

#include "targets/cuda/driver/module.h"

namespace frazil::targets::cuda {

using namespace ir::names;

SizesBuilder::SizesBuilder(const ir::Program& lowered, const ProgramFacts& facts)
    : lowered_(lowered),
      function_(lowered.entry_function()),
      facts_(facts.functions[lowered.entry.index]) {
  std::vector<ir::Type> params;
  for (uint32_t i = 0; i < function_.param_count(); ++i) {
    const ir::Type type = function_.param_type(i);
    params.push_back(type.is_buffer() ? ir::types::Index : type);
  }
  builder_ =
      std::make_unique<ir::FunctionBuilder>(program_, "main", params, std::vector<ir::Type>{});
  for (uint32_t i = 0; i < function_.param_count(); ++i)
    if (!function_.param_type(i).is_buffer())
      copies_[function_.param(i).index] = builder_->Param(i);
}

ValueId SizesBuilder::Copy(ValueId value) {
  if (const auto known = copies_.find(value.index); known != copies_.end()) return known->second;
  ValueId& copy = copies_[value.index];
  const ir::InstId id = facts_.definition[value.index];
  if (!id.valid()) return copy;
  const Inst& inst = function_.inst(id);
  if (inst.op == Op::Length) {
    const ValueId buffer = function_.operand(inst, 0);
    const ir::InstId made = facts_.definition[buffer.index];
    const uint32_t param = buffer.index - function_.param(0).index;
    ValueId length;
    if (made.valid())
      length = function_.inst(made).op == Op::Alloc
                   ? Copy(function_.operand(function_.inst(made), 0))
                   : ValueId();
    else if (param < function_.param_count())
      length = builder_->Param(param);
    return copies_[value.index] = length;
  }
  if (ir::Info(inst.op).effect != ir::Effect::Pure || inst.regions.count != 0 ||
      inst.op == Op::Call || inst.op == Op::Lookup || inst.results.count != 1 ||
      MayTrap(lowered_, function_, facts_, inst))
    return copy;
  ir::Values operands;
  for (ValueId operand : function_.operands_of(inst)) {
    operands.push_back(Copy(operand));
    if (!operands.back().valid()) return ValueId();
  }
  const ir::Type result = function_.type(value);
  const ValueId made = builder_->Emit(inst.op, inst.type, operands, std::span(&result, 1),
                                      function_.words_of(inst))[0];
  return copies_[value.index] = made;
}

int32_t SizesBuilder::Add(ValueId value) {
  ValueId copy = Copy(value);
  if (!copy.valid()) return Unknown;
  if (function_.type(value).scalar == ir::Scalar::Bool) {
    ValueId& number = numbers_[copy.index];
    if (!number.valid()) number = builder_->Cast(Op::Cast, copy, ir::types::Index);
    copy = number;
  }
  const auto [place, is_new] =
      ordinals_.try_emplace(copy.index, static_cast<int32_t>(results_.size()));
  if (is_new) results_.push_back(copy);
  return place->second;
}

ir::Program SizesBuilder::Finish() {
  builder_->SetResults(std::vector<ir::Type>(results_.size(), ir::types::Index));
  builder_->Return(results_);
  builder_->Finish();
  return std::move(program_);
}

}  // namespace frazil::targets::cuda
