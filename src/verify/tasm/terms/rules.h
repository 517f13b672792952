// Rewrites of assembly, as ir/rules/rules_tasm.def writes them, proved for all arguments: places and counts one by one,
// elements as symbols.
#pragma once

#include <string>
#include <string_view>

#include "verify/tasm/tasm.h"

namespace frazil::verify::tasm {

// Never Refuted: an instance that cannot be proved is Unknown, and named. An error if the text of the rule cannot be read.
Result<Verdict> ProveRule(std::string_view pattern, std::string_view replacement,
                          std::string_view conditions);

}  // namespace frazil::verify::tasm
