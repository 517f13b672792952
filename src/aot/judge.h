// The gate as builds ask it: every form of one kernel, of whatever target, is judged by verify::Examine and admitted by
// engine::Admit, in a build as in an audit, so that the answers can be compared.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/admit.h"
#include "ir/candidate.h"
#include "verify/verify.h"

namespace frazil::aot {

struct Judged {
  std::optional<engine::Admitted> admitted;
  std::string reason;      // one sentence, if it was not admitted
  bool has_unrun = false;  // because some code ran under no sample
  verify::Verdict verdict = verify::Unknown{"not judged"};
};

// What is asked of the judges of meaning.
verify::VerifyOptions MeaningOptions(const Limits& limits);

// All forms of one candidate for one source.
class FormJudge {
 public:
  FormJudge(const ir::Program& source, ir::Candidate candidate, const Limits& limits);

  const ir::Program& program() const { return *program_; }  // the candidate's
  const std::shared_ptr<const ir::Program>& shared_program() const { return program_; }
  const std::string& candidate_text() const { return candidate_text_; }
  const std::string& certificate() const { return certificate_; }

  // Does the candidate mean what the source means, by the policy of the source? Asked once, whatever follows.
  Judged Meaning();
  verify::Evidence meaning_evidence();  // none where it was not accepted

  // A form to be filled in: what it is for, and the candidate.
  exec::CompiledForm Form(std::string target) const;
  // `make_callable`: of native code that is not called as a whole program.
  Judged Admit(exec::CompiledForm form, const verify::CallableMaker& make_callable = {});

 private:
  const ir::Program source_;
  ir::Candidate candidate_;
  std::shared_ptr<const ir::Program> program_;
  std::string source_exact_, candidate_exact_, candidate_text_, certificate_;
  Limits limits_;
  verify::Policy policy_;
  verify::MeaningNotes meaning_;
  verify::SampleNotes notes_;  // all code of the candidate is judged on the same inputs
};

}  // namespace frazil::aot
