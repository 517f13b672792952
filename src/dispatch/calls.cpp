#include "dispatch/calls.h"

#include <algorithm>

namespace frazil::dispatch {

Result<JudgedCode> JudgedCode::Map(const verify::Verified<exec::CompiledForm>& form) {
  if (form->target != "native" || !form->calling.empty() || form->guard != "true")
    return Fail(Diag::NotAdmitted, "the form is not code that a plan can call");
  return JudgedCode(form, TRY(exec::NativeCode::Map(TRY(exec::ParseImage(form->payload)))));
}

Result<std::shared_ptr<const exec::PlanCode>> LinkCalls(
    const verify::Verified<exec::CompiledForm>& form, std::span<const JudgedCode> parts,
    const ir::SignedProgram& source) {
  if (form->source_exact != source.exact())
    return Fail(Diag::NotAdmitted, "the form answers for another program");
  if (form->target != "calls" || form->guard != "true")
    return Fail(Diag::NotAdmitted, "the form is no plan of calls");
  const exec::Plan plan = TRY(exec::ParsePlan(form->payload));
  std::vector<std::shared_ptr<const exec::NativeCode>> codes;
  for (const exec::PlanForm& called : plan.forms) {
    const auto part = std::ranges::find_if(
        parts, [&](const JudgedCode& it) { return it.form()->source_exact == called.exact; });
    if (part == parts.end())
      return Fail(Diag::NotAdmitted, "a form that the plan calls has no judged code");
    codes.push_back(part->code());
  }
  return exec::PlanCode::Link(source.program(), plan, std::move(codes));
}

}  // namespace frazil::dispatch
