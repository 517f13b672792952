// The test: every mutation still answers its witness wrongly and is not admitted by the judge; without a mutation every
// witness is answered rightly and every form is admitted.
#pragma once

#include <vector>

#include "list.h"
#include "trial.h"

namespace frazil::mutants {

struct CheckOptions {
  size_t processes = 2;
  size_t share = 0, shares = 1;  // forms number share, share + shares, ...
  int only = 0;                  // a single mutation
  bool table = false;            // by class
  std::string known;             // a file of what is known to go wrong (known.txt)
  std::string salt;              // other inputs
};

// The number of faults.
int Check(const std::vector<Mutation>& mutations, const Programs& programs,
          const CheckOptions& options);

}  // namespace frazil::mutants
