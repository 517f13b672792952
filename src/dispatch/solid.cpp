// From a verified form to something that can be called: the guard read and flattened against the source's parameters,
// the code mapped.
#include <utility>

#include "dispatch/slot.h"
#include "ir/digest.h"

namespace frazil::dispatch {

Solid::Solid(const verify::Verified<exec::CompiledForm>& form, FlatGuard guard,
             std::shared_ptr<const exec::NativeCode> code)
    : form_(form), guard_(std::move(guard)), code_(std::move(code)) {}

Solid::~Solid() = default;

Result<std::shared_ptr<const Solid>> Solid::Make(const verify::Verified<exec::CompiledForm>& form,
                                                 const ir::Program& source) {
  if (form->source_exact != ir::ExactDigest(source)) {
    return Fail(Diag::NotAdmitted, "the form answers for another program");
  }
  FlatGuard guard = TRY(FlatGuard::Flatten(TRY(ir::ParseGuard(form->guard, source)), source));
  guard.AddLaunchTests(source);
  std::shared_ptr<const exec::NativeCode> code = TRY(exec::NativeCode::Map(form->image));
  return std::shared_ptr<const Solid>(new Solid(form, std::move(guard), std::move(code)));
}

}  // namespace frazil::dispatch
