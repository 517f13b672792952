// The gate, as everybody asks it who wants a form: hot sites, builds, audits. All forms of one candidate for one source, of
// whatever target, are judged by verify::Examine with as much effort as it takes, and let through by engine::Admit.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "engine/admit.h"
#include "ir/candidate.h"
#include "verify/verify.h"

namespace frazil::engine {

// The one ladder of effort (gate.cpp): each rung has more fuel, memory and time for a run than the one below. Hot sites enter
// it at the bottom, because an answer is wanted soon and made-up bounds that are too large are found out at once; builds
// where most inputs can be run.
constexpr size_t Rungs = 4;
constexpr size_t QuickRung = 0;
constexpr size_t BuildRung = 2;

struct GateOptions {
  Limits limits = {};  // smt_ms, verify_ms of meaning ...
  uint64_t exhaustive_cases = 1 << 16;
  size_t first_rung = BuildRung;
  uint64_t search_ms = 2'000;  // for code that no input has run
  double form_ms = 20'000;     // for one form, all rungs together
  // No judgment goes on after this.
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

struct Judged {
  std::optional<Admitted> admitted;
  std::string reason;      // one sentence, if it was not admitted
  bool has_unrun = false;  // because some code ran under no sample
  verify::Verdict verdict = verify::Unknown{"not judged"};
};

// What is asked of the judges of meaning.
verify::VerifyOptions MeaningOptions(const GateOptions& options);

class Gate {
 public:
  Gate(std::shared_ptr<const ir::Program> source, ir::Candidate candidate, verify::Policy policy,
       GateOptions options);
  // By the policy of the source's family.
  Gate(const ir::Program& source, ir::Candidate candidate, GateOptions options = {});

  const ir::Candidate& candidate() const { return candidate_; }
  const ir::Program& program() const { return *program_; }  // the candidate's
  const std::shared_ptr<const ir::Program>& shared_program() const { return program_; }
  const std::string& candidate_exact() const { return candidate_exact_; }
  const std::string& candidate_text() const { return candidate_text_; }
  const std::string& certificate() const { return certificate_; }
  const std::string& guard() const { return guard_; }
  bool is_source() const { return candidate_exact_ == source_exact_ && guard_ == "true"; }

  // Does the candidate mean what the source means, as the policy asks? Judged once, whatever follows; again only with more
  // effort, where there was too little.
  Judged Meaning();
  verify::Evidence meaning_evidence();  // none where it was not accepted

  // A form to be filled in: what it is for, and the candidate.
  exec::CompiledForm Form(std::string target) const;
  // Climbs the ladder until there is a verdict. `make_callable`: of native code that is not called as a whole program.
  Result<verify::Examined> Examine(exec::CompiledForm form,
                                   const verify::CallableMaker& make_callable = {});
  // Examines, then asks the admission rule. `in_use`: the form that answers now; null: there is none.
  Judged Admit(exec::CompiledForm form, const verify::CallableMaker& make_callable = {},
               const verify::Verified<exec::CompiledForm>* in_use = nullptr);

 private:
  std::shared_ptr<const ir::Program> source_;
  ir::Candidate candidate_;
  std::shared_ptr<const ir::Program> program_;
  std::string source_exact_, candidate_exact_, candidate_text_, certificate_, guard_;
  verify::Policy policy_;
  GateOptions options_;
  verify::MeaningNotes meaning_;
  // All code of the candidate is judged on the same inputs, by rung: what ends within one's limits may not within another's.
  std::array<verify::SampleNotes, Rungs> notes_;
};

}  // namespace frazil::engine
