// Programs with one thing changed: what no generator thinks of.
#pragma once

#include "ir/program.h"

namespace frazil::tests {

// A program that ir::Check still accepts, a few random fields away from this one; or this one.
ir::Program Damaged(const ir::Program& program, uint64_t seed);

}  // namespace frazil::tests
