#include "optimize/calls/step_function.h"

#include <algorithm>
#include <set>

#include "ir/check/check.h"
#include "ir/clone.h"
#include "ir/digest.h"
#include "optimize/calls/sizes.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

// What an instruction needs of the body around it.
class Needs {
 public:
  Needs(const Function& function, const std::function<bool(ValueId)>& is_part,
        const std::vector<bool>& is_outer)
      : function_(function), is_part_(is_part), is_outer_(is_outer) {}

  void Of(const Inst& inst) {
    for (const ValueId operand : function_.operands_of(inst))
      if (is_outer_[operand.index]) Value(operand);
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      for (const InstId id : function_.region(Function::region_of(inst, i)).insts)
        Of(function_.inst(id));
  }

  std::vector<InstId> parts;  // scalars that are computed again
  std::vector<ValueId> scalars, tensors;

 private:
  void Value(ValueId value) {
    if (!seen_.insert(value.index).second) return;
    if (function_.type(value).is_tensor()) return tensors.push_back(value);
    if (!is_part_(value)) return scalars.push_back(value);
    const InstId def = function_.values[value.index].def;
    Of(function_.inst(def));
    if (std::ranges::find(parts, def) == parts.end()) parts.push_back(def);
  }

  const Function& function_;
  const std::function<bool(ValueId)>& is_part_;
  const std::vector<bool>& is_outer_;
  std::set<uint32_t> seen_;
};

class StepWriter : public ir::Cloner {
 public:
  StepWriter(const Function& source, ir::FunctionBuilder& builder, const SizeClasses* sizes)
      : Cloner(source, builder), sizes_(sizes) {}

  void Declare(std::span<const ValueId> scalars, std::span<const ValueId> tensors) {
    builder_.function().shapes = source_.shapes;
    const size_t count = sizes_ == nullptr ? 0 : sizes_->sizes().size();
    for (size_t i = 0; i < count; ++i) symbols_.push_back(builder_.AddParam(ir::types::Index));
    for (const ValueId scalar : scalars) Bind(scalar, builder_.AddParam(source_.type(scalar)));
    for (const ValueId tensor : tensors) Bind(tensor, builder_.AddParam(source_.type(tensor)));
  }

  // Sizes that are symbols, in all types and for all constants.
  void Generalize() {
    if (sizes_ == nullptr) return;
    Function& f = builder_.function();
    for (uint32_t v = 0; v < source_.values.size(); ++v) {
      const ValueId old(v);
      if (!IsBound(old) || !source_.type(old).is_tensor()) continue;
      ir::Shape shape = source_.shape(source_.type(old));
      for (uint32_t axis = 0; axis < shape.size(); ++axis)
        if (const uint32_t symbol = sizes_->SymbolOf(old, axis); symbol != SizeClasses::None)
          shape[axis] = ir::Dim::Symbol(symbol);
      f.values[Get(old).index].type.shape = f.AddShape(shape);
    }
    for (Inst& inst : f.insts)
      if (inst.type.is_tensor() && inst.results.count > 0)
        inst.type = f.type(Function::result_of(inst));
    for (const ValueId constant : sizes_->constants()) {
      const uint32_t symbol = sizes_->SymbolOf(constant);
      if (symbol != SizeClasses::None && IsBound(constant)) CountBySymbol(f, constant, symbol);
    }
  }

  Result<void> Copy(InstId id) { return CopyInsts(std::span(&id, 1)); }

 private:
  // Only where it is the count of a fold: elsewhere the same number may be another thing.
  void CountBySymbol(Function& f, ValueId constant, uint32_t symbol) {
    for (const Inst& inst : f.insts)
      if (inst.op == Op::Fold && f.operand(inst, 0) == Get(constant))
        f.operands[inst.operands.begin] = symbols_[symbol];
  }

  const SizeClasses* sizes_;
  std::vector<ValueId> symbols_;
};

Result<KnownForm> Signed(const ir::Program& written, KnownForms& known) {
  std::string bytes = ir::CanonicalBytes(written);
  if (const auto at = known.find(bytes); at != known.end()) return at->second;
  auto canonical = std::make_shared<const ir::Program>(ir::Canonicalize(written));
  TRY_VOID(ir::Check(*canonical));
  std::string exact = ir::ExactDigestOfBytes(ir::CanonicalBytes(*canonical));
  return known.emplace(std::move(bytes), KnownForm{std::move(canonical), std::move(exact)})
      .first->second;
}

Result<KnownForm> WriteStep(const ir::Program& program, const Inst& inst, const Needs& needs,
                            const SizeClasses* sizes, KnownForms& known) {
  const Function& source = program.entry_function();
  ir::Program out;
  out.data = program.data;
  // Callees stay where they are, so that calls find them.
  if (program.functions.size() > 1) {
    out.functions = program.functions;
    Function nothing;
    nothing.regions.emplace_back();
    out.functions[program.entry.index] = std::move(nothing);
  }
  ir::FunctionBuilder builder(out, "main", std::span<const Type>{}, {});
  StepWriter writer(source, builder, sizes);
  writer.Declare(needs.scalars, needs.tensors);
  for (const InstId part : needs.parts) TRY_VOID(writer.Copy(part));
  const auto id = static_cast<uint32_t>(&inst - source.insts.data());
  TRY_VOID(writer.Copy(InstId(id)));
  writer.Generalize();
  ir::Values results;
  std::vector<Type> types;
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    results.push_back(writer.Get(Function::result_of(inst, i)));
    types.push_back(builder.TypeOf(results.back()));
  }
  builder.SetResults(types);
  builder.Return(results);
  out.entry = builder.Finish();
  return Signed(out, known);
}

}  // namespace

Result<StepFunction> MakeStepFunction(const ir::Program& program, const Inst& inst,
                                      const std::function<bool(ValueId)>& is_part,
                                      const std::vector<bool>& is_outer, KnownForms& known) {
  const Function& function = program.entry_function();
  Needs needs(function, is_part, is_outer);
  needs.Of(inst);
  std::vector<InstId> insts = needs.parts;
  insts.push_back(InstId(static_cast<uint32_t>(&inst - function.insts.data())));
  std::vector<ValueId> first = needs.tensors;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    if (const ValueId result = Function::result_of(inst, i); function.type(result).is_tensor())
      first.push_back(result);
  const SizeClasses sizes(function, insts, first);
  StepFunction step{{}, sizes.sizes(), needs.scalars, needs.tensors};
  if (Result<KnownForm> general = WriteStep(program, inst, needs, &sizes, known)) {
    step.form = std::move(*general);
    return step;
  }
  step.sizes.clear();
  step.form = TRY(WriteStep(program, inst, needs, nullptr, known));
  return step;
}

Result<StepFunction> MakeCopyFunction(const ir::Program& program, ValueId tensor,
                                      KnownForms& known) {
  const Function& source = program.entry_function();
  int64_t count = 1;
  for (const ir::Dim dim : source.shape(source.type(tensor)))
    if (dim.is_symbol() || __builtin_mul_overflow(count, dim.value, &count))
      return Fail(Diag::Unsupported, "a size is not known");
  StepFunction step;
  ir::Program out;
  ir::FunctionBuilder builder(out, "main", {ir::types::Index}, {});
  const Type type =
      Type::Tensor(source.type(tensor).element(), builder.AddShape({ir::Dim::Symbol(0)}));
  const ValueId from = builder.AddParam(type);
  builder.SetResults({type});
  builder.Return({from});
  builder.Finish();
  step.form = TRY(Signed(out, known));
  step.sizes = {count};
  step.tensors = {tensor};
  return step;
}

}  // namespace frazil::optimize
