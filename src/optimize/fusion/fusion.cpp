#include "optimize/fusion/fusion.h"

#include <algorithm>

#include "optimize/fusion/reshapes.h"
#include "optimize/fusion/write.h"
#include "optimize/optimize.h"
#include "optimize/pipeline.h"

namespace frazil::optimize {
namespace {

bool HasTensors(const ir::Program& program) {
  return std::ranges::any_of(program.functions,
                             [](const ir::Function& f) { return !f.shapes.empty(); });
}

}  // namespace

Result<bool> FuseTensors(Unit& unit) {
  const bool is_lifted = TRY(LiftReshapes(unit));
  return TRY(RunPass<FusionWriter>(unit)) || is_lifted;
}

Result<std::optional<ir::Candidate>> FusedCandidate(const ir::Program& source, const Limits&) {
  if (!HasTensors(source)) return std::nullopt;
  Unit unit = MakeUnit(source);
  // What is written about these steps is about another program than the source.
  Proof proof;
  TRY_VOID(Clean(unit, proof));
  if (!TRY(FuseTensors(unit))) return std::nullopt;
  Unit fused = MakeUnit(unit.program);
  TRY_VOID(Clean(fused, proof));
  ir::Candidate candidate;
  candidate.program = std::move(fused.program);
  candidate.origin = "fusion";
  if (StaticCost(candidate.program) >= StaticCost(source)) return std::nullopt;
  return candidate;
}

}  // namespace frazil::optimize
