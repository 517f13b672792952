// The checker's own matcher: is left = right an instance of a rule, modulo what is already known to be equal?
#pragma once

#include <optional>

#include "ir/rules/rules.h"
#include "verify/internal/terms.h"

namespace frazil::verify {

// Whether holes can be bound so that the rule's left side is a member of the class `left`, its right side one of
// the class `right`, its conditions hold, and the rule is proved for the type. Creates no terms.
bool IsInstance(const Terms& terms, const ir::Rule& rule, TermId left, TermId right);

// What the rule makes of the term `left` where it may be used there as above: a term that is equal to it. The first way to
// match is taken.
std::optional<TermId> RightSideOf(Terms& terms, const ir::Rule& rule, TermId left);

}  // namespace frazil::verify
