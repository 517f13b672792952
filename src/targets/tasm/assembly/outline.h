// Instructions that stand in several places, as a block that is called there.
#pragma once

#include <vector>

#include "machines/tasm/program.h"

namespace frazil::targets::tasm {

struct Repeated {
  std::vector<uint32_t> places;  // of the first instruction; they do not overlap
  uint32_t length = 0;           // instructions
  uint64_t saved = 0;            // words
};

// The sequences that save most words, at most so many, the best first.
std::vector<Repeated> FindRepeated(const machines::tasm::Program& program, size_t most);
machines::tasm::Program Outline(const machines::tasm::Program& program, const Repeated& repeated);

}  // namespace frazil::targets::tasm
