// What the optimizer proposes, with its certificate: the candidate, the source or the lines are changed, or a formula and
// the line that claims it together, which is what a forger would do.
#include <algorithm>

#include "ir/check/check.h"
#include "judges/attacks.h"
#include "judges/forge.h"
#include "optimize/loops/test_loops.h"
#include "optimize/optimize.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

void Judge(const ir::Program& source, const ir::Candidate& candidate, Choices& choices,
           Tally& tally) {
  CountVerdict(source, candidate, verify::CheckCertificate(source, candidate), choices, tally);
}

// The same constant, or the same op, in the candidate and in the certificate.
bool ForgeTogether(ir::Candidate& candidate, Choices& choices) {
  std::vector<ir::CertTerm>& terms = candidate.certificate.terms;
  if (terms.empty()) return false;
  const ir::CertTerm picked = choices.OneOf(terms);
  if (picked.kind == ir::CertTerm::Kind::Constant && picked.words.size() == 1) {
    const uint64_t before = picked.words[0];
    const uint64_t after =
        choices.Chance(80) ? before + (choices.Chance(50) ? 1 : UINT64_MAX) : choices.Below(64);
    for (ir::CertTerm& term : terms) {
      if (term.kind == picked.kind && term.type == picked.type && term.words == picked.words)
        term.words[0] = after;
    }
    for (ir::Function& function : candidate.program.functions) {
      for (const ir::Inst& inst : function.insts) {
        uint64_t& word = function.words[inst.attributes.begin];
        if (inst.op == ir::Op::Const && inst.type == picked.type && word == before) word = after;
      }
    }
  } else if (picked.kind == ir::CertTerm::Kind::Apply) {
    const ir::Op op = AnotherLike(picked.op, choices);
    if (op == picked.op) return false;
    for (ir::CertTerm& term : terms) {
      if (term.kind == picked.kind && term.op == picked.op && term.type == picked.type)
        term.op = op;
    }
    for (ir::Function& function : candidate.program.functions) {
      for (ir::Inst& inst : function.insts) {
        if (inst.op == picked.op && inst.type == picked.type) inst.op = op;
      }
    }
  } else {
    return false;
  }
  return ir::Check(candidate.program).has_value();
}

void AttackProposal(const ir::Program& source, Choices& choices, uint64_t mutants, Tally& tally) {
  Limits limits;
  limits.egraph_nodes = 1'500;
  limits.egraph_rounds = 5;
  limits.egraph_ms = 60'000;  // what is proposed must not depend on the clock
  const Result<ir::Candidate> proposed = optimize::Optimize(source, limits);
  if (!proposed) return;
  for (uint64_t i = 0; i < mutants; ++i) {
    ir::Program from = source;
    ir::Candidate candidate = *proposed;
    switch (choices.Below(5)) {
      case 0:
        if (!MutateProgram(candidate.program, choices)) continue;
        break;
      case 1:
        if (!MutateProgram(from, choices)) continue;
        break;
      case 2:
        if (!ForgeTogether(candidate, choices)) continue;
        break;
      case 3:
        MutateCertificate(candidate.certificate, choices);
        if (choices.Chance(50) && !MutateProgram(candidate.program, choices)) continue;
        break;
      default:
        if (!MutateProgram(candidate.program, choices)) continue;
        MutateCertificate(candidate.certificate, choices);
    }
    Judge(from, candidate, choices, tally);
  }
}

}  // namespace

void AttackCertificates(Choices& choices, uint64_t mutants, Tally& tally) {
  AttackProposal(DrawProgram(choices, 12, choices.Chance(10)), choices, mutants, tally);
}

void AttackInduction(Choices& choices, uint64_t mutants, Tally& tally) {
  const uint64_t seed = choices.Next();
  AttackProposal(choices.Chance(50) ? optimize::RandomLoop(seed) : optimize::RandomSum(seed),
                 choices, mutants, tally);
}

}  // namespace frazil::tests
