// The answer to "do these two programs mean the same?" Unknown is never success.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "exec/outcome.h"
#include "verify/evidence.h"

namespace frazil::verify {

struct Proved {
  Evidence evidence;  // grade exhaustive or proved
};
struct Tested {
  Evidence evidence;  // sampled or algebraic
};
// Inputs on which the two differ: run them and see.
struct Refuted {
  std::vector<exec::Value> arguments;  // fresh copies, as before the call
  exec::RunContext context;            // input and hints
  exec::Outcome source;
  exec::Outcome candidate;
  std::string difference;  // one sentence: "result 1: 7 against 8"
};
struct Unknown {
  std::string reason;
  bool has_unrun = false;  // of code: some of it ran under no sample
};

using Verdict = std::variant<Proved, Tested, Refuted, Unknown>;
std::string_view VerdictName(const Verdict& verdict);  // "proved", "tested", "refuted", "unknown"

}  // namespace frazil::verify
