// The pipeline, top to bottom. Each pass leaves a checked program that gives the same outcome for all arguments,
// limits apart: a result may take less fuel, depth and scratch than its source, never more.
#include "optimize/pipeline.h"

#include "optimize/dead.h"
#include "optimize/motion.h"
#include "optimize/rewrite.h"
#include "optimize/simplify.h"

namespace frazil::optimize {
namespace {

// Each round makes the program smaller or moves values outwards; in practice two are enough.
constexpr int MostRounds = 8;

}  // namespace

Result<void> Clean(Unit& unit, const OptimizeOptions& options) {
  for (int round = 0; round < MostRounds; ++round) {
    bool changed = TRY(Simplify(unit));
    changed |= TRY(MoveInvariants(unit));
    changed |= TRY(RemoveDead(unit, options.keep_fuel));
    if (!changed) break;
  }
  return {};
}

Result<PipelineReport> RunPipeline(Unit& unit, Proof& proof, const Limits& limits, const OptimizeOptions& options) {
  PipelineReport report;
  TRY_VOID(Clean(unit, options));
  // An inner loop first; then the one around it may be of the kind.
  while (!options.keep_fuel && TRY(CloseLoops(unit, &proof, &report.closed))) TRY_VOID(Clean(unit, options));
  // Terms last: what they rest on is then as small as it gets.
  const RewriteResult rewritten = TRY(Rewrite(unit, proof, RuleSet::Proved(), limits));
  report.stop = rewritten.stop;
  report.rewritten = rewritten.changed;
  if (rewritten.changed) TRY_VOID(Clean(unit, options));
  return report;
}

}  // namespace frazil::optimize
