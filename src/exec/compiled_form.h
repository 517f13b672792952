// A compiled form of a program, as it is proposed, judged, stored and called: what it answers for, when, the candidate
// program it was made from, and the code. The same for every target; only the payload's reader knows what is in it.
#pragma once

#include <string>

#include "exec/cost.h"

namespace frazil::exec {

struct CompiledForm {
  std::string source_exact;     // exact digest of the program that it answers for
  std::string guard;            // in text form; "true" if it always may be used
  std::string candidate;        // the program that was lowered, as text
  std::string candidate_exact;  // its digest
  // For whoever judges it again: the program that it answers for, as text, where that is not the candidate, and why both
  // mean the same. May be empty.
  std::string source;
  std::string certificate;
  std::string target;  // "native", "isa", "wasm", "c", "cuda", "tasm"
  std::string
      profile;  // what of the target it needs: a CPU level, an instruction profile, a PTX architecture
  // How it is called, where that is not as a whole program: "in pieces". Whoever calls it otherwise must refuse it.
  std::string calling;
  std::string symbol = "main";  // of modules and headers: the function that is called
  std::string toolchain;        // who made the payload (exec/native/native_toolchain.h)
  std::string payload;  // an image (exec/native/native_code.h), a module, assembly, a header
  Cost cost;
  friend bool operator==(const CompiledForm&, const CompiledForm&) = default;
};

}  // namespace frazil::exec
