// The types of a call's results: the callee's, with its symbolic dimensions replaced by the arguments.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::ir {

// Adds shapes to `caller`. A symbol's argument must be an index parameter of the caller or an index
// constant; anything else is an error without a location.
Result<std::vector<Type>> CallResultTypes(const Function& callee, Function& caller,
                                          std::span<const ValueId> arguments);

// One type of the callee's signature as the caller sees it.
Result<Shape> CallShape(const Function& callee, const Function& caller,
                        std::span<const ValueId> arguments, Type tensor);

}  // namespace frazil::ir
