// The rules of ir/rules/rules_tasm.def, applied inside basic blocks until none fits.
#pragma once

#include <span>
#include <string_view>

#include "machines/tasm/program.h"

namespace frazil::targets::tasm {

struct PeepholeRule {
  std::string_view name, pattern, replacement, conditions;
};
std::span<const PeepholeRule> PeepholeRules();

// How often a rule was applied. Places keep their instruction's: one that crashes stays where it was said.
uint64_t Peephole(machines::tasm::Program& program);

}  // namespace frazil::targets::tasm
