// Looks for witnesses: forms whose code a mutation changes, and inputs on which the changed code answers wrongly.
#pragma once

#include <string>
#include <vector>

#include "list.h"
#include "trial.h"

namespace frazil::mutants {

struct SearchOptions {
  size_t processes = 2;
  int first = 1, last = MostNumber;
  bool all = false;          // also of mutations that have a witness
  size_t inputs = 40;        // of each program
  size_t forms = 3;          // with a witness, of which one is wanted that the judge admits
  size_t most_forms = 400;   // that are tried
  double most_seconds = 12;  // for one mutation
  static constexpr int MostNumber = 1 << 30;
};

// Prints a line for each mutation: its number, what the judge says, the witness, and what is wrong.
int Search(const std::vector<Mutation>& mutations, const Programs& programs,
           const SearchOptions& options);

}  // namespace frazil::mutants
