// Assembly as it is given out.
#include "engine/admit.h"
#include "frazil/tri.h"
#include "frazil/tri/internal/gate.h"
#include "verify/tasm/judge.h"

namespace frazil::tri {

Result<Assembly> Assembly::Of(const engine::Admitted& admitted) {
  const verify::Verified<exec::CompiledForm>& form = admitted.form();
  if (form->target != "tasm")
    return Fail(Diag::NotAdmitted, "a form of target '" + form->target + "' is no assembly");
  // The judge has read it before.
  mt::Program program = TRY(mt::Parse(form->payload, TRY(ProfileNamed(form->profile))));
  return Assembly(std::move(program), form);
}

const exec::TableHeights& Assembly::cost() const {
  static const exec::TableHeights None;
  const auto* heights = std::get_if<exec::TableHeights>(&form_->cost);
  return heights == nullptr ? None : *heights;
}

verify::Verdict Assembly::lowering() const {
  const verify::Evidence& evidence = form_.evidence().lowering;
  if (verify::Worth(evidence.grade) >= verify::Worth(verify::Grade::Proved))
    return verify::Proved{evidence};
  return verify::Tested{evidence};
}

void RegisterAssemblyJudge() {
  static const bool is_done = [] {
    verify::RegisterJudge("tasm", verify::tasm::AssemblyJudge());
    return true;
  }();
  static_cast<void>(is_done);
}

}  // namespace frazil::tri
