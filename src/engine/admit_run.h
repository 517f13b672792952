// The admission rule for a form that is run once: its outcome is an answer if and only if the form is admitted.
#pragma once

#include "engine/admit.h"
#include "verify/runs/one_run.h"

namespace frazil::engine {

// What a form gave that passed the rule, in the run that its judge saw. Only AdmitRun makes one.
class AdmittedRun {
 public:
  const Admitted& admitted() const { return admitted_; }
  const exec::Outcome& outcome() const { return outcome_; }

 private:
  friend std::expected<AdmittedRun, std::string> AdmitRun(const verify::JudgedRun& run,
                                                          const verify::Policy& policy);
  AdmittedRun(Admitted admitted, exec::Outcome outcome)
      : admitted_(std::move(admitted)), outcome_(std::move(outcome)) {}
  Admitted admitted_;
  exec::Outcome outcome_;
};

// It replaces nothing that is in use. Not admitted: one sentence that says why.
std::expected<AdmittedRun, std::string> AdmitRun(const verify::JudgedRun& run,
                                                 const verify::Policy& policy);

}  // namespace frazil::engine
