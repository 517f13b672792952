// What memory holds after a trap (semantics: trap.stores). Everything before the trap has happened. Of the iterations
// after it, in each `parallel` around it, any stores may have: a target may have run some of them, or parts of them. So
// the elements that those iterations store may hold anything, and all others are specified.
#pragma once

#include <optional>
#include <span>

#include "exec/meaning/interpreter_program.h"

namespace frazil::exec {

struct ElementPlace {
  size_t argument;
  int64_t element;
};

// The first element of an argument that differs from `expected`, what the interpreter left behind, and is specified.
// `before` are the arguments as they were. Where memory is equal, as it nearly always is, nothing is run; else the program
// runs once more, on a copy, and goes on behind its trap to see what later iterations store. Where a limit ends that,
// every element counts as stored: right code is never called wrong.
std::optional<ElementPlace> WrongAfterTrap(const InterpreterProgram& program,
                                           std::span<const Value> before,
                                           std::span<const Value> expected,
                                           std::span<const Value> found, const RunContext& context);

}  // namespace frazil::exec
