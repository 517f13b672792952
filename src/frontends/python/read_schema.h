// JSON to syntax tree. Reading resolves names and puts functions in place of their calls, so that no later pass knows
// scopes. Accepts version "1.0" as our tool writes it, the shapes of earlier tools (a string where an expression or a
// type could stand) and nothing else.
#pragma once

#include "base/limits.h"
#include "frontends/python/ast.h"
#include "frontends/python/json.h"

namespace frazil::frontends::python {

// `kernel` is the object with "name", "params" and "body".
void ReadKernel(const JsonTree& json, const JsonNode& kernel, const Limits& limits,
                KernelTree& tree, Errors& errors);

// The number that an expression of literals is, by Python's arithmetic; false if it is not one, or has no value.
bool FoldConstant(KernelTree& tree, Expr* expr);

}  // namespace frazil::frontends::python
