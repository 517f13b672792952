// Candidates from the pipeline, and the proposers that offer them.
#include "optimize/optimize.h"

#include <algorithm>
#include <mutex>

#include "optimize/fusion/fusion.h"
#include "optimize/normalize/normalize.h"
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
    return std::vector{TRY(Optimize(source, limits))};
  }
};

class SpecializeProposer : public Proposer {
 public:
  std::string_view name() const override { return "specialize"; }
  Result<std::vector<ir::Candidate>> Propose(const ir::Program& source, const Observed& observed,
                                             const Limits& limits) const override {
    std::vector<ir::Candidate> candidates;
    const auto is_empty = [](const std::vector<uint64_t>& words) { return words.empty(); };
    if (std::ranges::all_of(observed.constant_arguments, is_empty)) return candidates;
    ir::Candidate candidate = TRY(Specialize(source, observed, limits));
    // Without a guard it is what the pipeline proposes anyway.
    if (!candidate.guard.atoms.empty()) candidates.push_back(std::move(candidate));
    return candidates;
  }
};

// Passes over memory that are one, for the price of a guard: offered only where it saves some.
class NormalFormProposer : public Proposer {
 public:
  std::string_view name() const override { return "normal-form"; }
  Result<std::vector<ir::Candidate>> Propose(const ir::Program& source, const Observed&,
                                             const Limits& limits) const override {
    std::vector<ir::Candidate> candidates;
    Result<ir::Candidate> candidate = NormalCandidate(source, limits);
    // Most programs are of another kind.
    if (!candidate) return candidates;
    const Work before = WorkPerElement(source), after = WorkPerElement(candidate->program);
    if (after.bytes < before.bytes && after.passes <= before.passes)
      candidates.push_back(std::move(*candidate));
    return candidates;
  }
};

class FusionProposer : public Proposer {
 public:
  std::string_view name() const override { return "fusion"; }
  Result<std::vector<ir::Candidate>> Propose(const ir::Program& source, const Observed&,
                                             const Limits& limits) const override {
    std::vector<ir::Candidate> candidates;
    if (std::optional<ir::Candidate> candidate = TRY(FusedCandidate(source, limits)))
      candidates.push_back(std::move(*candidate));
    return candidates;
  }
};

struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<const Proposer>> proposers = {
      std::make_shared<const SpecializeProposer>(), std::make_shared<const PipelineProposer>(),
      std::make_shared<const NormalFormProposer>(), std::make_shared<const FusionProposer>()};
};

Registry& Registered() {
  static Registry registry;
  return registry;
}

}  // namespace

Result<ir::Candidate> Optimize(const ir::Program& source, const Limits& limits,
                               const OptimizeOptions& options) {
  Unit unit = MakeUnit(source);
  Proof proof;
  const PipelineReport report = TRY(RunPipeline(unit, proof, limits, options));
  ir::Candidate candidate;
  candidate.origin = OriginOf(report);
  if (StaticCost(unit.program) > StaticCost(source)) {
    candidate.program = source;
    return candidate;
  }
  candidate.program = std::move(unit.program);
  candidate.certificate = proof.Take();
  if (options.closed != nullptr) *options.closed = report.closed;
  return candidate;
}

std::vector<std::shared_ptr<const Proposer>> Proposers() {
  Registry& registry = Registered();
  std::lock_guard lock(registry.mutex);
  return registry.proposers;
}

void RegisterProposer(std::shared_ptr<const Proposer> proposer) {
  Registry& registry = Registered();
  std::lock_guard lock(registry.mutex);
  for (std::shared_ptr<const Proposer>& known : registry.proposers)
    if (known->name() == proposer->name()) return void(known = std::move(proposer));
  registry.proposers.push_back(std::move(proposer));
}

}  // namespace frazil::optimize
