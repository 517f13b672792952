// Two ways to answer the same call, run on the same input and compared bit for bit.
//
// A trap is compared by kind, op and iteration; after it, output and what memory must hold (exec/meaning/after_trap.h). A run
// that ends at a limit (fuel, depth, memory, time) says
// nothing about meaning: such an input is undecided, neither equal nor a difference. But a candidate that does not
// end, given many times as much, where its source does, is never Tested: the verdict is Unknown.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/deadline.h"
#include "exec/meaning/interpreter_program.h"
#include "exec/outcome.h"
#include "exec/target.h"
#include "verify/internal/inputs.h"
#include "verify/verdict.h"

namespace frazil::verify {

using Clock = Deadline::Clock;

using ir::IsLimit;
// The flag of the limit behind such a trap, as a user would raise it.
std::string_view LimitFlag(ir::Trap trap, bool timed_out = false);

using Runner =
    std::function<Result<exec::Outcome>(std::span<const exec::Value>, const exec::RunContext&)>;

struct Comparison {
  enum class Kind : uint8_t { Same, Different, Undecided };
  Kind kind = Kind::Same;
  std::string difference;     // Different: one sentence
  std::string limit;          // Undecided: which
  bool source_ended = false;  // Undecided: only the second ran into the limit
  exec::Outcome source;
  exec::Outcome candidate;
};

// A runner that keeps the prepared program.
Runner InterpreterRunner(std::shared_ptr<const exec::InterpreterProgram> program);

class Comparer {
 public:
  Comparer(std::shared_ptr<const exec::InterpreterProgram> source, Runner candidate,
           const Limits& limits, Runner run_source = {}, bool counts_fuel = false)
      : source_(std::move(source)),
        run_source_(run_source ? std::move(run_source) : InterpreterRunner(source_)),
        candidate_(std::move(candidate)),
        limits_(limits),
        counts_fuel_(counts_fuel) {}

  // Each on a fresh copy of the input; the second only if the first ended by itself. `left_ms` bounds each run.
  Comparison Compare(const Input& input, uint64_t left_ms) const;

 private:
  bool IsLimitReached(const exec::Outcome& outcome) const;
  std::string Difference(const Input& input, const Comparison& comparison,
                         const Input& source_after, const Input& candidate_after,
                         const exec::RunContext& context) const;

  std::shared_ptr<const exec::InterpreterProgram> source_;
  Runner run_source_;  // the same, or one that knows the answer already
  Runner candidate_;
  Limits limits_;
  bool counts_fuel_;  // both: to run out of it is a trap like others
};

// A simpler input on which the two still differ, tried for a while; then the refutation, run once more. Nothing if the
// difference does not show again.
std::optional<Refuted> MakeRefuted(const InputSpace& space, const Comparer& comparer,
                                   const Input& input, const Limits& limits, uint64_t left_ms);

// "4,352"
std::string Grouped(uint64_t number);
// "all 65,536 inputs"
std::string AllInputs(uint64_t number);

}  // namespace frazil::verify
