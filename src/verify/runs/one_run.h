// The judge of a single run: a program without parameters and streams has one outcome, so that one run is all there is to
// compare. It is the judge of such forms for every target, and the run that it sees is the only one: what it vouches for is
// handed out with the form, and need not be computed again.
#pragma once

#include "exec/target.h"
#include "verify/verify.h"

namespace frazil::verify {

// Proved (exhaustive, by the interpreter), Refuted, or Unknown where the interpreter would need more than `limits`.
Verdict JudgeRun(const ir::Program& program, const exec::Outcome& outcome, const Limits& limits);

struct ExaminedRun;

// A verified form of a program without parameters, with the outcome that it gave under the judge's eyes. Only ExamineRun
// makes one.
class JudgedRun {
 public:
  const Verified<exec::CompiledForm>& form() const { return form_; }
  const exec::Outcome& outcome() const { return outcome_; }

 private:
  friend Result<ExaminedRun> ExamineRun(const ir::Program& source, const ir::Candidate& candidate,
                                        exec::CompiledForm form, const exec::Target& target,
                                        const Policy& policy, const VerifyOptions& options,
                                        const ir::Candidate* shorter);
  JudgedRun(Verified<exec::CompiledForm> form, exec::Outcome outcome)
      : form_(std::move(form)), outcome_(std::move(outcome)) {}
  Verified<exec::CompiledForm> form_;
  exec::Outcome outcome_;
};

struct ExaminedRun {
  std::optional<JudgedRun> run;  // absent: refused
  Verdict meaning = Unknown{"not judged"};
  Verdict lowering = Unknown{"not judged"};
  std::string refusal;                    // one sentence, if refused
  std::optional<exec::TrapInfo> stopped;  // refused because a limit ended the run
  double milliseconds = 0;                // to load the form and to run it
};
// Examine (verify.h) of such a form: `target` loads its bytes and runs them once, within the limits of a run; the
// interpreter does the same within verify_ms, or runs `shorter` if that is proved to mean what the candidate means. A form of
// target "interp" is the interpreter's own run. Where all that takes too long, bytes that can be read back are judged by
// that. An error is the target's: it cannot run it here.
Result<ExaminedRun> ExamineRun(const ir::Program& source, const ir::Candidate& candidate,
                               exec::CompiledForm form, const exec::Target& target,
                               const Policy& policy, const VerifyOptions& options = {},
                               const ir::Candidate* shorter = nullptr);

}  // namespace frazil::verify
