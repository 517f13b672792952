// The one place where passes copy instructions. It goes through the builder, so that a copy has the
// same invariants as anything built by hand; recursion is bounded by the nesting that ir::Check
// allows.
#include "ir/clone.h"

#include "base/check.h"
#include "ir/check/attributes.h"

namespace frazil::ir {

Cloner::Cloner(const Function& source, FunctionBuilder& builder)
    : source_(source),
      builder_(builder),
      map_(source.values.size()),
      named_(source.values.size(), false) {}

void Cloner::DeclareParams() {
  // In the same order, so that the indices in tensor types stay right.
  for (const Shape& shape : source_.shapes) builder_.AddShape(shape);
  for (uint32_t i = 0; i < source_.param_count(); ++i)
    BindNamed(source_.param(i), builder_.AddParam(source_.param_type(i)));
}

void Cloner::Bind(ValueId old_value, ValueId new_value) {
  CHECK(old_value.index < map_.size() && new_value.valid());
  map_[old_value.index] = new_value;
}

ValueId Cloner::Get(ValueId old_value) const {
  CHECK(old_value.index < map_.size() && map_[old_value.index].valid());
  return map_[old_value.index];
}

Values Cloner::GetAll(std::span<const ValueId> old_values) const {
  Values values;
  values.reserve(old_values.size());
  for (ValueId value : old_values) values.push_back(Get(value));
  return values;
}

void Cloner::BindNamed(ValueId old_value, ValueId new_value) {
  Bind(old_value, new_value);
  if (named_[old_value.index] || old_value.index >= source_.value_names.size()) return;
  const std::string& name = source_.value_names[old_value.index];
  if (name.empty()) return;
  named_[old_value.index] = true;
  builder_.Name(new_value, name);
}

Result<void> Cloner::CopyInsts(std::span<const InstId> insts) {
  for (InstId id : insts) {
    const Inst& inst = source_.inst(id);
    builder_.SetLocation(inst.location);
    TRY_VOID(Visit(inst));
  }
  return {};
}

Result<void> Cloner::CopyRegionInto(InstId new_inst, uint32_t index, RegionId old_region) {
  const Region& region = source_.region(old_region);
  std::vector<Type> types;
  for (uint32_t i = 0; i < region.params.count; ++i)
    types.push_back(source_.type(Function::param_of(region, i)));
  Values params = builder_.BeginRegion(new_inst, index, types);
  for (uint32_t i = 0; i < region.params.count; ++i)
    BindNamed(Function::param_of(region, i), params[i]);
  TRY_VOID(CopyRegion(old_region));
  builder_.EndRegion();
  return {};
}

Result<void> Cloner::CopyInst(const Inst& inst) {
  std::vector<Type> results;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    results.push_back(source_.type(Function::result_of(inst, i)));
  std::span<const uint64_t> words = source_.words_of(inst);
  uint64_t mapped = 0;
  if (inst.op == Op::Call) mapped = MapFunction(FuncId(static_cast<uint32_t>(words[0]))).index;
  if (NamesTable(inst.op)) mapped = MapData(DataId(static_cast<uint32_t>(words[0]))).index;
  if (inst.op == Op::Call || NamesTable(inst.op)) words = std::span(&mapped, 1);
  InstId id = builder_.Begin(inst.op, inst.type, GetAll(source_.operands_of(inst)), results, words,
                             inst.regions.count);
  builder_.StandFor(inst.source_op);
  for (uint32_t i = 0; i < inst.results.count; ++i)
    BindNamed(Function::result_of(inst, i), Function::result_of(builder_.function().inst(id), i));
  for (uint32_t i = 0; i < inst.regions.count; ++i)
    TRY_VOID(CopyRegionInto(id, i, Function::region_of(inst, i)));
  return {};
}

Result<Program> CopyProgram(
    const Program& program,
    const std::function<Result<void>(const Function&, FunctionBuilder&)>& copy_function) {
  Program out;
  out.data = program.data;
  for (const Function& function : program.functions) {
    FunctionBuilder builder(out, function.name, std::span<const Type>{}, function.results);
    builder.function().is_prelude = function.is_prelude;
    TRY_VOID(copy_function(function, builder));
    builder.Finish();
  }
  out.entry = program.entry;
  return out;
}

}  // namespace frazil::ir
