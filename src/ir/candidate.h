// What a proposer proposes: another program for the same calls, when it may stand in, and why.
#pragma once

#include <string>

#include "ir/certificate.h"
#include "ir/guard.h"
#include "ir/program.h"

namespace frazil::ir {

struct Candidate {
  Program program;          // same parameters and results as its source
  Guard guard;              // empty: for all arguments
  Certificate certificate;  // may be empty: then the verifier is on its own
  std::string origin;       // who proposed it: "fold", "egraph", "closed-form", "specialize", ...
};

}  // namespace frazil::ir
