// The admission rule, the one place where it stands, without exceptions:
//
//   admit(candidate)  if and only if  evidence >= policy.minimum  and  cost < cost(what is in use)
//
// For every target. Evidence is checked by verify/ before a Verified form exists; it is checked again here, because the
// rule is read here. Costs are compared with their like (exec/cost.h): nanoseconds are noisy and count as lower only by a
// paired comparison, both forms timed in one interleaved run, and by a stated margin; heights and bytes are exact.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "verify/verify.h"

namespace frazil::engine {

// A candidate must be at least 5 % cheaper. Paired medians of a quiet machine differ by 1-2 % between runs
// (measured on this project's benchmarks), so less is noise.
constexpr double AdmissionMargin = 0.05;

// A form that passed the rule. Only Admit makes one, and whoever puts a form into a slot must show it.
class Admitted {
 public:
  const verify::Verified<exec::CompiledForm>& form() const { return form_; }
  const std::string& reason() const { return reason_; }  // one sentence

 private:
  friend std::expected<Admitted, std::string> AdmitBelow(
      const verify::Verified<exec::CompiledForm>& candidate, const exec::Cost* cost,
      const verify::Policy& policy);
  Admitted(const verify::Verified<exec::CompiledForm>& form, std::string reason)
      : form_(form), reason_(std::move(reason)) {}
  verify::Verified<exec::CompiledForm> form_;
  std::string reason_;
};

// `in_use`: the form that answers now; null: there is none. What is called then replaces the interpreter, whose time on
// the same inputs the candidate's own cost holds; what is shipped replaces nothing. Two called forms are compared by their
// share of the interpreter's time, which both were paired with. Not admitted: one sentence that says why.
std::expected<Admitted, std::string> Admit(const verify::Verified<exec::CompiledForm>& candidate,
                                           const verify::Verified<exec::CompiledForm>* in_use,
                                           const verify::Policy& policy);
// The same where nothing is in use yet, and what the candidate has to beat is another way to lower the program: nobody
// judges a form that would not be used, so there is only its cost. Null: there is no other way.
std::expected<Admitted, std::string> AdmitBelow(
    const verify::Verified<exec::CompiledForm>& candidate, const exec::Cost* cost,
    const verify::Policy& policy);

}  // namespace frazil::engine
