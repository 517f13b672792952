// Rewrites of assembly, as ir/rules_tasm.def writes them, proved for all arguments: places and counts one by one,
// elements as symbols.
#pragma once

#include <string>
#include <string_view>

#include "verify/tasm/tasm.h"

namespace frazil::verify::tasm {

struct RuleAnswer {
  Answer::Kind kind = Answer::Kind::Unknown;
  uint64_t instances = 0;  // of places and counts for which it was proved
  std::string detail;      // else: the instance, and why
};

// An error if the text of the rule cannot be read.
Result<RuleAnswer> ProveRule(std::string_view pattern, std::string_view replacement,
                             std::string_view conditions);

}  // namespace frazil::verify::tasm
