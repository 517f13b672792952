// The pipeline, top to bottom. Each pass leaves a checked program that gives the same outcome for all arguments,
// limits apart: a result may take less fuel, depth and scratch than its source, never more.
#include "optimize/optimize.h"

#include "optimize/dead.h"
#include "optimize/motion.h"
#include "optimize/simplify.h"
#include "optimize/unit.h"

namespace frazil::optimize {
namespace {

// Each round makes the program smaller or moves values outwards; in practice two are enough.
constexpr int MostRounds = 8;

Result<void> Clean(Unit& unit) {
  for (int round = 0; round < MostRounds; ++round) {
    bool changed = TRY(Simplify(unit));
    changed |= TRY(MoveInvariants(unit));
    changed |= TRY(RemoveDead(unit));
    if (!changed) break;
  }
  return {};
}

}  // namespace

Result<ir::Candidate> Optimize(const ir::Program& source, const Limits&) {
  Unit unit = MakeUnit(source);
  TRY_VOID(Clean(unit));
  ir::Candidate candidate;
  candidate.origin = "passes";
  const bool better = StaticCost(unit.program) <= StaticCost(source);
  candidate.program = better ? std::move(unit.program) : source;
  return candidate;
}

}  // namespace frazil::optimize
