// One judge for the lowering to each target, by the target's name: does the payload of a form do what its candidate says?
// Native code is judged here (samples with coverage of the image); a judge that needs its target to load or to lift the
// bytes is registered by whoever registers the target.
#pragma once

#include <memory>
#include <string_view>

#include "verify/verify.h"

namespace frazil::verify {

class TargetJudge {
 public:
  virtual ~TargetJudge() = default;
  // Of forms that are not called as whole programs (CompiledForm::calling): none, unless it says so.
  virtual bool KnowsCalling(std::string_view calling) const { return calling.empty(); }
  // `program` is the form's candidate, `form` what it is and its bytes.
  virtual Result<Verdict> Judge(const ir::Program& program, const exec::CompiledForm& form,
                                const ir::Guard& guard, const VerifyOptions& options) const = 0;
};

// Replaces an earlier one of that name; not of "native", whose judge is this folder's own.
void RegisterJudge(std::string_view target, std::shared_ptr<const TargetJudge> judge);
// Whether forms of the target can be judged in this process.
bool HasJudge(std::string_view target);

// Bytes that are read back as a program: proved where that is the program (isa).
std::shared_ptr<const TargetJudge> LiftingJudge(std::shared_ptr<const exec::Target> target);
// WebAssembly modules: runs of a copy with marks, all blocks of which must have run.
std::shared_ptr<const TargetJudge> ModuleJudge(std::shared_ptr<const exec::Target> target);
// What another compiler or machine makes of the bytes cannot be read here: runs alone (c, cuda).
std::shared_ptr<const TargetJudge> RunsJudge(std::shared_ptr<const exec::Target> target);

// Asks the judge of the form's target. Unknown where there is none, or where the form is not called as a whole program
// and neither the judge nor `make_callable` says how.
Result<Verdict> VerifyForm(const ir::Program& program, const exec::CompiledForm& form,
                           const ir::Guard& guard, const VerifyOptions& options = {},
                           const CallableMaker& make_callable = {});

}  // namespace frazil::verify
