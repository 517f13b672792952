// Rules as the search uses them: directed, and only for the types they are proved for.
#pragma once

#include <vector>

#include "ir/rules/rules.h"

namespace frazil::optimize {

struct DirectedRule {
  const ir::Rule* rule = nullptr;
  bool reversed = false;  // from the rule's right side to its left
  ir::ScalarSet types = 0;
  bool grows = false;  // the result has more ops: tried with restraint

  const ir::Pattern& from() const { return reversed ? rule->right : rule->left; }
  const ir::Pattern& to() const { return reversed ? rule->left : rule->right; }
};

struct RuleSet {
  std::vector<DirectedRule> rules;  // those that shrink first

  // Every rule at the types for which a proof is recorded; made once.
  static const RuleSet& Proved();
  // Every rule at every type of its row, for tests of the search itself.
  static RuleSet Unproved();
};

}  // namespace frazil::optimize
