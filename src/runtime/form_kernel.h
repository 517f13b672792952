// A kernel as a form of a target. Nothing else than what the gate let through is loaded: a form is made (or was proposed with
// the program), examined by the judge of its target, admitted, and only then can be called.
#pragma once

#include <functional>
#include <memory>

#include "base/system/fork.h"
#include "engine/admit.h"
#include "exec/target.h"
#include "ir/program.h"
#include "runtime/loaded_kernel.h"
#include "store/store.h"

namespace frazil::runtime {

// Who makes an artifact where the target cannot do it here (Diag::MissingTool).
using EmitElsewhere = std::function<Result<exec::Artifact>(const ir::Program& program)>;

// The form of a program for a target. What runs judged on a machine (exec::Target::Machine) is looked for in the store
// under the digest of its bytes and that machine, and kept there; what is proved is proved again. Fails with NotAdmitted
// and the judge's sentence, or with the target's own reason.
Result<engine::Admitted> AdmitForm(const exec::Target& target, const Source& source,
                                   store::Store* store, const EmitElsewhere& emit_elsewhere);

class FormKernel final : public LoadedKernel {
 public:
  // What runs a launch that the target leaves to others (dependent iterations, sizes that it cannot number).
  using Instead = std::function<Result<void>(std::span<const exec::Value> arguments)>;
  static Result<std::shared_ptr<const FormKernel>> Load(const Source& source,
                                                        const engine::Admitted& admitted,
                                                        const exec::Target& target,
                                                        Instead instead);
  Result<void> Run(std::span<const exec::Value> arguments) const override;
  const verify::EvidencePair& evidence() const { return admitted_.form().evidence(); }

 protected:
  Result<void> RunWords(const uint64_t* words) const override;

 private:
  FormKernel(const Source& source, const engine::Admitted& admitted,
             std::unique_ptr<exec::Callable> callable, Instead instead);
  Result<void> Told(const std::optional<exec::TrapInfo>& trap) const;

  engine::Admitted admitted_;
  std::unique_ptr<exec::Callable> callable_;
  Instead instead_;
  bool is_concurrent_;
  mutable ForkMutex mutex_;  // of callables that are not
};

}  // namespace frazil::runtime
