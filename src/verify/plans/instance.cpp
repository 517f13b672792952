#include "verify/plans/instance.h"

#include "ir/builder.h"

namespace frazil::verify::plans {
namespace {

using namespace ir::names;
using exec::PlanScalar;

std::unexpected<Error> Misfit(const char* why) { return Fail(Diag::NotAdmitted, why); }

class Writer {
 public:
  Writer(const exec::PlanForm& form, const exec::PlanStep& step, const Function& planned,
         const StepReads& reads)
      : form_(form.program->entry_function()),
        step_(step),
        planned_(planned),
        reads_(reads),
        program_(*form.program),
        builder_(program_, "step", std::span<const Type>{}, {}) {}

  Result<ir::Program> Run(std::span<const Type> made) {
    if (step_.arguments.size() != form_.param_count() || made.size() != form_.results.size())
      return Misfit("it has other arguments or results than its form");
    const ir::FuncId callee = program_.entry;
    ir::Values params, arguments;
    for (const ValueId value : reads_.given)
      params.push_back(builder_.AddParam(InStep(planned_.type(value))));
    for (uint32_t i = 0; i < form_.param_count(); ++i)
      arguments.push_back(TRY(Argument(i, params)));
    std::vector<Type> types, results;
    for (const Type type : form_.results) types.push_back(TRY(Sized(type)));
    const uint64_t words[] = {callee.index};
    const ir::Values called = builder_.Emit(Op::Call, Type{}, arguments, types, words);
    ir::Values returned;
    for (size_t i = 0; i < made.size(); ++i) {
      results.push_back(InStep(made[i]));
      returned.push_back(TRY(As(called[i], results.back())));
    }
    builder_.SetResults(results);
    builder_.Return(returned);
    program_.entry = builder_.Finish();
    return std::move(program_);
  }

 private:
  // A type of the planned program.
  Type InStep(Type type) {
    if (type.is_tensor()) type.shape = builder_.AddShape(planned_.shape(type));
    return type;
  }

  // A type of the form, at the sizes of the step.
  Result<Type> Sized(Type type) {
    if (!type.is_tensor()) return type;
    ir::Shape shape = form_.shape(type);
    for (ir::Dim& dim : shape) {
      if (!dim.is_symbol()) continue;
      const auto* scalar = dim.param() < step_.arguments.size()
                               ? std::get_if<PlanScalar>(&step_.arguments[dim.param()])
                               : nullptr;
      if (scalar == nullptr || scalar->kind != PlanScalar::Kind::Constant ||
          scalar->words.size() != 1 || static_cast<int64_t>(scalar->words[0]) < 0)
        return Misfit("a size of its form is no constant");
      dim = ir::Dim::Constant(static_cast<int64_t>(scalar->words[0]));
    }
    type.shape = builder_.AddShape(shape);
    return type;
  }

  Result<ValueId> As(ValueId value, Type type) {
    const Type own = builder_.TypeOf(value);
    if (own == type) return value;
    if (!own.is_tensor() || !type.is_tensor() || own.element() != type.element())
      return Misfit("a value is of another type than its form's");
    return builder_.Emit1(Op::Reshape, type, {value}, type);
  }

  Result<ValueId> Argument(uint32_t i, const ir::Values& params) {
    const Type type = TRY(Sized(form_.param_type(i)));
    if (type.is_buffer()) return Misfit("a parameter of its form is a buffer");
    if (reads_.of_parameter[i] != StepReads::Constant)
      return As(params[reads_.of_parameter[i]], type);
    const auto& scalar = std::get<PlanScalar>(step_.arguments[i]);
    if (!type.is_scalar() || scalar.words.size() != ir::WordsOf(type))
      return Misfit("a constant has other words than its type");
    return builder_.Const(type, scalar.words);
  }

  const Function& form_;
  const exec::PlanStep& step_;
  const Function& planned_;
  const StepReads& reads_;
  ir::Program program_;
  ir::FunctionBuilder builder_;
};

}  // namespace

Result<ir::Program> InstanceOf(const exec::PlanForm& form, const exec::PlanStep& step,
                               const Function& planned, const StepReads& reads,
                               std::span<const Type> made) {
  return Writer(form, step, planned, reads).Run(made);
}

}  // namespace frazil::verify::plans
