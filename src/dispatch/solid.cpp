// From a verified form to something that can be called: the guard read and flattened against the source's parameters,
// the code mapped.
#include <utility>

#include "dispatch/calls.h"
#include "dispatch/slot.h"
#include "exec/plan/plan_entry.h"

namespace frazil::dispatch {

Solid::Solid(const verify::Verified<exec::CompiledForm>& form, FlatGuard guard,
             FlatGuard::Parts parts, std::shared_ptr<const exec::NativeCode> code,
             const exec::NativeImage& image)
    : form_(form),
      guard_(std::move(guard)),
      parts_(std::move(parts)),
      code_(std::move(code)),
      code_bytes_(image.code.size()),
      tuned_(image.tuned) {}

Solid::~Solid() = default;

Result<std::shared_ptr<const Solid>> Solid::Make(const verify::Verified<exec::CompiledForm>& form,
                                                 const ir::SignedProgram& signed_source) {
  if (form->source_exact != signed_source.exact()) {
    return Fail(Diag::NotAdmitted, "the form answers for another program");
  }
  if (form->target != "native" || !form->calling.empty())
    return Fail(Diag::NotAdmitted, "the form is not code that a slot can call");
  const ir::Program& source = signed_source.program();
  FlatGuard guard = TRY(FlatGuard::Flatten(TRY(ir::ParseGuard(form->guard, source)), source));
  guard.AddLaunchTests(source);
  const exec::NativeImage image = TRY(exec::ParseImage(form->payload));
  std::shared_ptr<const exec::NativeCode> code = TRY(exec::NativeCode::Map(image));
  return std::shared_ptr<const Solid>(
      new Solid(form, guard, guard.Split(source), std::move(code), image));
}

Result<std::shared_ptr<const Solid>> Solid::MakeCalls(
    const verify::Verified<exec::CompiledForm>& form, std::span<const JudgedCode> parts,
    const ir::SignedProgram& signed_source) {
  const ir::Program& source = signed_source.program();
  std::shared_ptr<const exec::PlanCode> plan = TRY(LinkCalls(form, parts, signed_source));
  FlatGuard guard = TRY(FlatGuard::Flatten({}, source));
  guard.AddLaunchTests(source);
  // There is nothing that takes longer to make: forms are tuned one by one.
  exec::NativeImage image;
  std::shared_ptr<const exec::NativeCode> code = TRY(exec::MakePlanEntry(*plan));
  std::shared_ptr<Solid> solid(new Solid(form, guard, guard.Split(source), std::move(code), image));
  for (const JudgedCode& part : parts) solid->code_bytes_ += part.code()->size();
  solid->plan_ = std::move(plan);
  return solid;
}

}  // namespace frazil::dispatch
