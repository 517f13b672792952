// Witnesses without what they do not need: values that were set, addresses, shared memory, seeds.
#pragma once

#include <vector>

#include "list.h"
#include "trial.h"

namespace frazil::mutants {

// Prints a line as Search does for each mutation whose witness became simpler.
int Simplify(const std::vector<Mutation>& mutations, const Programs& programs, size_t processes);

}  // namespace frazil::mutants
