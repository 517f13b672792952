// The door of optimize/: other programs for the same calls. Everything here proposes; nothing here is believed.
// A proposal carries a certificate where its maker can give one (ir/certificate.h).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "ir/candidate.h"
#include "ir/program.h"

namespace frazil::optimize {

// What was seen of a call site, as far as it helps to propose.
// A door may add what it knows under a name of its own, in bytes that its own proposer reads (shapes, paths, values).
struct Observed {
  // By parameter: the words that it has had in every observed call, or empty. Buffers: never.
  std::vector<std::vector<uint64_t>> constant_arguments;
  uint64_t calls = 0;
  std::map<std::string, std::string> more = {};
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;
  // Proposals, best first; none is an answer too.
  virtual Result<std::vector<ir::Candidate>> Propose(const ir::Program& source,
                                                     const Observed& observed,
                                                     const Limits& limits) const = 0;
};

// Who is asked, in the order of asking: those of this folder (specialize, optimize, normal-form, fusion), then those that were
// registered from above. Whoever registers one of a known name replaces it.
std::vector<std::shared_ptr<const Proposer>> Proposers();
void RegisterProposer(std::shared_ptr<const Proposer> proposer);

// A loop that has become a formula, for people.
struct ClosedLoop {
  std::string formula;  // "n(n+1)/2"
  double turns = 0;     // of the loop; 0: not known
};
struct OptimizeOptions {
  // Take exactly the source's fuel and depth (loops and calls stay). Otherwise a candidate may take less.
  bool keep_fuel = false;
  // Each loop of the source that the candidate has a formula for; may be null.
  std::vector<ClosedLoop>* closed = nullptr;
};
// The standard pipeline, one candidate for all arguments: canonical form, folding, rules (e-graph), sharing,
// dead code, loop-invariant motion, closed forms. Never worse by StaticCost than its source.
Result<ir::Candidate> Optimize(const ir::Program& source, const Limits& limits = {},
                               const OptimizeOptions& options = {});

// Under the guard that these parameters have these constants: constants put in, switches with a fixed selector
// reduced to their arm, then the pipeline.
Result<ir::Candidate> Specialize(const ir::Program& source, const Observed& observed,
                                 const Limits& limits = {});

// Ops weighted by what they cost on a machine, loops by their trip count where known: deterministic, for search.
double StaticCost(const ir::Program& program);

// Why the e-graph stopped.
enum class StopReason { Saturated, NodeLimit, IterationLimit, TimeLimit, NothingToDo, NoGain };
std::string_view StopReasonName(StopReason reason);

}  // namespace frazil::optimize
