// The canonicalizer: rules that make a term lighter, applied wherever they match, until none does.
//
// Termination. Every op has a positive weight, a hole or constant the weight 1. A rule is used only if its result is
// lighter than its pattern and names no hole more often: then, whatever the holes stand for, the new term as a tree is
// lighter than the old one (the first half of a Knuth-Bendix order). So each step makes the sum of the weights of the
// terms that the program needs smaller, and that is a natural number. Sharing, folding and removing dead code never
// make it larger. A program without a match is its own canonical form.
#pragma once

#include <cstdint>

#include "optimize/egraph/rule_set.h"
#include "optimize/proof.h"
#include "optimize/unit.h"

namespace frazil::optimize {

// One walk; each match is replaced once. `proof` gets the rule instances; it may be null.
Result<bool> Reduce(Unit& unit, Proof* proof, const RuleSet& rules);

// The weight of a pattern, and whether the rule is one of those above.
uint64_t WeightOf(const ir::Pattern& pattern);
bool MakesLighter(const DirectedRule& rule);
// Weights of the instructions of a program, each counted once: never grows in a walk.
uint64_t WeightOf(const ir::Program& program);

}  // namespace frazil::optimize
