// The pipeline, top to bottom. Each pass leaves a checked program that gives the same outcome for all arguments,
// limits apart: a result may take less fuel, depth and scratch than its source, never more.
#include "optimize/optimize.h"

#include "optimize/closed_form.h"
#include "optimize/dead.h"
#include "optimize/motion.h"
#include "optimize/rewrite.h"
#include "optimize/simplify.h"
#include "optimize/unit.h"

namespace frazil::optimize {
namespace {

// Each round makes the program smaller or moves values outwards; in practice two are enough.
constexpr int MostRounds = 8;

Result<void> Clean(Unit& unit, Proof& proof) {
  for (int round = 0; round < MostRounds; ++round) {
    bool changed = TRY(Simplify(unit, &proof));
    changed |= TRY(MoveInvariants(unit));
    changed |= TRY(RemoveDead(unit));
    if (!changed) break;
  }
  return {};
}

}  // namespace

Result<ir::Candidate> Optimize(const ir::Program& source, const Limits& limits) {
  Unit unit = MakeUnit(source);
  Proof proof;
  TRY_VOID(Clean(unit, proof));
  // An inner loop first; then the one around it may be of the kind.
  while (TRY(CloseLoops(unit, &proof))) TRY_VOID(Clean(unit, proof));
  RewriteResult rewritten = TRY(Rewrite(unit, proof, RuleSet::Proved(), limits));
  if (rewritten.changed) TRY_VOID(Clean(unit, proof));

  ir::Candidate candidate;
  candidate.origin = rewritten.changed ? "egraph" : "passes";
  if (StaticCost(unit.program) <= StaticCost(source)) {
    candidate.program = std::move(unit.program);
    candidate.certificate = proof.Take();
  } else {
    candidate.program = source;
  }
  return candidate;
}

}  // namespace frazil::optimize
