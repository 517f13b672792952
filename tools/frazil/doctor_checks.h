// What `frazil doctor` looks at. Everything is tried, not looked up: a worker that is there but does not answer is missing.
#pragma once

#include <string>
#include <vector>

#include "base/limits.h"

namespace frazil::cli {

struct Finding {
  std::string name;
  bool good = false;
  bool needed = true;        // its lack makes doctor fail
  std::string text;          // what was found, or why not
  std::string without = {};  // where it is missing: what follows from it
  std::string remedy = {};   // and how to get it
};

Finding CheckWorker(const Limits& limits);
std::vector<Finding> CheckStore();
Finding CheckZ3(const Limits& limits);
Finding CheckProver();
Finding CheckPython(const Limits& limits);

// What somebody names in the environment is needed, even if it could be done without.
bool Named(const char* variable);
std::string FindOnPath(const std::string& tool);  // empty: not there

}  // namespace frazil::cli
