// Source and candidate, made ready to be compared by whoever judges them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "exec/batch/batch.h"
#include "exec/meaning/interpreter_program.h"
#include "ir/guard.h"
#include "ir/program.h"
#include "verify/internal/compare.h"
#include "verify/internal/input_space.h"
#include "verify/verify.h"

namespace frazil::verify {

struct Pair {
  const ir::Program& source;
  const ir::Program& candidate;
  InputSpace space;
  std::string
      seed;  // hex; of both exact digests and the guard, so that no proposer can fit the samples
  std::shared_ptr<const exec::InterpreterProgram> prepared_source;
  std::shared_ptr<const exec::InterpreterProgram> prepared_candidate;

  // The interpreter on both.
  Comparer MakeComparer(const Limits& limits) const;
};

Result<Pair> MakePair(const ir::Program& source, const ir::Program& candidate,
                      const ir::Guard& guard);

// Fuel for one run among thousands: an input that takes more is left undecided.
constexpr uint64_t SampleFuel = 1 << 16;
constexpr uint64_t ExhaustiveFuel = 1 << 20;
Limits LimitsOfOneRun(const Limits& limits, uint64_t fuel, uint64_t left_ms);

// Both programs in the batch interpreter; nothing where one of them would run lane by lane there.
struct BatchPair {
  exec::BatchProgram source;
  exec::BatchProgram candidate;
  std::vector<ir::Type> params;
  std::vector<ir::Type> results;
};
std::optional<BatchPair> MakeBatchPair(const Pair& pair, const Limits& limits);

// Arrays of one block of lanes, reused from block to block; one for each thread.
class BatchBlock {
 public:
  BatchBlock(const BatchPair& pair, size_t most_lanes);
  std::byte* input(size_t param) { return inputs_[param].get(); }

  struct Report {
    std::optional<size_t> different;  // the first lane that differs
    uint64_t undecided = 0;
    std::optional<size_t> only_second;  // the first lane where only the candidate ended at a limit
    std::string_view limit;             // of the first undecided lane
    std::string failure;                // the batch could not be run
  };
  Report Run(size_t lanes);

 private:
  bool LaneDiffers(size_t lane) const;

  const BatchPair& pair_;
  std::vector<std::unique_ptr<std::byte[]>> inputs_;
  std::vector<std::unique_ptr<std::byte[]>> source_outputs_;
  std::vector<std::unique_ptr<std::byte[]>> candidate_outputs_;
  std::vector<uint8_t> source_traps_;
  std::vector<uint8_t> candidate_traps_;
  std::vector<uint8_t> source_ops_;  // of the traps; in batches nothing is inside a `parallel`
  std::vector<uint8_t> candidate_ops_;
};

// Judges. Each says Proved, Tested or Refuted, or Unknown with the reason why it has nothing to say.
Verdict SampleJudge(const Pair& pair, const VerifyOptions& options, const Deadline& deadline);
Verdict ExhaustiveJudge(const Pair& pair, const VerifyOptions& options, const Deadline& deadline);
Verdict AlgebraicJudge(const Pair& pair, const VerifyOptions& options, const Deadline& deadline);
// Equal normal forms of two straight-line programs, parameters that the guard fixes taken as constants: Proved or
// Unknown.
Verdict NormalFormJudge(const ir::Program& source, const ir::Program& candidate,
                        const ir::Guard& guard);

// The refutation for a difference that some judge found, run again by the interpreter; Unknown if it does not show.
Verdict RefutedOr(const Pair& pair, const Limits& limits, const Input& input, uint64_t left_ms,
                  std::string_view judge);

}  // namespace frazil::verify
