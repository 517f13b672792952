// Do two Triton VM programs mean the same? Symbolic execution to a normal form; shares no code with the lowering.
//
// Observable: output and its order, public input and secrets and digests consumed and their order, the final stack of a
// fragment with RAM and sponge (of a whole program: nothing, it ends in halt), and whether it crashes. A program that
// crashes or does not end claims nothing, so what it wrote before and why it crashed are not held against each other.
// The IR does not say what an access to `ram` at an address of 2^32 or more does, nor one whose address less an added constant
// is: it may be made or crash, and nothing is asked of a program from there on; constant addresses are always accessed.
// Initial RAM is the prover's: symbolic. A fragment starts on a stack that is deep enough for the source.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "ir/program.h"
#include "machines/tasm/vm.h"
#include "machines/tir/tir.h"
#include "verify/evidence.h"

namespace frazil::verify::tasm {

namespace mt = machines::tasm;
namespace tir = machines::tir;

struct Options {
  // A fragment starts on any stack and ends by falling off its end; a program starts as the machine does.
  bool fragments = false;
  bool deep_stack =
      false;  // of fragments: the stack is deep enough for both, not for the source alone
  uint64_t steps = 1'000'000;  // of symbolic execution, in all
  uint64_t samples = 64;       // runs that look for a counterexample first, and after an Unknown
  uint64_t milliseconds = 10'000;
};

// Inputs on which the two differ: run both on machines::tasm and see.
struct Counterexample {
  mt::Inputs inputs;
  std::vector<uint64_t> stack;                     // of a fragment: the initial stack, top last
  std::optional<std::array<uint64_t, 16>> sponge;  // of a fragment; absent: not initialized
  std::string
      difference;  // "output 1: 7 against 8", "the candidate crashes: division by zero at ..."
};

struct Answer {
  enum class Kind { Proved, Algebraic, Refuted, Unknown } kind = Kind::Unknown;
  Evidence evidence;  // of Proved and Algebraic; its error bound for the latter
  std::optional<Counterexample> counterexample;
  std::string reason;  // of Unknown, and a remark otherwise
};

std::string_view AnswerName(Answer::Kind kind);  // "proved", "algebraic", "refuted", "unknown"

// Sees every answer of Compare after it is made, with a way to run both on inputs of its own; what it is told is how they
// differ there. For tests, as verify::RegisterObserver.
using Runs = std::function<std::optional<std::string>(const Counterexample& inputs)>;
using Observer = std::function<void(const Answer& answer, const Runs& runs)>;
Observer RegisterObserver(Observer observer);

Answer Compare(const mt::Program& source, const mt::Program& candidate,
               const Options& options = {});
Answer Compare(const tir::Program& source, const mt::Program& candidate,
               const Options& options = {});
Answer Compare(const ir::Program& source, const tir::Program& candidate,
               const Options& options = {});
// The same with the convention of targets/tasm for parameters and results.
Answer Compare(const ir::Program& source, const mt::Program& candidate,
               const Options& options = {});

// Does the counterexample hold? Runs both.
bool Replays(const mt::Program& source, const mt::Program& candidate,
             const Counterexample& counterexample, bool fragments);

}  // namespace frazil::verify::tasm
