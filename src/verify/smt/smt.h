// Proofs by SMT: Z3 bit-vectors and floats, opened at run time. Registered from above; the core of verify/ knows
// only the Prover interface.
#pragma once

#include "ir/rules/rules.h"
#include "verify/rules/rule_proof.h"
#include "verify/verify.h"

namespace frazil::verify::smt {

// Makes Z3 the prover of verify::Verify. Z3 itself runs in a child process of each query, which ends at its
// time-out whatever it does; a missing library is Unknown with the reason.
void RegisterZ3();
// The prover itself; `library` names another file than the usual one.
std::shared_ptr<const Prover> MakeZ3Prover(std::string library = "");

// One rule for one type, in this process. Conditions included; `ms` for each query.
RuleProof ProveRule(const ir::Rule& rule, ir::Scalar type, unsigned ms);

}  // namespace frazil::verify::smt
