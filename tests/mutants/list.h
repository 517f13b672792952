// The lists of mutations as the test sees them: which there are, and their witnesses.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace frazil::mutants {

struct Mutation {
  int number = 0;
  std::string kind;  // the class
  std::string file;
  std::string old_text, new_text;
  std::string witness;  // empty: none is known
};

// Of all *.mutants files of a folder, by number.
Result<std::vector<Mutation>> ReadLists(const std::string& folder);

}  // namespace frazil::mutants
