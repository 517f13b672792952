// Do two Triton VM programs mean the same? Symbolic execution to a normal form; shares no code with the lowering.
//
// Observable: output and its order, public input and secrets and digests consumed and their order, the final stack of a
// fragment with RAM and sponge (of a whole program: nothing, it ends in halt), and whether it crashes. A program that
// crashes or does not end claims nothing, so what it wrote before and why it crashed are not held against each other.
// The IR does not say what an access to `ram` at an address of 2^32 or more does, nor one whose address less an added constant
// is: it may be made or crash, and nothing is asked of a program from there on; constant addresses are always accessed.
// Initial RAM is the prover's: symbolic. A fragment starts on a stack that is deep enough for the source.
#pragma once

#include "ir/program.h"
#include "machines/tasm/vm.h"
#include "machines/tir/tir.h"
#include "verify/verdict.h"

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

// Proved; Tested with an algebraic grade and its error bound; Refuted from a start of the machine; or Unknown.
Verdict Compare(const mt::Program& source, const mt::Program& candidate,
                const Options& options = {});
Verdict Compare(const tir::Program& source, const mt::Program& candidate,
                const Options& options = {});
Verdict Compare(const ir::Program& source, const tir::Program& candidate,
                const Options& options = {});
// The same with the convention of targets/tasm for parameters and results.
Verdict Compare(const ir::Program& source, const mt::Program& candidate,
                const Options& options = {});

// Do the two differ from there? Runs both.
bool Replays(const mt::Program& source, const mt::Program& candidate, const MachineStart& start,
             bool fragments);

}  // namespace frazil::verify::tasm
