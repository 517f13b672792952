// A program with its constants as parameters: what many programs of one shape have in common. Calling it
// with the constants that were taken out is calling the original.
#pragma once

#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::ir {

struct Generalized {
  Program program;  // the original's parameters, then one for each constant
  struct Constant {
    Type type;
    std::vector<uint64_t> words;
  };
  std::vector<Constant> constants;  // in the order of those parameters
};

// The constants of the entry function become parameters, in the order of the canonical form, so that
// programs with equal shape digests give equal generalized programs. A program with tensors keeps its index
// constants: they may size a tensor in a call.
Result<Generalized> Generalize(const Program& program);

}  // namespace frazil::ir
