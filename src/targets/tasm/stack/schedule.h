// From words to stack code. The symbolic stack is known at every step; each step is checked when it is written down.
#pragma once

#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

using EmittedSite = TrapSite;

struct Scheduled {
  tir::Program tir;
  std::vector<EmittedSite> sites;  // found by the locations of ops (lower_parts.h)
  bool spills = false;             // some words lie in RAM
};

struct ScheduleOptions {
  uint32_t beam = 12;  // states that the search keeps
};

Result<Scheduled> Schedule(WordProgram& program, const ScheduleOptions& options = {});

}  // namespace frazil::targets::tasm
