// The pipeline, top to bottom. Each pass leaves a checked program that gives the same outcome for all arguments,
// limits apart: a result may take less fuel, depth and scratch than its source, never more.
//
// Calls stay calls: the checker of certificates pairs them one by one, a call takes fuel and depth that a copy would
// not, and native code gets its inlining where it is compiled. Loops are not unrolled either: with constant bounds they
// close or are vectorized by the target, and a longer body is longer to prove.
#include "optimize/pipeline.h"

#include "optimize/dead.h"
#include "optimize/egraph/rewrite.h"
#include "optimize/motion.h"
#include "optimize/reduce.h"
#include "optimize/simplify.h"

namespace frazil::optimize {
namespace {

// Each round makes the program lighter (optimize/reduce.h says why that ends) or moves values outwards, and there are
// only so many loops to leave; in practice two or three are enough. The bound is for programs of absurd depth.
constexpr int MostRounds = 100;

Result<void> Repeat(Unit& unit, Proof* proof, const OptimizeOptions& options) {
  for (int round = 0; round < MostRounds; ++round) {
    bool changed = TRY(Simplify(unit));
    if (proof != nullptr) changed |= TRY(Reduce(unit, proof, RuleSet::Proved()));
    changed |= TRY(MoveInvariants(unit));
    changed |= TRY(RemoveDead(unit, options.keep_fuel));
    if (!changed) break;
  }
  return {};
}

}  // namespace

Result<void> Clean(Unit& unit, Proof& proof, const OptimizeOptions& options) {
  return Repeat(unit, &proof, options);
}

Result<void> CleanAndClose(Unit& unit, Proof& proof, const OptimizeOptions& options,
                           std::vector<ClosedLoop>* closed) {
  // Formulas are stated in the source's own terms where they can be, hence before the rules. An inner loop comes first;
  // then the one around it may be of the kind.
  TRY_VOID(Repeat(unit, nullptr, options));
  while (!options.keep_fuel && TRY(CloseLoops(unit, &proof, closed)))
    TRY_VOID(Repeat(unit, nullptr, options));
  TRY_VOID(Clean(unit, proof, options));
  while (!options.keep_fuel && TRY(CloseLoops(unit, &proof, closed)))
    TRY_VOID(Clean(unit, proof, options));
  return {};
}

Result<PipelineReport> RunPipeline(Unit& unit, Proof& proof, const Limits& limits,
                                   const OptimizeOptions& options) {
  PipelineReport report;
  TRY_VOID(CleanAndClose(unit, proof, options, &report.closed));
  // Terms last: what they rest on is then as small as it gets.
  const RewriteResult rewritten = TRY(Rewrite(unit, proof, RuleSet::Proved(), limits));
  report.stop = rewritten.stop;
  report.rewritten = rewritten.changed;
  if (rewritten.changed) TRY_VOID(Clean(unit, proof, options));
  return report;
}

}  // namespace frazil::optimize
