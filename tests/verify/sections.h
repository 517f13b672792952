// Data files of this folder: sections after lines "== name"; lines that start with # are comments.
#pragma once

#include <string>
#include <vector>

#include "exec/outcome.h"
#include "ir/guard.h"
#include "ir/program.h"
#include "verify/verdict.h"

namespace frazil::tests {

struct Section {
  std::string name;
  std::string text;
};
std::vector<Section> ReadSections(const std::string& path);

// Two programs with a line "--" between them, and before them lines "guard: ..." and "wrong: ...".
struct GuardedPair {
  ir::Program source;
  ir::Program candidate;
  std::vector<std::string> sound_guards;
  std::vector<std::string> wrong_guards;
};
GuardedPair ReadGuardedPair(const Section& section);

ir::Program MustParse(const std::string& name,
                      const std::string& text);  // fails the test if it does not parse

// Runs both programs on the counterexample's call, each on copies, and compares with code of its own. Empty if they
// differ, else what is wrong with the counterexample.
std::string Reproduce(const ir::Program& source, const ir::Program& candidate,
                      const ir::Guard& guard, const verify::ProgramCall& call);

}  // namespace frazil::tests
