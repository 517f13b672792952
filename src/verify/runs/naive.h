// A second checker, deliberately naive: it evaluates both programs at edge values, near the programs' own constants and at
// random, and never proves anything; it only disagrees. It shares no code with the judges of this folder: values, traps and
// memory are compared here once more, and the points come from exec/ and from a seed of both digests that no judge uses.
// In tests it sees everything that is called proved, exhaustive or algebraic (tests/judges/naive_listener.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/meaning/interpreter_program.h"
#include "exec/outcome.h"
#include "ir/guard.h"
#include "ir/program.h"

namespace frazil::verify {

struct NaivePoint {
  std::vector<exec::Value> arguments;
  exec::RunContext context;
};

class NaiveChecker {
 public:
  // Fails where one of the two cannot be run at all.
  static Result<NaiveChecker> Create(const ir::Program& source, const ir::Program& candidate,
                                     const ir::Guard& guard = {});

  // The same number gives the same point.
  NaivePoint Point(uint64_t number) const;
  // One sentence if the two differ there; empty if they do not, or if that cannot be told: the guard does not hold, or a
  // run came to a limit. `told` says which.
  std::string DifferenceAt(const NaivePoint& point, bool* told = nullptr) const;
  // What the source gave where it was last asked; for who looks for points that are unlike others.
  const exec::Outcome& last() const { return last_; }
  // A word of the type: an edge, a constant of the programs or its neighbor, or any.
  std::vector<uint64_t> Word(ir::Type type, uint64_t seed) const;

 private:
  NaiveChecker(exec::InterpreterProgram source, exec::InterpreterProgram candidate)
      : source_(std::make_shared<exec::InterpreterProgram>(std::move(source))),
        candidate_(std::make_shared<exec::InterpreterProgram>(std::move(candidate))) {}
  void Fit(std::vector<exec::Value>& arguments, uint64_t seed) const;

  std::shared_ptr<const exec::InterpreterProgram> source_, candidate_;
  ir::Guard guard_;  // without what says nothing of values: the CPU and alignment
  std::vector<std::pair<ir::Type, std::vector<uint64_t>>> constants_;
  std::vector<bool> is_free_;  // scalar parameters that are no dimension
  uint64_t seed_ = 0;
  mutable exec::Outcome last_;
};

struct NaiveOptions {
  uint64_t points = 256;
  uint64_t milliseconds = 50;
};
struct NaiveAnswer {
  uint64_t told = 0;       // points at which the two were compared
  std::string difference;  // empty: it does not disagree
  NaivePoint point;        // where
};
// Whatever cannot be run is not disagreed with.
NaiveAnswer AskNaively(const ir::Program& source, const ir::Program& candidate,
                       const ir::Guard& guard = {}, const NaiveOptions& options = {});

}  // namespace frazil::verify
