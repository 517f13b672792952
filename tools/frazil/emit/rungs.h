// The ladder from text to target code: each rung gives what the next stage receives.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::cli {

struct RungOptions {
  std::string input;  // the file that the program is from, if it is from one
  std::string symbol = "main";
  std::string level;  // of native code
  bool metered = false;
  bool certificate = false;  // optimized: why it means the same, instead of the program
  Limits limits;
};

struct Rung {
  std::string_view name;
  bool is_binary;
  Result<std::string> (*emit)(const ir::Program& program, const RungOptions& options);
};

// The lower end of the ladder: code of a target, and what is next to it (rungs_code.cpp).
std::span<const Rung> CodeRungs();
std::vector<std::string> RungNames();
// Fails with the names that there are.
Result<const Rung*> FindRung(std::string_view name);

}  // namespace frazil::cli
