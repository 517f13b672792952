// What a run gives: results and output, or a trap. A trap is a value, the same on every target.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "exec/value.h"
#include "ir/op.h"
#include "ir/program.h"

namespace frazil::exec {

class Choices;

// A memory that a WASM module may export for whoever judges it.
constexpr std::string_view MarksName = "frazil.marks";

struct TrapInfo {
  ir::Trap kind;
  ir::Op op;           // the op that trapped
  int64_t index = -1;  // the iteration of the outermost `parallel` around it, -1 outside of one
  // Of kind Fuel: fuel was left, but the time limit of so many milliseconds had passed.
  std::optional<uint64_t> timeout_ms = {};

  std::string_view KindName() const;  // ir::TrapName, or "time-out"
  // "division by zero in div.trunc (parallel iteration 7)", "time-out after 50 ms in while".
  std::string ToString() const;
  friend bool operator==(const TrapInfo&, const TrapInfo&) = default;
};

struct Outcome {
  std::optional<TrapInfo> trap;
  Location trap_at;  // of the op that trapped, in the source; line 0: the target does not say
  std::vector<Value> results;  // empty after a trap
  std::vector<Value> output;   // the output stream, up to the trap
};

// What a run may read besides its arguments, and how far it may go.
struct RunContext {
  std::vector<Value> input;                 // the input stream, in order
  std::vector<Value> hints;                 // the hint stream, in order
  Limits limits;                            // fuel, depth, memory_bytes, run_ms
  const std::atomic<bool>* stop = nullptr;  // polled by `while` back-edges: set = fuel trap
  Choices* choices = nullptr;               // the interpreter notes in it what it chose
  // Of a module that exports such a memory: zeros before the run, and copied to here after it. There memory is as small as
  // it may be, so that what makes it larger runs too.
  std::span<std::byte> marks = {};
  bool squeezes_heap =
      true;  // there: scratch has no room before the output, or only the output has none
  // The interpreter runs the iterations of a `parallel` in blocks from so many on: with fewer it costs more to set a block
  // up than to do without. It means the same, which tests see by this.
  uint64_t fewest_in_blocks = 8;

  bool IsStopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
  // The trap of a run that is ended from outside: by the flag, or else because its time is over.
  TrapInfo Ended(ir::Op op, int64_t index) const;
};

}  // namespace frazil::exec
