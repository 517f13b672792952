// The algebraic reading of circuits: words over the gates I, X, Z, S and H, as generators spell them,
//
//   I = mark@c00   X = mark@c21   Z = mark@c42   S = mark@c07   H = copy@c05->c06 . mark@c21
//
// modulo six equations: H H = I, X X = I, Z Z = I, S S = Z, H X H = Z, I I = I, with I the unit. It is a reading of the
// text only. In memory mark@c00 is a real mark and copy@c05->c06 a real copy; what holds there too is that two marks of
// one slot cancel, and optimize/normalize/normalize.h does that by proved rules.
//
// The equations, completed to a terminating and confluent set of rules (gates.cpp lists it; a test computes its
// critical pairs): two words are equal if and only if their normal forms are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "frontends/circuits/circuits.h"

namespace frazil::frontends::circuits {

// A word: letters of "XZSH"; the empty word is I.
using GateWord = std::string;

struct GateRule {
  std::string_view left, right;
};
std::span<const GateRule> GateRules();

// Letters I X Z S H; fails on others.
Result<GateWord> ReadGates(std::string_view letters);
// The normal form of a word.
GateWord NormalGates(std::string_view word);
bool SameGates(std::string_view a, std::string_view b);

// A sequence of calls as a word. Matching is exact: the class after transforms, no page, the copy's destination c06.
// Fails with NotACircuit at the first call that spells no gate.
Result<GateWord> GatesOf(std::span<const Call> calls);
// A word as calls in text; "mark@c00" for the empty one.
std::string PrintGates(std::string_view word);

// What a circuit's text spells, what that is equal to, and that as calls: "H X H = Z" and "mark@c42", a line each.
Result<std::string> DescribeGates(std::string_view text);

}  // namespace frazil::frontends::circuits
