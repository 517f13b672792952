// A verdict as the commands show it: with its evidence, or with a command line on which the counterexample can be seen.
#pragma once

#include <string>

#include "cli.h"
#include "verify/verdict.h"

namespace frazil::cli {

struct Compared {
  std::string first, second;  // files
  const ir::Program* source =
      nullptr;             // of what `frazil run` takes; null: `frazil tri run` takes them
  bool fragments = false;  // of assembly: no command runs them
};
// Of any verdict: 0 proved or tested, 2 refuted, 3 unknown.
int ExitCodeOfVerdict(const verify::Verdict& verdict);
void PrintVerdict(const Session& session, const Compared& compared, const verify::Verdict& verdict,
                  double ms);
nlohmann::ordered_json VerdictJson(const Compared& compared, const verify::Verdict& verdict);

}  // namespace frazil::cli
