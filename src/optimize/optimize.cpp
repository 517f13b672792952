// Candidates from the pipeline, and the proposers that offer them.
#include "optimize/optimize.h"

#include "optimize/pipeline.h"

namespace frazil::optimize {
namespace {

std::string_view OriginOf(const PipelineReport& report) {
  if (!report.closed.empty()) return "closed-form";
  return report.rewritten ? "egraph" : "passes";
}

class PipelineProposer : public Proposer {
 public:
  std::string_view name() const override { return "optimize"; }
  Result<std::vector<ir::Candidate>> Propose(const ir::Program& source, const Observed&,
                                             const Limits& limits) const override {
    std::vector<ir::Candidate> candidates;
    ir::Candidate candidate = TRY(Optimize(source, limits));
    if (StaticCost(candidate.program) < StaticCost(source))
      candidates.push_back(std::move(candidate));
    return candidates;
  }
};

class SpecializeProposer : public Proposer {
 public:
  std::string_view name() const override { return "specialize"; }
  Result<std::vector<ir::Candidate>> Propose(const ir::Program& source, const Observed& observed,
                                             const Limits& limits) const override {
    std::vector<ir::Candidate> candidates;
    ir::Candidate candidate = TRY(Specialize(source, observed, limits));
    // Without a guard it is what the pipeline proposes anyway.
    if (!candidate.guard.atoms.empty()) candidates.push_back(std::move(candidate));
    return candidates;
  }
};

}  // namespace

Result<ir::Candidate> Optimize(const ir::Program& source, const Limits& limits,
                               const OptimizeOptions& options) {
  Unit unit = MakeUnit(source);
  Proof proof;
  const PipelineReport report = TRY(RunPipeline(unit, proof, limits, options));
  ir::Candidate candidate;
  candidate.origin = OriginOf(report);
  if (StaticCost(unit.program) <= StaticCost(source)) {
    candidate.program = std::move(unit.program);
    candidate.certificate = proof.Take();
  } else {
    candidate.program = source;
  }
  if (options.notes != nullptr)
    for (const ClosedLoop& loop : report.closed) options.notes->push_back(loop.formula);
  return candidate;
}

std::vector<std::unique_ptr<Proposer>> StandardProposers() {
  std::vector<std::unique_ptr<Proposer>> proposers;
  proposers.push_back(std::make_unique<SpecializeProposer>());
  proposers.push_back(std::make_unique<PipelineProposer>());
  return proposers;
}

}  // namespace frazil::optimize
