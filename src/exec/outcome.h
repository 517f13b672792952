// What a run gives: results and output, or a trap. A trap is a value, the same on every target.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "exec/value.h"
#include "ir/op.h"
#include "ir/program.h"

namespace frazil::exec {

struct TrapInfo {
  ir::Trap kind;
  ir::Op op;           // the op that trapped
  int64_t index = -1;  // the iteration of the outermost `parallel` around it, -1 outside of one

  std::string ToString() const;  // "division by zero in div.trunc (parallel iteration 7)"
  friend bool operator==(const TrapInfo&, const TrapInfo&) = default;
};

// Kind, op and iteration of the program's trap and of its lowered form's. Where tensor ops have become loops, those may
// name an op of their own.
bool SameTrapLowered(const ir::Program& program, const std::optional<TrapInfo>& a,
                     const std::optional<TrapInfo>& b);

struct Outcome {
  std::optional<TrapInfo> trap;
  std::vector<Value> results;  // empty after a trap
  std::vector<Value> output;   // the output stream, up to the trap
};

// What a run may read besides its arguments, and how far it may go.
struct RunContext {
  std::vector<Value> input;                 // the input stream, in order
  std::vector<Value> hints;                 // the hint stream, in order
  Limits limits;                            // fuel, depth, memory_bytes, run_ms
  const std::atomic<bool>* stop = nullptr;  // polled by `while` back-edges: set = fuel trap
};

}  // namespace frazil::exec
