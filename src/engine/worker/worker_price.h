// What a call costs: compiled forms and the interpreter on the same typical arguments, timed in turns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/fluid.h"
#include "exec/meaning/interpreter_program.h"
#include "exec/native/native_code.h"
#include "exec/value.h"
#include "ir/guard.h"
#include "ir/program.h"
#include "optimize/optimize.h"

namespace frazil::engine {

// Arguments as a call might bring them. `sample`: those of a real call, if there was one. Else parameters that have
// been constant have their constant, the others small made-up values; buffers and dimensions are as long as an
// interpreted run of a fraction of a millisecond allows.
Result<std::vector<exec::Value>> TypicalArguments(const ir::Program& source,
                                                  const optimize::Observed& observed,
                                                  std::span<const exec::Value> sample);

// The size of a recent call (WorkRequest::recent_call), contents made up: for calls that are too large to be copied, and
// that other code suits than small ones. Nothing for a small call, or a program whose end may hang on contents.
std::optional<std::vector<exec::Value>> LargeArguments(
    const ir::Program& source, std::span<const std::vector<uint64_t>> recent_call);

struct Price {
  double min_ns = 0;
  double median_ns = 0;
};

class Pricer {
 public:
  static Result<Pricer> Make(const ir::Program& source, std::vector<exec::Value> arguments);
  // Against a verified form, which takes the interpreter's place in everything below.
  static Result<Pricer> MakeAgainst(std::shared_ptr<const exec::NativeCode> in_use,
                                    const ir::Program& source, std::vector<exec::Value> arguments);

  bool Applies(const ir::Guard& guard) const;
  bool traps() const { return outcome_.trap.has_value(); }  // the call that is priced
  // Runs the code once: empty, or how its answer differs from the interpreter's.
  Result<std::string> Wrong(const std::shared_ptr<const exec::NativeCode>& code) const;
  // One price for each form, and the interpreter's last. All are timed in every round.
  Result<std::vector<Price>> Compare(
      std::span<const std::shared_ptr<const exec::NativeCode>> forms) const;

 private:
  std::shared_ptr<const ir::Program> source_;
  std::shared_ptr<const exec::InterpreterProgram> interpreter_;
  std::shared_ptr<InterpreterFluid> fluid_;  // what a compiled form replaces, or
  std::shared_ptr<const exec::NativeCode> in_use_;
  std::vector<exec::Value> arguments_;
  std::vector<exec::Value> arguments_after_;
  exec::Outcome outcome_;
};

}  // namespace frazil::engine
