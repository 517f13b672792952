// What works on this machine, and what follows from what does not. Everything is tried, not looked up: a worker that is there
// but does not answer is missing.
#pragma once

#include <string>
#include <vector>

#include "base/limits.h"

namespace frazil::audit {

struct MachineFinding {
  std::string name;
  bool good = false;
  bool needed = true;        // nothing works well without it
  std::string text;          // what was found, or why not
  std::string without = {};  // where it is missing: what follows from it
  std::string remedy = {};   // and how to get it
};

// The CPU, every registered target, the worker, the store and its key, Z3, the prover, Python, the tools of the tests. What
// is named by a FRAZIL_ variable is needed, even if it could be done without.
std::vector<MachineFinding> InspectMachine(const Limits& limits);
// Nothing that is needed is missing.
bool Works(const std::vector<MachineFinding>& findings);

}  // namespace frazil::audit
