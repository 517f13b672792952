// A rule as a program, for judges that run it: parameters are its holes.
#pragma once

#include "ir/program.h"
#include "ir/rules/rules.h"

namespace frazil::verify {

// main(holes) -> (left side, right side).
ir::Program SidesOf(const ir::Rule& rule, ir::Type type);
// main(holes) -> the expressions of the conditions: `left` of each that has one, `right` of each `equals`, in order.
ir::Program ConditionsOf(const ir::Rule& rule, ir::Type type);

// Whether the conditions hold: `values` are the results of ConditionsOf, `holes` the words of the holes.
bool ConditionsHold(const ir::Rule& rule, ir::Type type, std::span<const uint64_t> holes,
                    std::span<const uint64_t> values);

bool IsPayloadNan(uint64_t bits, ir::Scalar scalar);
// `power`, of an integer or a float.
bool IsPowerOfTwo(uint64_t bits, ir::Scalar scalar);

}  // namespace frazil::verify
