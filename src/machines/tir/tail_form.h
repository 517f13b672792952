// TIR without early returns: what lowering and reading as IR start from.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "machines/tir/tir.h"

namespace frazil::machines::tir {

struct TailFunction {
  std::string name;
  std::vector<Op> ops;
  Location location;
};

// Functions of a program that passed Check, the entry first, only those that are reached. Comments and proof blocks
// are gone; `return` is gone: a body that stood before one is in a tail position, where falling off the end returns. What
// follows an `if` of which both arms may go on, and one may return, becomes a function of its own.
// Conditions that ended in `push 0, eq` have their arms exchanged; common ends of two arms stand after them.
std::vector<TailFunction> ToTailForm(const Program& program);

// Whether the end of the body is reached. `stops` names functions that never return.
bool Falls(const std::vector<Op>& ops, const std::unordered_map<std::string, bool>& stops);

}  // namespace frazil::machines::tir
