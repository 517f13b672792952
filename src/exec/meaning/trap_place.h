// Where in its source a run stopped, as far as that can be told. The interpreter says it; compiled code names the op
// only, so that each instruction of that op may be the place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/outcome.h"
#include "ir/program.h"

namespace frazil::exec {

struct TrapPlace {
  std::vector<uint32_t> lines;  // ascending; one: there; more: at one of them
  std::string buffer;           // the name of what was accessed, where all of them access the same
};

// Of a run that trapped; `source` is the program as it was written.
TrapPlace FindTrapPlace(const ir::Program& source, const Outcome& outcome);

}  // namespace frazil::exec
