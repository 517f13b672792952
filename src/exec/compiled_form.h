// A compiled form of a program, as it is proposed, judged, stored and called: what it answers for, when,
// the candidate program it was made from, and the code.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "exec/native_code.h"

namespace frazil::exec {

// What a call costs. Nanoseconds are noisy: engine/admit.h says when one cost is lower than another.
struct Cost {
  double ns_per_call = 0;   // on the inputs it was priced with
  double reference_ns = 0;  // of what it replaces, on the same inputs, in the same interleaved run
  uint64_t code_bytes = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
};

struct CompiledForm {
  std::string source_exact;     // exact digest of the program that it answers for
  std::string guard;            // in text form; "true" if it always may be used
  std::string candidate;        // the program that was lowered, as canonical text
  std::string candidate_exact;  // its digest
  // For whoever judges it again: the program that it answers for, as text, where that is not the candidate, and why both
  // mean the same. May be empty.
  std::string source;
  std::string certificate;
  std::string target;     // "native"
  std::string toolchain;  // who made the code (exec/native_toolchain.h)
  NativeImage image;
  Cost cost;
  friend bool operator==(const CompiledForm&, const CompiledForm&) = default;
};

}  // namespace frazil::exec
